"""Runs a set of processes: in the order of their needs, each kept alive, and all of them gone in the end."""

import asyncio
from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

from agent_core.dev.process_log import OnLine, ProcessLog
from agent_core.dev.process_spec import ProcessSpec, ProcessStatus
from agent_core.dev.supervised import FIRST_BACKOFF_SECONDS, OnStatus, Supervised
from agent_core.domain.errors import ConfigError

GRACE_SECONDS: Final = 10.0


def _no_line(_name: str, _line: str) -> None:
    pass


def _no_status(_status: ProcessStatus) -> None:
    pass


class Supervisor:
    """Use as an async context manager: entered once all are ready, left once all are gone.

    What becomes of a process meanwhile is told to `on_status`; each line of output to `on_line`. Logs go to
    `<name>.log` in `log_dir`.
    """

    def __init__(
        self,
        specs: Sequence[ProcessSpec],
        log_dir: Path,
        *,
        on_line: OnLine = _no_line,
        on_status: OnStatus = _no_status,
        grace: float = GRACE_SECONDS,
        first_backoff: float = FIRST_BACKOFF_SECONDS,
    ) -> None:
        """Raises ConfigError where the specs' names or needs make no order."""
        _levels(specs, {spec.name: spec.needs for spec in specs})
        self._levels = _levels(specs, {spec.name: (*spec.needs, *spec.ends_before) for spec in specs})
        self._grace = grace
        log_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._processes = {
            spec.name: Supervised(
                spec, ProcessLog(spec.name, log_dir / f"{spec.name}.log", on_line), on_status, first_backoff
            )
            for spec in specs
        }
        self._ready = {spec.name: asyncio.Event() for spec in specs}
        self._keepers: list[asyncio.Task[None]] = []

    @property
    def statuses(self) -> tuple[ProcessStatus, ...]:
        """In the order in which the specs were given."""
        return tuple(process.status for process in self._processes.values())

    async def __aenter__(self) -> "Supervisor":
        """Raises StartError; nothing runs then."""
        starts = [asyncio.create_task(self._start(process)) for process in self._processes.values()]
        try:
            for finished in asyncio.as_completed(starts):
                await finished
        except BaseException:
            for task in starts:
                task.cancel()
            await self._stop(starts)
            raise
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self._stop([])

    async def _start(self, process: Supervised) -> None:
        for name in process.spec.needs:
            await self._ready[name].wait()
        await process.start()
        self._keepers.append(asyncio.create_task(process.run()))
        self._ready[process.spec.name].set()

    async def _stop(self, starts: Sequence[asyncio.Task[None]]) -> None:
        """Whoever needs another goes before it. Cancelled in the middle, it kills what is left and goes on."""
        stopping = asyncio.create_task(self._stop_in_order(starts))
        try:
            await asyncio.shield(stopping)
        except asyncio.CancelledError:
            for process in self._processes.values():
                process.kill()
            await asyncio.wait((stopping,))
            raise

    async def _stop_in_order(self, starts: Sequence[asyncio.Task[None]]) -> None:
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*starts, *self._keepers, return_exceptions=True)
        for level in reversed(self._levels):
            await asyncio.gather(*(self._processes[name].stop(self._grace) for name in level))


def _levels(specs: Sequence[ProcessSpec], below: Mapping[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Names in levels, each above those that it stands on. Raises ConfigError."""
    names = [spec.name for spec in specs]
    if len(set(names)) < len(names):
        raise ConfigError(f"Each process needs a name of its own: {', '.join(names)}.")
    for name, others in below.items():
        for other in others:
            if other not in names:
                raise ConfigError(f"{name} needs {other}, which is not among the processes.")
    sorter = TopologicalSorter(below)
    try:
        sorter.prepare()
    except CycleError as error:
        raise ConfigError(f"The processes need one another in a circle: {' -> '.join(error.args[1])}.") from error
    levels = []
    while sorter.is_active():
        level = tuple(sorter.get_ready())
        levels.append(level)
        sorter.done(*level)
    return levels
