import asyncio
import time
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator

from skill_services.sdk import SkillContext, SkillError, skill
from skill_services.sdk.runtime import Incoming, Runtime, RuntimeOptions
from skill_services.sdk.testing import CallFailedError, InvalidArguments, SkillTester
from skillmesh.errors import ErrorKind
from skillmesh.v1.skill_service_pb2 import InvokeRequest
from tests.support.eventually import eventually

ran: list[str] = []


@skill(version="1.0.0")
async def note(text: str) -> str:
    """Notes a text."""
    ran.append(text)
    return text


async def fails(mesh: SkillTester, change: Callable[[InvokeRequest], None], **arguments: object) -> CallFailedError:
    ran.clear()
    request = mesh.request("note", arguments or {"text": "x"})
    change(request)
    with pytest.raises(CallFailedError) as caught:
        await mesh.invoke(request)
    assert not ran
    return caught.value


def set_field(name: str, value: object) -> Callable[[InvokeRequest], None]:
    return lambda request: setattr(request, name, value)


@pytest.mark.parametrize(
    ("field", "value", "kind", "words"),
    [
        ("skill", "nope", ErrorKind.UNKNOWN_SKILL, "it has note"),
        ("fingerprint", "other", ErrorKind.SCHEMA_MOVED, "describe it again"),
        ("depth", 9, ErrorKind.DEPTH_EXCEEDED, "the limit is 8"),
        ("arguments", b"x" * 1_100_000, ErrorKind.MESSAGE_TOO_LARGE, "1,100,000 bytes; the limit is 1,048,576"),
        ("hidden_arguments", b"x" * 1_100_000, ErrorKind.MESSAGE_TOO_LARGE, "the limit is 1,048,576"),
        ("arguments", b'{"text":"y"}', ErrorKind.CORRUPTED_REQUEST, "damaged on the way"),
    ],
)
async def test_nothing_runs_before_the_checks_are_passed(
    field: str, value: object, kind: ErrorKind, words: str
) -> None:
    async with SkillTester([note]) as mesh:
        error = await fails(mesh, set_field(field, value))

    assert error.error.kind is kind
    assert words in str(error)


async def test_what_a_caller_leaves_out_is_not_checked() -> None:
    async with SkillTester([note]) as mesh:
        result = await mesh.invoke(InvokeRequest(skill="note", arguments=b'{"text":"y"}'))

    assert result.value == "y"


async def test_a_draining_service_refuses_new_calls_and_finishes_what_runs() -> None:
    release = asyncio.Event()

    @skill(version="1.0.0")
    async def waiting() -> str:
        """Waits."""
        await release.wait()
        return "done"

    async with SkillTester([waiting, note]) as mesh:
        running = asyncio.create_task(mesh.call("waiting"))
        await eventually(lambda: mesh.runtime.running == 1)
        mesh.runtime.refuse_new_calls()
        error = await fails(mesh, lambda _request: None)
        idle = asyncio.create_task(mesh.runtime.idle())
        await asyncio.sleep(0)
        assert not idle.done()
        release.set()
        assert (await running).value == "done"
        await asyncio.wait_for(idle, 5)
        await asyncio.wait_for(mesh.runtime.idle(), 5)

    assert error.error.kind is ErrorKind.DRAINING


async def test_calls_beyond_the_limit_are_refused_with_a_time_to_come_back() -> None:
    release = asyncio.Event()

    @skill(version="1.0.0")
    async def waiting() -> None:
        """Waits."""
        await release.wait()

    async with SkillTester([waiting, note], options=RuntimeOptions(max_concurrent_calls=2)) as mesh:
        running = [asyncio.create_task(mesh.call("waiting")) for _ in range(2)]
        await eventually(lambda: mesh.runtime.running == 2)
        error = await fails(mesh, lambda _request: None)
        release.set()
        await asyncio.gather(*running)
        assert (await mesh.call("note", {"text": "again"})).value == "again"

    assert error.error.kind is ErrorKind.OVERLOADED
    assert error.error.retry_after


@pytest.mark.parametrize(("settings", "most"), [({"exclusive": True}, 1), ({"max_parallel": 2}, 2), ({}, 6)])
@pytest.mark.parametrize("blocking", [False, True])
async def test_a_skills_own_limit_is_kept(settings: dict[str, Any], most: int, blocking: bool) -> None:
    now: list[int] = []
    seen: list[int] = []

    def enter() -> None:
        now.append(1)
        seen.append(len(now))

    @skill(version="1.0.0", name="counted", **settings)
    async def counted() -> None:
        """Counts."""
        enter()
        await asyncio.sleep(0.01)
        now.pop()

    @skill(version="1.0.0", name="counted", **settings)
    def counted_blocking() -> None:
        """Counts."""
        enter()
        time.sleep(0.01)
        now.pop()

    async with SkillTester([counted_blocking if blocking else counted]) as mesh:
        await asyncio.gather(*(mesh.call("counted") for _ in range(6)))

    assert max(seen) <= most
    assert len(seen) == 6


async def test_waiting_for_an_exclusive_skill_ends_with_the_deadline_and_runs_nothing() -> None:
    release = asyncio.Event()
    started: list[int] = []

    @skill(version="1.0.0", exclusive=True)
    async def alone() -> None:
        """Runs alone."""
        started.append(1)
        await release.wait()

    async with SkillTester([alone]) as mesh:
        first = asyncio.create_task(mesh.call("alone"))
        await eventually(lambda: len(started) == 1)
        with pytest.raises(CallFailedError, match="'alone' is busy") as caught:
            await mesh.call("alone", timeout=0.05)
        release.set()
        await first

    assert caught.value.error.kind is ErrorKind.OVERLOADED
    assert len(started) == 1


async def test_invalid_arguments_do_not_wait_for_a_busy_skill() -> None:
    release = asyncio.Event()

    @skill(version="1.0.0", exclusive=True)
    async def alone(number: int) -> None:
        """Runs alone."""
        await release.wait()

    async with SkillTester([alone]) as mesh:
        first = asyncio.create_task(mesh.call("alone", {"number": 1}))
        await eventually(lambda: mesh.runtime.running == 1)
        with pytest.raises(InvalidArguments):
            await mesh.call("alone", {"number": "x"})
        release.set()
        await first


@pytest.mark.parametrize(("timeout", "own"), [(0.05, None), (None, 0.05), (5, 0.05), (0.05, 5)])
async def test_the_earlier_of_the_callers_and_the_skills_own_limit_ends_a_call(
    timeout: float | None, own: float | None
) -> None:
    ended: list[str] = []
    settings: dict[str, Any] = {} if own is None else {"timeout": own}

    @skill(version="1.0.0", **settings)
    async def slow(context: SkillContext) -> None:
        """Is slow."""
        assert 0 < context.time_remaining() <= 0.05
        assert context.deadline <= time.monotonic() + 0.05
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async with SkillTester([slow]) as mesh:
        with pytest.raises(CallFailedError, match="did not finish within") as caught:
            await mesh.call("slow", timeout=timeout)

    assert caught.value.error.kind is ErrorKind.DEADLINE_EXCEEDED
    assert ended == ["cancelled"]


async def test_a_call_that_comes_after_its_deadline_runs_nothing() -> None:
    ran.clear()
    async with SkillTester([note]) as mesh:
        with pytest.raises(CallFailedError, match="nothing ran") as caught:
            await mesh.call("note", {"text": "x"}, timeout=-1)

    assert caught.value.error.kind is ErrorKind.DEADLINE_EXCEEDED
    assert not ran


async def test_a_cancelled_call_is_cancelled_in_the_authors_code_and_propagates() -> None:
    started = asyncio.Event()
    kept: list[SkillContext] = []

    @skill(version="1.0.0")
    async def slow(context: SkillContext) -> None:
        """Is slow."""
        kept.append(context)
        started.set()
        await asyncio.sleep(10)

    async with SkillTester([slow]) as mesh:
        call = asyncio.create_task(mesh.call("slow"))
        await started.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.wait_for(mesh.runtime.idle(), 5)

    assert kept[0].cancelled


def raising(error: BaseException) -> Callable[[], None]:
    def crash() -> None:
        """Crashes."""
        raise error

    return crash


class Unusual(BaseException):
    pass


async def test_a_sync_skill_that_raises_what_closes_a_coroutine_has_crashed() -> None:
    crashing = skill(version="1.0.0", name="crash")(raising(GeneratorExit()))
    async with SkillTester([crashing]) as mesh:
        with pytest.raises(CallFailedError, match="crashed with GeneratorExit"):
            await mesh.call("crash")


@pytest.mark.parametrize("blocking", [False, True])
@pytest.mark.parametrize(
    ("error", "name"),
    [
        (ZeroDivisionError("password=hunter2"), "ZeroDivisionError"),
        (SystemExit(3), "SystemExit"),
        (asyncio.CancelledError(), "CancelledError"),
        (TimeoutError(), "TimeoutError"),
        (BaseExceptionGroup("several", [SystemExit(1)]), "BaseExceptionGroup"),
        (StopIteration(), "RuntimeError"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (Unusual(), "Unusual"),
    ],
)
async def test_a_crash_names_its_type_and_tells_the_rest_to_the_log_alone(
    error: BaseException, name: str, blocking: bool, caplog: pytest.LogCaptureFixture
) -> None:
    crash = raising(error)

    async def crash_async() -> None:
        """Crashes."""
        crash()

    crashing: Any = skill(version="1.0.0", name="crash")(crash if blocking else crash_async)
    async with SkillTester([crashing, note]) as mesh:
        with pytest.raises(CallFailedError) as caught:
            await mesh.call("crash")
        assert (await mesh.call("note", {"text": "still here"})).value == "still here"

    assert caught.value.error.kind is ErrorKind.CRASHED
    assert str(caught.value) == f"Skill 'crash' crashed with {name}; the log of its service says why."
    assert "Traceback" in caplog.text


async def test_an_authors_no_is_a_result() -> None:
    @skill(version="1.0.0")
    async def refuse(retryable: bool) -> None:
        """Refuses."""
        raise SkillError("No disk.", retryable=retryable, for_model="Try a smaller one.")

    async with SkillTester([refuse]) as mesh:
        failed = await mesh.call("refuse", {"retryable": False})
        retryable = await mesh.call("refuse", {"retryable": True})

    assert (failed.status, failed.text, failed.value) == ("failed", "Try a smaller one.", {"error": "No disk."})
    assert retryable.status == "retryable"


async def test_a_validator_that_crashes_is_the_skills_crash() -> None:
    def explode(_value: int) -> int:
        raise KeyError("x")

    @skill(version="1.0.0")
    async def fragile(number: Annotated[int, AfterValidator(explode)]) -> None:
        """Is fragile."""

    async with SkillTester([fragile]) as mesh:
        with pytest.raises(CallFailedError, match="crashed with KeyError"):
            await mesh.call("fragile", {"number": 1})


async def test_a_result_over_the_message_limit_is_an_error_and_not_a_crash() -> None:
    @skill(version="1.0.0")
    async def large() -> str:
        """Is large."""
        return "x" * 20_000

    async with SkillTester([large], options=RuntimeOptions(max_message_bytes=16_384)) as mesh:
        with pytest.raises(CallFailedError, match="16,384") as caught:
            await mesh.call("large")

    assert caught.value.error.kind is ErrorKind.REPLY_TOO_LARGE


async def test_many_skills_are_listed_in_part() -> None:
    many = [skill(version="1.0.0", name=f"skill_{index:02}")(raising(ValueError())) for index in range(25)]

    with pytest.raises(CallFailedError, match=r"skill_19, \.\.\.\.$"):
        await Runtime(many, RuntimeOptions()).invoke(Incoming(InvokeRequest(skill="nope")))
