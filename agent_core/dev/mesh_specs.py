"""The processes of a mesh without infrastructure: what each is, needs, and is told by its environment."""

import asyncio
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agent_core.dev.consul_binary import consul_command, find_consul
from agent_core.dev.ports import free_ports
from agent_core.dev.process_spec import ProcessSpec
from agent_core.dev.readiness import when_answering, when_passing
from skillmesh.conventions import CONSUL_CORE_SERVICE
from skillmesh.otel import COLLECTOR_VARIABLE

BUNDLED_SERVICES: Final = ("calculator", "clock", "units", "logs", "system")
REGISTRY: Final = "registry"
MODEL: Final = "model"
CORE: Final = "core"
PLACEHOLDER_KEY: Final = "placeholder-for-stand-in"
_SAMPLE_SECONDS: Final = 15.0
_LOGS_VARIABLE: Final = "LOGS_DIRECTORY"
_CORE_PORT_VARIABLE: Final = "SKILLMESH_CORE_PORT"  # its fixed default would keep two meshes from running side by side

# What a user set for a mesh of their own, or for one process of it, is not for every process of this one.
_NOT_INHERITED: Final = frozenset(
    {
        "CONSUL_HTTP_ADDR",
        "CONSUL_HTTP_TOKEN",
        "CONSUL_HTTP_SSL",
        "CONSUL_HTTP_AUTH",
        "SKILLMESH_HOST",
        "SKILLMESH_PORT",
        "SKILLMESH_ADVERTISE",
        "SKILLMESH_INSTANCE_ID",
        "SKILLMESH_REGISTER",
        "SKILLMESH_PARENT_PID",
        COLLECTOR_VARIABLE,
    }
)
_MODEL_ONLY: Final = frozenset({"OPENAI_API_KEY", "OPENAI_BASE_URL", "SKILLMESH_MODEL"})


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A process and where it will listen, as host:port."""

    spec: ProcessSpec
    address: str


class MeshSpecs:
    """Makes the specs; `environ` is the user's environment, `collector_url` where every process sends its spans."""

    def __init__(self, environ: Mapping[str, str], collector_url: str, directory: Path) -> None:
        self._directory = directory
        self._user = environ
        kept = {name: value for name, value in environ.items() if name not in _NOT_INHERITED}
        self._base = {**kept, COLLECTOR_VARIABLE: collector_url, "PYTHONUNBUFFERED": "1"}

    async def registry(self) -> Endpoint:
        """Real Consul where there is a binary, else the development registry. Raises ConfigError."""
        binary = find_consul(self._user)
        http, server, gossip = free_ports(3)
        address = f"127.0.0.1:{http}"
        if binary is not None:
            argv = await consul_command(binary, (http, server, gossip))
        else:
            argv = _python("agent_core.dev.registry", "--port", str(http))
        url = f"http://{address}/v1"
        ready = when_answering(f"{url}/status/leader", f"{url}/catalog/nodes")
        return Endpoint(ProcessSpec(name=REGISTRY, argv=argv, env=self._without_model(), ready=ready), address)

    def model(self) -> Endpoint:
        """The stand-in model."""
        (port,) = free_ports(1)
        address = f"127.0.0.1:{port}"
        spec = ProcessSpec(
            name=MODEL,
            argv=_python("agent_core.dev.model", "--port", str(port)),
            env=self._without_model(),
            ready=when_answering(f"http://{address}/v1/models"),
        )
        return Endpoint(spec, address)

    def service(self, name: str, registry: str) -> ProcessSpec:
        """One bundled skill service, on a port of its own choice."""
        env = {**self._without_model(), "CONSUL_HTTP_ADDR": registry, "SKILLMESH_HOST": "127.0.0.1"}
        prepare = None
        if name == "logs" and not env.get(_LOGS_VARIABLE):
            samples = self._directory / "sample-logs"
            samples.mkdir(exist_ok=True)
            env[_LOGS_VARIABLE] = str(samples)

            async def prepare() -> None:
                await _write_samples(samples, env)

        return ProcessSpec(
            name=name,
            argv=_python(f"skill_services.{name}"),
            env=env,
            ready=when_passing(registry, name),
            needs=(REGISTRY,),
            prepare=prepare,
        )

    def core(self, client_environ: Mapping[str, str], registry: str, services: tuple[str, ...]) -> ProcessSpec:
        """The core, which serves MeshService; it ends before the services that it calls, and before its model."""
        return ProcessSpec(
            name=CORE,
            argv=_python("agent_core.app.cli", "serve"),
            env={_CORE_PORT_VARIABLE: "0", **self._base, **client_environ, "SKILLMESH_HOST": "127.0.0.1"},
            ready=when_passing(registry, CONSUL_CORE_SERVICE),
            needs=(REGISTRY,),
            ends_before=services,
        )

    def _without_model(self) -> dict[str, str]:
        """A skill process has no business with the model's key."""
        return {name: value for name, value in self._base.items() if name not in _MODEL_ONLY}


def _python(module: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", module, *arguments]


async def _write_samples(directory: Path, env: Mapping[str, str]) -> None:
    """Raises OSError or TimeoutError."""
    process = await asyncio.create_subprocess_exec(
        *_python("skill_services.logs.sample", str(directory)),
        env=env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(_SAMPLE_SECONDS):
            _, errors = await process.communicate()
    except BaseException:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        last = errors.decode(errors="replace").strip().rpartition("\n")[2]
        raise OSError(f"sample logs could not be written: {last[:500]}")
