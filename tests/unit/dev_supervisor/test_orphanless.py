"""Nothing outlives a supervisor that is killed."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from agent_core.dev import orphanless
from tests.support.processes import PATIENCE, alive, until

WRAPPER = orphanless.__file__
MARK_AND_SLEEP = "import pathlib, sys, time; pathlib.Path(sys.argv[1]).touch(); time.sleep(600)"
SUPERVISOR = """
import asyncio, sys
from pathlib import Path
from agent_core.dev.process_spec import ProcessSpec
from agent_core.dev.supervisor import Supervisor

STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"

async def main(directory):
    specs = [ProcessSpec(name=name, argv=[sys.executable, "-I", "-S", "-c", STUBBORN]) for name in ("a", "b")]
    async with Supervisor(specs, directory) as supervisor:
        print(*(status.pid for status in supervisor.statuses), flush=True)
        await asyncio.sleep(600)

asyncio.run(main(Path(sys.argv[1])))
"""


def command(mark: Path, *options: str) -> list[str]:
    """Marks that it runs, then sleeps; `SUPERVISOR_PID` among the options is to be replaced."""
    python = [sys.executable, "-I", "-S"]
    return [*python, WRAPPER, *options, *python, "-c", MARK_AND_SLEEP, str(mark)]


@asynccontextmanager
async def started(*argv: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process in a group of its own; killed at the end of the block."""
    process = await asyncio.create_subprocess_exec(*argv, stdout=asyncio.subprocess.PIPE, start_new_session=True)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def test_killing_the_supervisor_outright_ends_what_it_runs(tmp_path: Path) -> None:
    async with started(sys.executable, "-c", SUPERVISOR, str(tmp_path)) as supervisor:
        assert supervisor.stdout is not None
        line = await asyncio.wait_for(supervisor.stdout.readline(), PATIENCE)
        pids = [int(word) for word in line.split()]
        assert len(pids) == 2
        assert all(alive(pid) for pid in pids)
    await until(lambda: not any(alive(pid) for pid in pids))


@pytest.mark.parametrize("options", [[], ["--watch"]], ids=["asked of the kernel", "watched"])
async def test_a_command_ends_with_the_process_that_is_named_as_its_supervisor(
    options: list[str], tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    wrapped = command(mark, *options, "SUPERVISOR_PID")
    code = (
        "import os, subprocess, sys, time;"
        f"argv = [word.replace('SUPERVISOR_PID', str(os.getpid())) for word in {wrapped!r}];"
        "child = subprocess.Popen(argv, start_new_session=True); print(child.pid, flush=True); time.sleep(600)"
    )
    async with started(sys.executable, "-c", code) as parent:
        assert parent.stdout is not None
        child = int(await asyncio.wait_for(parent.stdout.readline(), PATIENCE))
        await until(mark.exists)
        assert alive(child)
    await until(lambda: not alive(child))


async def test_the_watcher_goes_with_the_command_that_it_stands_beside(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    async with started(*command(mark, "--watch", str(os.getpid()))) as process:
        await until(mark.exists)
        process.send_signal(signal.SIGTERM)
        await process.wait()
        await until(lambda: not group_lives(process.pid))


def group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_command_whose_supervisor_is_gone_already_does_not_start(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    async with started(*command(mark, "1")) as process:
        assert await asyncio.wait_for(process.wait(), PATIENCE) == 1
    assert not mark.exists()
