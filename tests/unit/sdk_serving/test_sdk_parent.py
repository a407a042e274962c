import asyncio
import os
import sys

from skill_services.sdk.parent import ParentWatch


def test_a_live_parent_is_alive() -> None:
    assert ParentWatch(os.getppid()).alive()
    assert ParentWatch(os.getpid()).alive()  # not the parent, but alive


async def test_a_process_that_has_ended_is_gone() -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE)
    watch = ParentWatch(process.pid)
    assert watch.alive()
    await process.communicate(b"\n")
    await asyncio.wait_for(watch.gone(), 5)


def test_a_process_of_another_user_is_alive() -> None:
    assert ParentWatch(1).alive()
