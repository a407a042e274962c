"""Runs a skill service of this project, or any other package, as a process: `python -m NAME`."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from tests.support.eventually import eventually

_ROOT = Path(__file__).parents[2]
_READY = re.compile(r"Ready: \S+ at (\S+) with ")
_LIMIT_SECONDS = 20.0


class BundledService:
    """One process; `stderr` is all that it has written so far."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._lines: list[str] = []
        self._reading = asyncio.create_task(self._read())

    @property
    def stderr(self) -> str:
        return "".join(self._lines)

    @property
    def address(self) -> str:
        found = _READY.search(self.stderr)
        assert found is not None, f"not ready: {self.stderr[-2_000:]}"
        return found[1]

    async def says(self, pattern: str) -> None:
        """Wait until a line of stderr matches."""
        wanted = re.compile(pattern)
        await eventually(
            lambda: self._process.returncode is not None or any(map(wanted.search, self._lines)), _LIMIT_SECONDS
        )

    async def stop(self) -> int:
        """Exit code after SIGTERM."""
        self._process.send_signal(signal.SIGTERM)
        code = await asyncio.wait_for(self._process.wait(), _LIMIT_SECONDS)
        await self._reading
        return code

    async def kill(self) -> None:
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()
        await asyncio.wait_for(self._process.wait(), _LIMIT_SECONDS)
        await self._reading

    async def _read(self) -> None:
        assert self._process.stderr is not None
        while line := await self._process.stderr.readline():
            self._lines.append(line.decode(errors="replace"))


@asynccontextmanager
async def bundled_service(
    module: str, *, options: Sequence[str] = (), folder: Path = _ROOT, **variables: str
) -> AsyncIterator[BundledService]:
    """A process that is ready; killed at the end of the block. It registers only where told to."""
    inherited = {n: v for n, v in os.environ.items() if not n.startswith(("SKILLMESH_", "CONSUL_", "OTEL_", "LOGS_"))}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *options,
        "-m",
        module,
        cwd=folder,
        env={**inherited, "SKILLMESH_REGISTER": "false", "SKILLMESH_DRAIN_SECONDS": "0", **variables},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    service = BundledService(process)
    try:
        await service.says(_READY.pattern)
        yield service
    finally:
        await service.kill()
