"""A development registry in this process, on a free port, for a test."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agent_core.dev.registry.server import RegistryServer
from skillmesh.probe import serving


@asynccontextmanager
async def dev_registry() -> AsyncIterator[RegistryServer]:
    async with RegistryServer(serving) as server:
        yield server
