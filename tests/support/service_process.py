"""Runs tests.support.demo_service as a process, and tells what it says on stderr."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import grpc

from skillmesh.stubs import SkillServiceStub
from tests.support.eventually import eventually

_ROOT = Path(__file__).parents[2]
_READY = re.compile(r"Ready: demo at (\S+) with echo, nap, block, freeze, flagged\.")
_LIMIT_SECONDS = 20.0


class ServiceProcess:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._lines: list[str] = []
        self._reading = asyncio.create_task(self._read())

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def stderr(self) -> str:
        return "".join(self._lines)

    @property
    def address(self) -> str:
        found = _READY.search(self.stderr)
        assert found is not None, f"not ready: {self.stderr}"
        return found[1]

    @property
    def instance(self) -> str:
        return "demo-" + self.address.translate(str.maketrans(".:", "--"))

    async def ready(self) -> None:
        await eventually(lambda: bool(_READY.search(self.stderr)) or self._process.returncode is not None, 10)

    async def says(self, words: str, seconds: float = 10.0) -> None:
        """Wait until stderr holds the words."""
        try:
            await eventually(lambda: words in self.stderr, seconds)
        except AssertionError:
            raise AssertionError(f"{words!r} was not said within {seconds:g} s:\n{self.stderr}") from None

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    async def ended(self, seconds: float = _LIMIT_SECONDS) -> int:
        """Exit code, waited for."""
        code = await asyncio.wait_for(self._process.wait(), seconds)
        await self._reading
        return code

    async def close(self) -> None:
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
async def demo_service(**variables: str) -> AsyncIterator[ServiceProcess]:
    """A started process, ready unless it ended; killed at the end of the block. Registers only where told to."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("SKILLMESH_", "CONSUL_", "OTEL_"))
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.support.demo_service",
        cwd=_ROOT,
        env={**inherited, "SKILLMESH_REGISTER": "false", "SKILLMESH_DRAIN_SECONDS": "0", **variables},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    service = ServiceProcess(process)
    try:
        await service.ready()
        yield service
    finally:
        await service.close()


@asynccontextmanager
async def stub_of(address: str) -> AsyncIterator[SkillServiceStub]:
    async with grpc.aio.insecure_channel(address) as channel:
        yield SkillServiceStub(channel)
