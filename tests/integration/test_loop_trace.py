"""One trace per run: the run, its turns, the model's calls and the skills', each under the right parent."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind, StatusCode

from agent_core.agent.loop import AgentLoop
from agent_core.agent.run import LoopSettings
from agent_core.agent.session import Session
from agent_core.domain.call import CallContext, SkillCall, SkillResult
from agent_core.domain.errors import CallError
from agent_core.domain.events import RunStarted, TextDelta
from agent_core.llm.client import OpenAIChatModel
from agent_core.llm.config import ModelConfig
from agent_core.llm.traced import TracedChatModel
from agent_core.telemetry.spans import span
from tests.support.agent_parts import agent_loop, ending, events_of, skill, structured
from tests.support.recorded_spans import RecordedSpans, attribute, parent_of, recorded_spans, span_id, trace_id
from tests.support.scripted_endpoint import (
    Answer,
    Reply,
    ScriptedEndpoint,
    calls,
    chunk,
    data,
    refuses,
    says,
    scripted_endpoint,
)

NAMES = ("one", "two", "three", "four")
ROOT = "invoke_agent skillmesh"


async def traced_fan_out(calls_: Sequence[SkillCall], _context: CallContext) -> Sequence[SkillResult | CallError]:
    """Two of the skills are coroutines, two are functions on a thread, as the call path and the SDK run them."""

    def on_thread() -> None:
        with span("the skill's own"):
            pass

    async def run(call: SkillCall, *, thread: bool) -> SkillResult:
        with span(f"execute_tool {call.skill.name}"):
            if thread:
                await asyncio.to_thread(on_thread)
            else:
                await asyncio.sleep(0)
            return structured(b"1")

    return await asyncio.gather(*(run(call, thread=index % 2 == 0) for index, call in enumerate(calls_)))


@asynccontextmanager
async def running(*script: Answer) -> AsyncIterator[tuple[AgentLoop, ScriptedEndpoint, RecordedSpans]]:
    async with scripted_endpoint(*script) as endpoint:
        config = ModelConfig(model="m-1", base_url=endpoint.url)
        client = OpenAIChatModel(config)
        loop = agent_loop(
            TracedChatModel(client, config),
            *map(skill, NAMES),
            fan_out=traced_fan_out,
            settings=LoopSettings(run_timeout=20),
        )
        with recorded_spans() as spans:
            yield loop, endpoint, spans
        await client.close()


def parents(spans: tuple[ReadableSpan, ...]) -> dict[str, set[str]]:
    """Names of the parents of all spans of one name."""
    found: dict[str, set[str]] = {}
    for one in spans:
        parent = parent_of(one, spans)
        found.setdefault(one.name, set()).add(parent.name if parent else "")
    return found


async def test_tel_01_a_run_is_one_trace_and_each_call_is_under_its_turn() -> None:
    wanted = calls(*((f"c-{name}", name, "{}") for name in NAMES))
    async with running(wanted, says("ok")) as (loop, endpoint, spans):
        events = await events_of(loop, session=Session("chat-1"))
    everything = spans.all()
    assert len({trace_id(one) for one in everything}) == 1
    assert parents(everything) == {
        ROOT: {""},
        "turn": {ROOT},
        "chat m-1": {"turn"},
        **{f"execute_tool {name}": {"turn"} for name in NAMES},
        "the skill's own": {"execute_tool one", "execute_tool three"},
    }
    first, second = spans.named("turn")
    assert [attribute(turn, "skillmesh.turn") for turn in (first, second)] == [1, 2]
    for name in NAMES:
        assert parent_of(spans.one(f"execute_tool {name}"), everything) is first
    root = spans.one(ROOT)
    started = events[0]
    assert isinstance(started, RunStarted)
    assert started.trace_id == ending(events).trace_id == f"{trace_id(root):032x}"
    for asked, chat in zip(endpoint.asked, spans.named("chat m-1"), strict=True):
        assert f"-{span_id(chat):016x}-" in asked.headers["traceparent"]


async def test_the_spans_say_what_was_decided() -> None:
    async with running(says("ok")) as (loop, _, spans):
        run = [event async for event in loop.run("q", session=Session("chat-1"), run_id="run-1")]
    root, turn = spans.one(ROOT), spans.one("turn")
    assert root.kind is SpanKind.INTERNAL
    assert attribute(root, "skillmesh.run.id") == attribute(turn, "skillmesh.run.id") == "run-1"
    assert attribute(root, "gen_ai.operation.name") == "invoke_agent"
    assert attribute(root, "gen_ai.agent.name") == "skillmesh"
    assert attribute(root, "gen_ai.conversation.id") == "chat-1"
    assert attribute(root, "gen_ai.usage.input_tokens") == 7
    assert attribute(turn, "skillmesh.shortlist") == NAMES
    assert attribute(turn, "skillmesh.shortlist.size") == 4
    assert attribute(turn, "skillmesh.catalogue.age_seconds") == 0
    assert attribute(spans.one("chat m-1"), "gen_ai.conversation.id") == "chat-1"
    assert ending(run).answer == "ok"


async def test_the_run_is_a_child_of_what_its_reader_does_and_leaves_its_context_alone() -> None:
    async with running(says("ok")) as (loop, _, spans):
        with span("the reader's"):
            before = trace.get_current_span()
            async for _event in loop.run("q", session=Session()):
                assert trace.get_current_span() is before
    assert parent_of(spans.one(ROOT), spans.all()) is spans.one("the reader's")


async def test_a_failed_run_shows_where_and_why() -> None:
    async with running(refuses(401)) as (loop, _, spans):
        end = ending(await events_of(loop))
    root = spans.one(ROOT)
    assert (root.status.status_code, root.status.description) == (StatusCode.ERROR, end.detail)
    assert attribute(root, "error.type") == "model_failed"
    assert attribute(spans.one("chat m-1"), "error.type") == "401"


async def test_an_abandoned_run_ends_all_its_spans() -> None:
    held = Reply(pieces=(data(chunk({"content": "hi"})), asyncio.Event()))
    async with running(held) as (loop, _, spans):
        run = loop.run("q", session=Session())
        async for event in run:
            if isinstance(event, TextDelta):
                break
        await run.aclose()
    for name in ("chat m-1", "turn", ROOT):
        assert attribute(spans.one(name), "error.type") == "cancelled"


async def test_content_is_recorded_only_where_capture_is_on(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(says("the answer")) as (loop, _, spans):
        await events_of(loop, "the question")
    assert "the question" not in repr([one.attributes for one in spans.all()])
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "SPAN_ONLY")
    async with running(says("the answer")) as (loop, _, spans):
        await events_of(loop, "the question")
    root = spans.one(ROOT)
    assert "the question" in str(attribute(root, "gen_ai.input.messages"))
    assert "the answer" in str(attribute(root, "gen_ai.output.messages"))
