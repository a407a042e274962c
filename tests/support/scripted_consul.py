"""A Consul whose every answer a test writes: index, status, headers, body, silence."""

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

_MAX_HOLD_SECONDS = 300.0
SERVICES = "/v1/catalog/services"
CHECKS = "/v1/health/state/any"
SELF = "/v1/agent/self"
NODES = "/v1/catalog/nodes"


def health_of(service: str) -> str:
    return f"/v1/health/service/{service}"


@dataclass(frozen=True)
class Reply:
    """`index` None: no header. `text` in place of `body`: not JSON. `held`: no answer before this many seconds."""

    body: object = None
    index: int | str | None = 1
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    text: str | None = None
    held: float = 0.0

    def render(self) -> web.Response:
        headers = dict(self.headers)
        if self.index is not None:
            headers["X-Consul-Index"] = str(self.index)
        text = json.dumps(self.body) if self.text is None else self.text
        return web.Response(text=text, status=self.status, headers=headers, content_type="application/json")


@dataclass(frozen=True)
class Asked:
    """One request; `index` 0: it did not ask to wait."""

    method: str
    path: str
    index: int
    query: Mapping[str, str]
    token: str
    at: float
    body: object = None


class ScriptedConsul:
    """Answers each path with its replies in order; then a query that waits is held, and one that does not gets the
    last reply again. A path without replies: 404.
    """

    def __init__(self) -> None:
        self._replies: dict[str, list[Reply]] = defaultdict(list)
        self._news = asyncio.Condition()
        self.asked: list[Asked] = []
        self.holding = 0
        self.port = 0
        self._last = {SELF: Reply({}), NODES: Reply([{"Node": "n"}])}

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def script_now(self, path: str, *replies: Reply) -> None:
        """Before anybody waits."""
        self._replies[path].extend(replies)

    async def script(self, path: str, *replies: Reply) -> None:
        async with self._news:
            self._replies[path].extend(replies)
            self._news.notify_all()

    def queries(self, path: str) -> list[Asked]:
        return [asked for asked in self.asked if asked.path == path]

    async def answer(self, request: web.Request) -> web.Response:
        path = request.path
        index = int(request.query.get("index", "0"))
        body = await request.json() if request.can_read_body else None
        now = asyncio.get_running_loop().time()
        token = request.headers.get("X-Consul-Token", "")
        self.asked.append(Asked(request.method, path, index, dict(request.query), token, now, body))
        if not self._replies[path] and index:
            self.holding += 1
            try:
                async with asyncio.timeout(_wait_of(request.query.get("wait", "300s"))), self._news:
                    await self._news.wait_for(lambda: bool(self._replies[path]))
            except TimeoutError:
                pass
            finally:
                self.holding -= 1
        if self._replies[path]:
            self._last[path] = self._replies[path].pop(0)
        reply = self._last.get(path, Reply(status=404, text="not scripted"))
        await asyncio.sleep(reply.held)
        return reply.render()


@asynccontextmanager
async def scripted_consul() -> AsyncIterator[ScriptedConsul]:
    """Serving on a free loopback port."""
    consul = ScriptedConsul()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", consul.answer)
    # A client that leaves cancels its handler, so that `holding` tells of polls that are really open.
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        consul.port = runner.addresses[0][1]
        yield consul
    finally:
        await runner.cleanup()


class SilentServer:
    """Takes connections and never answers."""

    def __init__(self) -> None:
        self.open = 0
        self.port = 0

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        try:
            while await reader.read(4096):
                pass
        finally:
            self.open -= 1
            writer.close()


@asynccontextmanager
async def silent_server() -> AsyncIterator[SilentServer]:
    silent = SilentServer()
    server = await asyncio.start_server(silent.take, "127.0.0.1", 0)
    silent.port = server.sockets[0].getsockname()[1]
    try:
        yield silent
    finally:
        server.close()
        await server.wait_closed()


def entry(
    service: str, instance: str, port: int = 7000, *, checks: tuple[str, ...] = ("passing",), **service_part: object
) -> dict[str, object]:
    """One instance as `/v1/health/service/<name>` gives it; `service_part` overrides keys of its Service."""
    return {
        "Node": {"Node": "n", "Address": "127.0.0.1"},
        "Service": {"ID": instance, "Service": service, "Address": "127.0.0.1", "Port": port, **service_part},
        "Checks": [{"CheckID": f"c{i}", "Status": state, "Output": "ran"} for i, state in enumerate(checks)],
    }


def skill_services(*names: str) -> dict[str, list[str]]:
    """The list of services of a Consul where these bear the tag."""
    return {"consul": [], **{name: ["skillmesh"] for name in names}}


def _wait_of(text: str) -> float:
    unit = 0.001 if text.endswith("ms") else 1.0
    return min(float(text.removesuffix("ms").removesuffix("s")) * unit, _MAX_HOLD_SECONDS)
