"""The stand-in model as its own process, on a free port, gone when the block ends."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

START_SECONDS = 20.0
STOP_SECONDS = 10.0


@dataclass(frozen=True)
class StandIn:
    """`url` ends in /v1; `banner` is what it said on stderr."""

    url: str
    banner: str
    process: asyncio.subprocess.Process


@asynccontextmanager
async def stand_in_process(script: Path | None = None) -> AsyncIterator[StandIn]:
    arguments = ["-m", "agent_core.dev.model", "--port", "0", *(["--script", str(script)] if script else [])]
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, stderr=asyncio.subprocess.PIPE)
    try:
        assert process.stderr is not None
        line = await asyncio.wait_for(process.stderr.readline(), START_SECONDS)
        banner = line.decode()
        yield StandIn(banner.split(" serves ")[1].split(". ")[0], banner, process)
    finally:
        if process.returncode is None:
            process.terminate()
            try:
                await asyncio.wait_for(process.wait(), STOP_SECONDS)
            except TimeoutError:
                process.kill()
                await process.wait()
