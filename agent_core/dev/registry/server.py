"""The development registry as an HTTP server on one port."""

import asyncio
from typing import Final

from aiohttp import web

from agent_core.dev.loopback import LoopbackServer, refuse_foreign_names
from agent_core.dev.registry.checks import Probe
from agent_core.dev.registry.registry import Registry
from agent_core.dev.registry.replies import plain_errors
from agent_core.dev.registry.routes_agent import AgentRoutes
from agent_core.dev.registry.routes_catalog import CatalogRoutes
from agent_core.dev.registry.routes_kv import KeyRoutes, SessionRoutes

MAX_BODY_BYTES: Final = 1024 * 1024


class RegistryServer:
    """A registry that listens. Use as an async context manager; `port` is then what was bound."""

    def __init__(self, probe: Probe, *, host: str = "127.0.0.1", port: int = 0, any_name: bool = False) -> None:
        """`any_name`: answer requests for whatever host name, not only this machine's own."""
        self.registry = Registry(probe, host=host)
        self._host = host
        self._wanted_port = port
        self._timekeeper: asyncio.Task[None] | None = None
        middlewares = [plain_errors] if any_name else [refuse_foreign_names, plain_errors]
        app = web.Application(middlewares=middlewares, client_max_size=MAX_BODY_BYTES)
        for routes in (AgentRoutes, CatalogRoutes, KeyRoutes, SessionRoutes):
            app.add_routes(routes(self.registry).all())
        self._server = LoopbackServer(app)

    @property
    def port(self) -> int:
        return self._server.port

    async def __aenter__(self) -> "RegistryServer":
        await self._server.start(self._host, self._wanted_port)
        self.registry.listens_on(self._server.port)
        self._timekeeper = asyncio.create_task(self.registry.run())
        return self

    async def __aexit__(self, *_exc: object) -> None:
        if self._timekeeper is not None:
            self._timekeeper.cancel()
            await asyncio.gather(self._timekeeper, return_exceptions=True)
        await self.registry.stop()
        await self._server.stop()
