"""The whole mesh on this machine, with no infrastructure and no API key: `async with LocalMesh(...) as mesh`."""

import os
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from agent_core.dev.collector.server import Collector
from agent_core.dev.mesh_specs import BUNDLED_SERVICES, PLACEHOLDER_KEY, MeshSpecs
from agent_core.dev.model.sentences import MODEL as STAND_IN
from agent_core.dev.process_log import OnLine
from agent_core.dev.process_spec import ProcessState, ProcessStatus
from agent_core.dev.runtime_dir import make_runtime_directory
from agent_core.dev.state_file import RunningMesh, RunningProcess, StateFile, state_directory
from agent_core.dev.supervised import OnStatus
from agent_core.dev.supervisor import Supervisor
from agent_core.domain.errors import ConfigError
from skillmesh.otel import COLLECTOR_VARIABLE


def _no_line(_name: str, _line: str) -> None:
    pass


def _no_status(_status: ProcessStatus) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class MeshOptions:
    """What a local mesh is made of.

    `environ` is the user's environment; `extra` is added to every process's, and wins. `publish`: note the mesh where
    other terminals find it.
    """

    services: Sequence[str] = BUNDLED_SERVICES
    model: bool = True
    core: bool = False
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    extra: Mapping[str, str] = field(default_factory=dict)
    publish: bool = True
    on_line: OnLine = _no_line
    on_status: OnStatus = _no_status


class LocalMesh:
    """Entered once every process is ready; left once every process is gone.

    Raises ConfigError, StartError and OSError on entering; nothing runs then. A process that ends meanwhile is started
    again. `environ` is what a client's environment needs; `published` says whether other terminals find this mesh.
    """

    def __init__(self, options: MeshOptions | None = None) -> None:
        """Raises ConfigError where a service is not one of those bundled."""
        self._options = options or MeshOptions()
        unknown = [name for name in self._options.services if name not in BUNDLED_SERVICES]
        if unknown:
            raise ConfigError(f"There is no bundled service {unknown[0]}; there are: {', '.join(BUNDLED_SERVICES)}.")
        self.collector = Collector()
        self.environ: Mapping[str, str] = MappingProxyType({})
        self.log_dir = Path()
        self._supervisor: Supervisor | None = None
        self._state_file = StateFile(state_directory(self._options.environ))
        self._up = False
        self._stack = AsyncExitStack()
        self.published = False

    @property
    def processes(self) -> tuple[ProcessStatus, ...]:
        return self._supervisor.statuses if self._supervisor else ()

    async def __aenter__(self) -> "LocalMesh":
        try:
            await self._start()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self._stack.aclose()

    async def _start(self) -> None:
        options = self._options
        directory = state_directory(options.environ)
        self.log_dir = make_runtime_directory(directory)
        await self._stack.enter_async_context(self.collector)
        specs = MeshSpecs({**options.environ, **options.extra}, self.collector.url, self.log_dir)
        registry = await specs.registry()
        environ = {"CONSUL_HTTP_ADDR": registry.address, COLLECTOR_VARIABLE: self.collector.url}
        chosen = [registry.spec]
        if options.model:
            model = specs.model()
            chosen.append(model.spec)
            environ["OPENAI_BASE_URL"] = f"http://{model.address}/v1"
            environ["OPENAI_API_KEY"] = PLACEHOLDER_KEY
            environ["SKILLMESH_MODEL"] = STAND_IN
        chosen += [specs.service(name, registry.address) for name in options.services]
        if options.core:
            served = tuple(spec.name for spec in chosen if spec is not registry.spec)
            chosen.append(specs.core(environ, registry.address, served))
        self.environ = MappingProxyType(environ)
        self._supervisor = Supervisor(chosen, self.log_dir, on_line=options.on_line, on_status=self._heard)
        await self._stack.enter_async_context(self._supervisor)
        if options.publish:
            self._stack.callback(self._state_file.remove)
            self._up = True
            self._publish()

    def _heard(self, status: ProcessStatus) -> None:
        self._options.on_status(status)
        if self._up and status.state is ProcessState.RUNNING:
            self._publish()

    def _publish(self) -> None:
        """Where another mesh is noted already, this one stays unnoted: the first of two is the one that is found."""
        processes = tuple(RunningProcess(status.name, status.pid, str(status.log_path)) for status in self.processes)
        self.published = self._state_file.publish(
            RunningMesh(pid=os.getpid(), environ=dict(self.environ), log_dir=str(self.log_dir), processes=processes)
        )
