"""The gRPC server of one skill process: the skill service, health, reflection."""

import asyncio
from typing import Final

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from skill_services.sdk.address import PortError, check_free, join
from skillmesh.conventions import SKILL_SERVICE, server_options
from skillmesh.stubs import SkillServicer, add_skill_service

_HEALTH_NAMES: Final = ("", SKILL_SERVICE)
_HEALTH_SECONDS: Final = 0.5
_SERVING = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


class SkillServer:
    """Make it within the event loop; `bind`, `start`, `leave`, `stop`, in this order."""

    def __init__(self, max_message_bytes: int) -> None:
        self._server = grpc.aio.server(options=server_options(max_message_bytes))
        self._health = health.aio.HealthServicer()

    def bind(self, host: str, port: int) -> int:
        """Take the port without serving on it yet; returns it, also where 0 was asked for.

        Raises:
            PortError: with a sentence.
        """
        check_free(host, port)
        try:
            return self._server.add_insecure_port(join(host, port))
        except RuntimeError as error:
            raise PortError(
                f"Port {join(host, port)} cannot be opened: set SKILLMESH_HOST and SKILLMESH_PORT."
            ) from error

    async def start(self, servicer: SkillServicer) -> None:
        """Serve; health says SERVING only once calls are answered."""
        add_skill_service(self._server, servicer)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        reflection.enable_server_reflection((SKILL_SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME), self._server)
        for name in _HEALTH_NAMES:
            await self._health.set(name, _NOT_SERVING)
        await self._server.start()
        for name in _HEALTH_NAMES:
            await self._health.set(name, _SERVING)

    async def leave(self) -> None:
        """Health says NOT_SERVING from now on, calls are still answered."""
        # Setting waits for each watcher to take the news; one that does not read must hold up neither the other
        # name nor the end.
        telling = [asyncio.create_task(self._health.set(name, _NOT_SERVING)) for name in _HEALTH_NAMES]
        _, stuck = await asyncio.wait(telling, timeout=_HEALTH_SECONDS)
        for task in stuck:
            task.cancel()

    async def stop(self, grace: float) -> None:
        """Refuse connections, wait up to `grace` seconds for what is under way, then cancel it."""
        await self._server.stop(grace)
