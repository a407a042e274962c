"""A run: from the question over turns and calls to an answer, or to the reason why there is none."""

import asyncio
import time

import pytest

from agent_core.agent.run import LoopSettings
from agent_core.agent.session import Session
from agent_core.domain.call import CallContext, Principal, ResultStatus, SkillCall, SkillResult, TextPart
from agent_core.domain.errors import CallError
from agent_core.domain.events import (
    CallFinished,
    CallProgressed,
    CallStarted,
    Event,
    FinishReason,
    ModelReplied,
    ReasoningDelta,
    RunFinished,
    RunStarted,
    TextDelta,
    TurnStarted,
    Usage,
    Warned,
)
from agent_core.domain.model import (
    AssistantMessage,
    ReasoningChunk,
    SystemMessage,
    TextChunk,
    ToolMessage,
    ToolRequest,
    UserMessage,
)
from skillmesh.errors import ErrorKind
from tests.support.agent_parts import (
    AllSkills,
    FunctionSkills,
    agent_loop,
    ending,
    events_of,
    fails,
    returns,
    skill,
    structured,
)
from tests.support.scripted_model import ScriptedModel, asks, city, reply, says, tool_texts

CITY = skill("city_time")


async def test_a_question_becomes_calls_and_an_answer() -> None:
    model = ScriptedModel(asks(city()), [ReasoningChunk("hm"), *says("It is noon.")])
    fan_out = FunctionSkills(city_time=returns(b'{"time":"12:00"}'))
    shortlister = AllSkills("3 skills were left out.")
    loop = agent_loop(model, CITY, fan_out=fan_out, shortlister=shortlister)
    session = Session("s-1", time_zone="Europe/Oslo")
    events = [
        event async for event in loop.run("What time is it?", session=session, principal=Principal("ann"), run_id="r-1")
    ]
    assert [type(event) for event in events] == [
        RunStarted,
        Warned,
        TurnStarted,
        ModelReplied,
        CallStarted,
        CallFinished,
        TurnStarted,
        ReasoningDelta,
        TextDelta,
        ModelReplied,
        RunFinished,
    ]
    assert {event.run_id for event in events} == {"r-1"}
    assert events[2] == TurnStarted(run_id="r-1", turn=1, shortlist=("city_time",))
    end = ending(events)
    assert (end.answer, end.reason, end.turns, end.usage) == ("It is noon.", FinishReason.ANSWERED, 2, Usage(20, 3))
    assert shortlister.asked == [("What time is it?", Principal("ann"))] * 2
    (call,) = fan_out.calls
    assert (call.id, call.arguments, call.idempotency_key) == ("a", b'{"city":"Oslo"}', "r-1:a")
    first, second = model.requests
    assert [type(message) for message in first.messages] == [SystemMessage, UserMessage]
    assert second.messages[2:] == (AssistantMessage("", (city(),)), ToolMessage("a", '{"time":"12:00"}'))
    assert [tool.name for tool in second.tools] == ["city_time"]
    assert second.conversation_id == "s-1"
    assert session.history == (*second.messages[1:], AssistantMessage("It is noon."))


async def test_the_next_run_knows_the_session() -> None:
    model = ScriptedModel(says("one"), says("two"))
    session = Session("s")
    loop = agent_loop(model)
    await events_of(loop, "first", session)
    await events_of(loop, "second", session)
    assert [message.text for message in model.requests[1].messages[1:]] == ["first", "one", "second"]


async def test_the_context_of_the_calls_is_that_of_run_and_session() -> None:
    seen: list[CallContext] = []

    async def body(_call: SkillCall, context: CallContext) -> SkillResult:
        seen.append(context)
        return structured(b"1")

    loop = agent_loop(ScriptedModel(asks(city()), says("ok")), CITY, fan_out=FunctionSkills(city_time=body))
    session = Session("s-1", time_zone="Asia/Tokyo", locale="ja", values={"team": "x"})
    deadline = time.monotonic() + 9
    async for _ in loop.run("q", session=session, principal=Principal("ann"), run_id="r", deadline=deadline):
        pass
    (context,) = seen
    assert (context.run_id, context.deadline, context.session_id) == ("r", deadline, "s-1")
    assert (context.time_zone, context.locale, context.session["team"]) == ("Asia/Tokyo", "ja", "x")
    assert context.principal == Principal("ann")


async def test_his_01_each_call_of_a_turn_is_answered_once_and_in_order() -> None:
    skills = [skill(name) for name in ("city_time", "unit_convert", "doc_search")]
    fan_out = FunctionSkills(
        city_time=returns(b"1"),
        unit_convert=fails(CallError(ErrorKind.UNAVAILABLE, "It is down.")),
        doc_search=fails(CallError(ErrorKind.DEADLINE_EXCEEDED, "It took too long.")),
    )
    wanted = [ToolRequest(call_id, one.name, "{}") for call_id, one in zip("abc", skills, strict=True)]
    model = ScriptedModel(asks(*wanted), says("ok"))
    events = await events_of(agent_loop(model, *skills, fan_out=fan_out))
    assert list(tool_texts(model.requests[1]).items()) == [
        ("a", "1"),
        ("b", "Error: It is down."),
        ("c", "Error: It took too long."),
    ]
    finished = [event for event in events if isinstance(event, CallFinished)]
    assert [(event.status, event.error) for event in finished] == [
        ("success", None),
        ("error", ErrorKind.UNAVAILABLE),
        ("error", ErrorKind.DEADLINE_EXCEEDED),
    ]


async def test_requests_that_cannot_run_are_answered_beside_those_that_can() -> None:
    wanted = [ToolRequest("a", "city_tme", "{}"), city("b"), city("c", "{broken"), city("b")]
    fan_out = FunctionSkills(city_time=returns(b"1"))
    model = ScriptedModel(asks(*wanted), says("ok"))
    await events_of(agent_loop(model, CITY, fan_out=fan_out))
    texts = tool_texts(model.requests[1])
    assert "Did you mean city_time?" in texts["a"]
    assert texts["b"] == "1"
    assert "not valid JSON" in texts["c"]
    assert len(texts) == 4  # the second b has got an id of its own
    assert [call.id for call in fan_out.calls] == ["b", list(texts)[3]]


async def test_only_refused_requests_need_no_fan_out() -> None:
    fan_out = FunctionSkills()
    model = ScriptedModel(asks(city("a", "[]")), says("ok"))
    events = await events_of(agent_loop(model, CITY, fan_out=fan_out))
    assert fan_out.calls == []
    assert ending(events).answer == "ok"


async def test_events_of_the_calls_come_live_and_are_not_told_twice() -> None:
    go_on = asyncio.Event()

    async def body(call: SkillCall, context: CallContext) -> SkillResult:
        context.emit(CallStarted(run_id="r", call_id=call.id, skill="city_time", arguments="{}"))
        context.emit(CallProgressed(run_id="r", call_id=call.id, fraction=0.5, message="half"))
        await go_on.wait()
        text = "x" * 100_000
        context.emit(
            CallFinished(run_id="r", call_id=call.id, skill="city_time", status="success", text=text, seconds=1)
        )
        return SkillResult(ResultStatus.SUCCESS, parts=(TextPart(text),))

    loop = agent_loop(ScriptedModel(asks(city()), says("ok")), CITY, fan_out=FunctionSkills(city_time=body))
    events: list[Event] = []
    async for event in loop.run("q", session=Session()):
        events.append(event)
        if isinstance(event, CallProgressed):
            go_on.set()  # the call is still running
    kinds = [type(event) for event in events]
    assert kinds.count(CallStarted) == kinds.count(CallFinished) == 1
    (finished,) = [event for event in events if isinstance(event, CallFinished)]
    assert len(finished.text) < 20_000


async def test_the_last_turn_offers_no_tools_and_asks_for_an_answer() -> None:
    model = ScriptedModel(asks(city("a")), asks(city("b")), says("All I know."))
    loop = agent_loop(model, CITY, settings=LoopSettings(max_turns=3))
    events = await events_of(loop)
    assert [len(request.tools) for request in model.requests] == [1, 1, 0]
    assert "Answer now" in model.requests[2].messages[0].text
    assert (ending(events).reason, ending(events).turns) == (FinishReason.ANSWERED, 3)


async def test_text_beside_calls_in_the_last_turn_is_the_answer() -> None:
    model = ScriptedModel(asks(city(), text="Almost noon."))
    events = await events_of(agent_loop(model, CITY, settings=LoopSettings(max_turns=1)))
    assert ending(events).answer == "Almost noon."


async def test_str_16_a_reply_cut_inside_a_call_runs_nothing_and_asks_again() -> None:
    cut = city(arguments='{"q":"all files except')
    fan_out = FunctionSkills(city_time=returns(b"1"))
    model = ScriptedModel(asks(city("w"), cut, finish="length"), asks(city("b")), says("ok"))
    events = await events_of(agent_loop(model, CITY, fan_out=fan_out))
    assert [call.id for call in fan_out.calls] == ["b"]
    texts = tool_texts(model.requests[1])
    assert list(texts) == ["w", "a"]
    assert all("Ask for it again" in text for text in texts.values())
    assert ending(events).answer == "ok"


@pytest.mark.parametrize(("finish", "says_what"), [("length", "SKILLMESH_MAX_TOKENS"), ("content_filter", "filter")])
async def test_an_answer_that_is_cut_off_is_not_passed_off_as_whole(finish: str, says_what: str) -> None:
    events = await events_of(agent_loop(ScriptedModel(says("Half an ans", finish))))
    (warning,) = [event for event in events if isinstance(event, Warned)]
    assert says_what in warning.message
    assert ending(events).answer == "Half an ans"


async def test_a_result_meant_for_the_user_is_the_answer() -> None:
    report = skill("report", return_direct=True)
    model = ScriptedModel(asks(ToolRequest("a", "report", "{}"), ToolRequest("b", "report", "{}")))
    fan_out = FunctionSkills(report=returns(b'"done"'))
    session = Session()
    events = await events_of(agent_loop(model, report, fan_out=fan_out), session=session)
    assert ending(events).answer == '"done"\n\n"done"'
    assert [event.text for event in events if isinstance(event, TextDelta)] == ['"done"\n\n"done"']
    assert len(model.requests) == 1
    assert isinstance(session.history[-1], AssistantMessage)


@pytest.mark.parametrize("status", [ResultStatus.FAILED, ResultStatus.SUCCESS])
async def test_the_model_words_the_answer_where_not_all_results_are_one(status: ResultStatus) -> None:
    async def body(_call: SkillCall, _context: CallContext) -> SkillResult:
        return structured(b'"x"', status)

    report = skill("report", return_direct=True)
    second = [city("b")] if status is ResultStatus.SUCCESS else []
    model = ScriptedModel(asks(ToolRequest("a", "report", "{}"), *second), says("worded"))
    fan_out = FunctionSkills(report=body, city_time=returns(b"1"))
    events = await events_of(agent_loop(model, report, CITY, fan_out=fan_out))
    assert ending(events).answer == "worded"


async def test_half_a_surrogate_pair_in_the_question_can_be_sent() -> None:
    model = ScriptedModel(says("ok"))
    await events_of(agent_loop(model), "a\ud83d")
    assert model.requests[0].messages[-1].text == "a?"


async def test_a_reader_that_is_behind_holds_the_stream_and_loses_nothing() -> None:
    texts = [str(number) for number in range(3_000)]
    model = ScriptedModel([*(TextChunk(text) for text in texts), reply("".join(texts))])
    run = agent_loop(model).run("q", session=Session())
    read = [await anext(run)]
    for _ in range(200):
        await asyncio.sleep(0)
    assert model.closed == 0
    read += [event async for event in run]
    assert [event.text for event in read if isinstance(event, TextDelta)] == texts


async def test_runs_side_by_side_keep_apart() -> None:
    async def body(call: SkillCall, context: CallContext) -> SkillResult:
        await asyncio.sleep(0)
        return structured(context.run_id.encode())

    fan_out = FunctionSkills(city_time=body)

    async def one(name: str) -> list[Event]:
        model = ScriptedModel(asks(city()), says(name))
        run = agent_loop(model, CITY, fan_out=fan_out).run(name, session=Session(name), run_id=name)
        return [event async for event in run]

    for name, events in zip("xyz", await asyncio.gather(*map(one, "xyz")), strict=True):
        assert {event.run_id for event in events} == {name}
        assert ending(events).answer == name
