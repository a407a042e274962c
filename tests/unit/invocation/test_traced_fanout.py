import asyncio
import logging

import pytest
from opentelemetry.trace import StatusCode

from agent_core.domain.call import (
    BlobPart,
    CallContext,
    Invoke,
    JsonPart,
    LinkPart,
    ResultStatus,
    SkillCall,
    SkillResult,
    TextPart,
)
from agent_core.domain.errors import CallError
from agent_core.domain.events import CallFinished, CallStarted, Event
from agent_core.invocation.fanout import fan_out
from agent_core.invocation.genai import content_on_spans
from agent_core.invocation.rendering import result_text
from agent_core.invocation.traced import traced
from skillmesh.errors import ErrorKind
from tests.support.call_path_values import call_of, context, skill
from tests.support.eventually import eventually
from tests.support.recorded_spans import attribute, recorded_spans

OK = SkillResult(ResultStatus.SUCCESS, b"42", instance="i1", attempts=1)


def answering(outcome: SkillResult | Exception) -> Invoke:
    async def inner(_call: SkillCall, _context: CallContext) -> SkillResult:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return inner


async def test_a_call_is_one_execute_tool_span_and_two_events() -> None:
    events: list[Event] = []
    with recorded_spans() as spans:
        await traced()(answering(OK))(call_of(arguments=b'{"a":1}'), context(emit=events.append))
    span = spans.one("execute_tool calculate")
    assert attribute(span, "gen_ai.operation.name") == "execute_tool"
    assert attribute(span, "gen_ai.tool.name") == "calculate"
    assert attribute(span, "gen_ai.tool.type") == "extension"
    assert attribute(span, "gen_ai.tool.call.id") == "c1"
    assert attribute(span, "skillmesh.skill.version") == "1.0.0"
    assert attribute(span, "skillmesh.result.status") == "success"
    assert attribute(span, "gen_ai.tool.call.arguments") is None
    started, finished = events
    assert started == CallStarted(run_id="r1", call_id="c1", skill="calculate", arguments='{"a":1}')
    assert isinstance(finished, CallFinished)
    assert (finished.status, finished.text, finished.instance, finished.attempts) == ("success", "42", "i1", 1)
    assert finished.error is None


async def test_an_error_ends_the_span_and_the_event_with_what_the_model_reads() -> None:
    events: list[Event] = []
    error = CallError(ErrorKind.UNAVAILABLE, "c on i1 broke", for_model="c broke.")
    with recorded_spans() as spans, pytest.raises(CallError):
        await traced()(answering(error))(call_of(), context(emit=events.append))
    assert spans.one("execute_tool calculate").status.status_code is StatusCode.ERROR
    finished = events[-1]
    assert isinstance(finished, CallFinished)
    assert (finished.status, finished.text, finished.error) == ("error", "c broke.", ErrorKind.UNAVAILABLE)


async def test_a_cancelled_call_ends_its_span_and_is_told_to_be_over() -> None:
    entered = asyncio.Event()
    events: list[Event] = []

    async def inner(_call: SkillCall, _context: CallContext) -> SkillResult:
        entered.set()
        await asyncio.Event().wait()
        return OK

    with recorded_spans() as spans:
        task = asyncio.ensure_future(traced()(inner)(call_of(), context(emit=events.append)))
        await entered.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert attribute(spans.one("execute_tool calculate"), "error.type") == "cancelled"
    finished = events[-1]
    assert isinstance(finished, CallFinished)
    assert (finished.status, finished.error) == ("error", ErrorKind.CANCELLED)


async def test_a_fault_of_the_core_is_logged_and_leaves_as_an_error_of_ours(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR), pytest.raises(CallError) as caught:
        await traced()(answering(ZeroDivisionError("secret")))(call_of(), context())
    assert caught.value.kind is ErrorKind.UNKNOWN
    assert "secret" not in str(caught.value) + caught.value.for_model
    assert "calculator.calculate" in caplog.text


async def test_arguments_and_results_are_recorded_only_where_content_is_wanted() -> None:
    with recorded_spans() as spans:
        await traced(record_content=True)(answering(OK))(call_of(arguments=b'{"a":1}'), context())
    span = spans.one("execute_tool calculate")
    assert attribute(span, "gen_ai.tool.call.arguments") == '{"a":1}'
    assert attribute(span, "gen_ai.tool.call.result") == "42"


@pytest.mark.parametrize(
    ("value", "wanted"),
    [("", False), ("NO_CONTENT", False), ("EVENT_ONLY", False), ("SPAN_ONLY", True), ("span_and_event", True)],
)
def test_the_standard_switch_decides_on_content(value: str, wanted: bool) -> None:
    assert content_on_spans({"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": value}) is wanted
    assert not content_on_spans({})


def test_a_result_reads_as_its_parts_or_else_as_its_value_byte_for_byte() -> None:
    assert result_text(SkillResult(ResultStatus.SUCCESS, b'{ "a": 1.0 }')) == '{ "a": 1.0 }'
    parts = (
        TextPart("Two lines:"),
        JsonPart(b"[1]"),
        BlobPart(b"123", "image/png"),
        LinkPart("file:///a", "a"),
        LinkPart("file:///b"),
    )
    assert result_text(SkillResult(ResultStatus.SUCCESS, b"{}", parts)) == (
        "Two lines:\n[1]\n[image/png, 3 bytes; it is passed to the user]\n[link: file:///a (a)]\n[link: file:///b]"
    )


class Stage:
    """An Invoke whose calls wait until they are let go, and that notes who was on it together."""

    def __init__(self) -> None:
        self.running: set[str] = set()
        self.together: list[frozenset[str]] = []
        self.cancelled: set[str] = set()
        self.errors: dict[str, BaseException] = {}
        self.turns = 3

    async def __call__(self, call: SkillCall, _context: CallContext) -> SkillResult:
        self.running.add(call.id)
        self.together.append(frozenset(self.running))
        try:
            for _ in range(self.turns):
                await asyncio.sleep(0)
            if call.id in self.errors:
                raise self.errors[call.id]
            return SkillResult(ResultStatus.SUCCESS, call.id.encode())
        except asyncio.CancelledError:
            self.cancelled.add(call.id)
            raise
        finally:
            self.running.discard(call.id)


async def test_calls_run_together_and_their_outcomes_keep_the_order() -> None:
    stage = Stage()
    calls = [call_of(call_id=name) for name in "cab"]
    outcomes = await fan_out(stage)(calls, context())
    assert [one.structured for one in outcomes if isinstance(one, SkillResult)] == [b"c", b"a", b"b"]
    assert frozenset("abc") in stage.together


async def test_one_failing_call_never_takes_the_others_down() -> None:
    stage = Stage()
    stage.errors = {
        "b": CallError(ErrorKind.UNAVAILABLE, "down"),
        "c": CallError(ErrorKind.DEADLINE_EXCEEDED, "slow"),
        "d": asyncio.CancelledError(),
    }
    outcomes = await fan_out(stage)([call_of(call_id=name) for name in "abcde"], context())
    kinds = [one.kind if isinstance(one, CallError) else one.structured for one in outcomes]
    assert kinds == [b"a", ErrorKind.UNAVAILABLE, ErrorKind.DEADLINE_EXCEEDED, ErrorKind.CANCELLED, b"e"]


async def test_a_single_failing_call_is_a_value_too() -> None:
    (outcome,) = await fan_out(answering(CallError(ErrorKind.CRASHED, "x")))([call_of()], context())
    assert isinstance(outcome, CallError)


async def test_no_calls_have_no_outcomes() -> None:
    assert list(await fan_out(answering(OK))([], context())) == []


async def test_an_exclusive_skill_runs_alone() -> None:
    stage = Stage()
    alone = skill("restart", exclusive=True)
    calls = [call_of(call_id="a"), call_of(call_id="b"), call_of(alone, call_id="x"), call_of(alone, call_id="y")]
    calls += [call_of(call_id="c"), call_of(call_id="d")]
    await fan_out(stage)(calls, context())
    assert {one for one in stage.together if one & {"x", "y"}} == {frozenset("x"), frozenset("y")}
    assert {frozenset("ab"), frozenset("cd")} <= set(stage.together)


async def test_no_more_calls_of_a_skill_run_at_once_than_it_allows() -> None:
    stage = Stage()
    narrow = skill("narrow", max_parallel=2)
    calls = [call_of(narrow, call_id=str(number)) for number in range(6)] + [call_of(call_id="w")]
    await fan_out(stage)(calls, context())
    assert max(len(one - {"w"}) for one in stage.together) == 2
    assert any("w" in one and len(one) == 3 for one in stage.together)


async def test_cancelling_the_turn_cancels_every_call_and_waits_for_them() -> None:
    stage = Stage()
    stage.turns = 1_000_000
    task = asyncio.create_task(_run(stage))
    await eventually(lambda: len(stage.running) == 3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert stage.cancelled == set("abc")
    assert not stage.running


async def _run(stage: Stage) -> None:
    await fan_out(stage)([call_of(call_id=name) for name in "abc"], context())
