import asyncio
import threading
import time

import pytest

from skill_services.sdk import SkillContext, skill
from skill_services.sdk.runtime import RuntimeOptions
from skill_services.sdk.testing import CallFailedError, SkillTester
from skill_services.sdk.threads import SkillThreads
from skillmesh.errors import ErrorKind
from tests.support.eventually import eventually


class Blocker:
    """A sync skill that runs until it is released."""

    def __init__(self, **settings: bool) -> None:
        self.release = threading.Event()
        self.started = 0
        self.ended = 0

        @skill(version="1.0.0", name="block", **settings)  # type: ignore[arg-type]  # flags only
        def block() -> None:
            """Blocks."""
            self.started += 1
            self.release.wait(20)
            self.ended += 1

        self.skill = block


@skill(version="1.0.0")
def quick() -> str:
    """Is quick."""
    return threading.current_thread().name


async def abandon(mesh: SkillTester, blocker: Blocker, number: int) -> None:
    before = blocker.started
    calls = [asyncio.create_task(mesh.call("block")) for _ in range(number)]
    await eventually(lambda: blocker.started == before + number)
    for call in calls:
        call.cancel()
    await asyncio.wait(calls)


async def test_no_more_threads_run_than_are_allowed_and_idle_ones_are_used_again() -> None:
    async with SkillTester([quick], options=RuntimeOptions(threads=2)) as mesh:
        names = {(await mesh.call("quick")).text for _ in range(5)}
        many = {result.text for result in await asyncio.gather(*(mesh.call("quick") for _ in range(20)))}

    assert len(names) == 1
    assert len(many) <= 2


async def test_abandoned_work_does_not_keep_others_out() -> None:
    blocker = Blocker()
    async with SkillTester([blocker.skill, quick], options=RuntimeOptions(threads=2)) as mesh:
        await abandon(mesh, blocker, 2)

        assert (await mesh.call("quick", timeout=5)).status == "success"
        assert blocker.ended == 0
        blocker.release.set()


async def test_when_only_abandoned_work_fills_all_threads_new_calls_are_refused_promptly() -> None:
    blocker = Blocker()
    async with SkillTester([blocker.skill, quick], options=RuntimeOptions(threads=2)) as mesh:
        for _ in range(5):
            await abandon(mesh, blocker, 2)

        with pytest.raises(CallFailedError, match="thread") as caught:
            await mesh.call("quick")
        assert blocker.ended == 0
        assert caught.value.error.kind is ErrorKind.OVERLOADED
        assert caught.value.error.retry_after

        blocker.release.set()
        await asyncio.wait_for(mesh.runtime.idle(), 5)
        assert (await mesh.call("quick")).status == "success"


async def test_those_who_wait_are_refused_when_the_last_thread_is_abandoned() -> None:
    blocker = Blocker()
    async with SkillTester([blocker.skill, quick], options=RuntimeOptions(threads=1)) as mesh:
        for _ in range(4):
            await abandon(mesh, blocker, 1)
        last = asyncio.create_task(mesh.call("block"))
        await eventually(lambda: blocker.started == 5)
        waiting = asyncio.create_task(mesh.call("quick"))
        await asyncio.sleep(0)
        last.cancel()

        with pytest.raises(CallFailedError) as caught:
            await asyncio.wait_for(waiting, 2)

        assert caught.value.error.kind is ErrorKind.OVERLOADED
        blocker.release.set()


async def test_fifty_hung_calls_leave_room_for_a_fast_one() -> None:
    blocker = Blocker()
    async with SkillTester([blocker.skill, quick]) as mesh:
        outcomes = await asyncio.gather(*(mesh.call("block", timeout=0.3) for _ in range(50)), return_exceptions=True)
        assert (await mesh.call("quick", timeout=5)).status == "success"
        assert blocker.ended == 0
        blocker.release.set()

    assert {outcome.error.kind for outcome in outcomes if isinstance(outcome, CallFailedError)} == {
        ErrorKind.DEADLINE_EXCEEDED,
        ErrorKind.OVERLOADED,
    }
    assert all(isinstance(outcome, CallFailedError) for outcome in outcomes)


async def test_a_sync_skill_sees_that_nobody_waits_any_more() -> None:
    seen = threading.Event()

    @skill(version="1.0.0")
    def patient(context: SkillContext) -> None:
        """Is patient."""
        for _ in range(1_000):
            if context.cancelled:
                seen.set()
                return
            time.sleep(0.005)

    async with SkillTester([patient]) as mesh:
        with pytest.raises(CallFailedError):
            await mesh.call("patient", timeout=0.05)
        await eventually(seen.is_set)


async def test_an_exclusive_sync_skill_stays_alone_until_its_abandoned_call_has_ended() -> None:
    blocker = Blocker(exclusive=True)
    async with SkillTester([blocker.skill]) as mesh:
        await abandon(mesh, blocker, 1)

        with pytest.raises(CallFailedError, match="busy"):
            await mesh.call("block", timeout=0.05)
        assert blocker.started == 1

        blocker.release.set()
        await mesh.call("block")
        assert blocker.started == 2


async def test_the_service_is_not_idle_while_abandoned_work_runs() -> None:
    blocker = Blocker()
    async with SkillTester([blocker.skill]) as mesh:
        await abandon(mesh, blocker, 1)
        idle = asyncio.create_task(mesh.runtime.idle())
        await asyncio.sleep(0.01)
        assert mesh.runtime.running == 0
        assert not idle.done()

        blocker.release.set()
        await asyncio.wait_for(idle, 5)


async def test_an_abandoned_call_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    release = threading.Event()
    started = threading.Event()

    def work() -> None:
        started.set()
        release.wait(5)
        raise ValueError("late")

    threads = SkillThreads(1, 1)
    ended: list[int] = []
    call = asyncio.create_task(threads.run(work, time.monotonic() + 5, lambda: ended.append(1)))
    await eventually(started.is_set)
    call.cancel()
    await asyncio.wait([call])
    assert not ended
    release.set()
    await eventually(lambda: not threads.busy)
    threads.stop()

    assert "late" in caplog.text
    assert ended == [1]


def test_a_hung_thread_does_not_outlive_its_loop_loudly() -> None:
    release = threading.Event()

    async def leave() -> None:
        threads = SkillThreads(1, 1)
        call = asyncio.create_task(threads.run(lambda: release.wait(5), time.monotonic() + 5, lambda: None))
        await eventually(lambda: threads.busy == 1)
        call.cancel()
        await asyncio.wait([call])

    asyncio.run(leave())
    release.set()
    worker = next((thread for thread in threading.enumerate() if thread.name.startswith("skill-")), None)
    if worker is not None:
        worker.join(5)
        assert not worker.is_alive()
