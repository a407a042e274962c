import asyncio
import os
import signal
import threading

import pytest

from skill_services.sdk.ending import Ending

FAR = 3_000.0


def clock_runs(ending: Ending) -> bool:
    return ending._timer is not None and not ending._timer.finished.is_set()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_asks_for_the_end_and_starts_the_clock(number: signal.Signals) -> None:
    ending = Ending(FAR)
    before = signal.getsignal(number)
    with ending.on_signals():
        os.kill(os.getpid(), number)
        await asyncio.wait_for(ending.asked(), 5)
        assert clock_runs(ending)
    ending.done()
    assert not clock_runs(ending)
    assert signal.getsignal(number) == before


async def test_a_supervisor_that_is_gone_asks_for_the_end() -> None:
    process = await asyncio.create_subprocess_exec("sleep", "60")
    ending = Ending(FAR, process.pid)
    process.kill()
    await process.wait()
    await asyncio.wait_for(ending.asked(), 5)
    assert not clock_runs(ending)
    ending.begin()
    ending.begin()
    assert clock_runs(ending)
    ending.done()


async def test_the_clock_goes_on_where_a_thread_would_keep_the_interpreter() -> None:
    ending = Ending(FAR)
    ending.begin()
    let_go = threading.Event()
    thread = threading.Thread(target=let_go.wait)
    thread.start()
    ending.done()
    assert clock_runs(ending)
    let_go.set()
    thread.join()
    ending.done()
    assert not clock_runs(ending)


def test_outside_the_main_thread_the_processs_own_handlers_stand() -> None:
    seen: list[object] = []

    async def within() -> None:
        with Ending(FAR).on_signals():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=lambda: asyncio.run(within()))
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGTERM)]
