"""Looking at real processes from a test."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

PATIENCE = 20.0


def alive(pid: int) -> bool:
    """Whether it runs: a zombie that nobody has buried yet does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - processes and files tell of no change
            await asyncio.sleep(0.02)
