"""The core as a process of its own, serving MeshService."""

import logging
import os

from agent_core.app.running import until_interrupted
from agent_core.app.settings import CoreSettings
from agent_core.app.tracing import CORE_NAME, traced_process
from agent_core.app.wiring import discovery_settings, open_core
from agent_core.discovery.register import CoreEndpoint, CoreRegistration
from agent_core.domain.errors import ConfigError
from agent_core.domain.events import Event
from agent_core.transport.mesh_server import MeshServer, MeshServicer
from skillmesh import __version__

_log = logging.getLogger("skillmesh")
_LOOPBACK = ("127.", "::1", "localhost")


async def serve_core(settings: CoreSettings) -> None:
    """`skillmesh serve`: until SIGTERM or Ctrl-C; then leave Consul, finish the calls under way, stop."""
    _refuse_open_bind(settings)
    async with (
        traced_process(settings, read_back=False),
        open_core(settings, _tell, with_model=False) as core,
    ):
        server = MeshServer(MeshServicer(core.invoke, core.catalogue), max_message_bytes=settings.max_message_bytes)
        port = await server.start(settings.core_host, settings.core_port)
        core.transport.mesh_endpoint = f"{settings.core_host}:{port}"
        registration = CoreRegistration(
            discovery_settings(settings),
            CoreEndpoint(host=settings.core_host, port=port, version=__version__),
        )
        await registration.start()
        _log.info("%s serves on %s:%d (pid %d)", CORE_NAME, settings.core_host, port, os.getpid())
        try:
            await until_interrupted()
        finally:
            await registration.stop()
            await server.stop(settings.grace_seconds)


def _refuse_open_bind(settings: CoreSettings) -> None:
    """In plaintext and without identities this server is for this machine alone. Raises ConfigError."""
    if not settings.insecure and not settings.core_host.startswith(_LOOPBACK):
        raise ConfigError(
            f"SKILLMESH_CORE_HOST is {settings.core_host}, but MeshService has no TLS and no authentication, so it "
            "listens on loopback only. Set SKILLMESH_INSECURE=true where the network itself keeps strangers out."
        )


def _tell(event: Event) -> None:
    """What happens to the mesh goes to the log."""
    if not event.run_id:
        fields = event.to_dict()
        name = fields.pop("event")
        _log.info("%s %s", name, " ".join(f"{key}={value}" for key, value in fields.items() if value != ""))
