"""An HTTP server in Consul's place that answers as the test says, and keeps what it was asked."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from skill_services.sdk.settings import ConsulAddress

Answer = Callable[[web.Request], Awaitable[web.Response]]


@dataclass(slots=True)
class ConsulStandIn:
    port: int = 0
    paths: list[str] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    bodies: list[object] = field(default_factory=list)

    @property
    def address(self) -> ConsulAddress:
        return ConsulAddress("http", "127.0.0.1", self.port)


@asynccontextmanager
async def consul_stand_in(answer: Answer) -> AsyncIterator[ConsulStandIn]:
    consul = ConsulStandIn()

    async def handle(request: web.Request) -> web.StreamResponse:
        consul.paths.append(f"{request.method} {request.path}")
        consul.tokens.add(request.headers.get("X-Consul-Token", ""))
        if request.can_read_body:
            consul.bodies.append(json.loads(await request.text()))
        return await answer(request)

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(application, shutdown_timeout=0.1, handle_signals=False)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    consul.port = runner.addresses[0][1]
    try:
        yield consul
    finally:
        await runner.cleanup()


class StandInAgent:
    """The few answers of an agent that one registration needs; with `silent` set it answers nothing."""

    def __init__(self) -> None:
        self.services: dict[str, dict[str, object]] = {}
        self.reachable_at_registration = False
        self.reachable_at_deregistration = False
        self.silent = False

    async def answer(self, request: web.Request) -> web.Response:
        if self.silent:
            await asyncio.Event().wait()
        if request.path == "/v1/agent/service/register":
            asked = json.loads(await request.text())
            self.services[asked["id"]] = {
                "ID": asked["id"],
                "Service": asked["name"],
                "Address": asked["address"],
                "Port": asked["port"],
                "Meta": asked["meta"],
            }
            self.reachable_at_registration = await _accepts(asked["port"])
        elif request.path.startswith("/v1/agent/service/deregister/"):
            gone = self.services.pop(request.path.rpartition("/")[2])
            self.reachable_at_deregistration = await _accepts(gone["Port"])
        elif request.path == "/v1/agent/services":
            return web.json_response(self.services)
        elif request.path.startswith("/v1/health/service/"):
            nodes = [{"Service": {"ID": name}} for name in self.services]
            return web.json_response(nodes, headers={"X-Consul-Index": "1"})
        return web.Response()


async def _accepts(port: object) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", int(str(port)))
    except OSError:
        return False
    writer.close()
    return True
