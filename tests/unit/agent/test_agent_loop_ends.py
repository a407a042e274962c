"""However a run ends, it says why, cancels what it began, and leaves the session in order."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Sequence

import pytest

from agent_core.agent.run import LoopSettings
from agent_core.agent.session import Session
from agent_core.domain.call import CallContext, SkillCall, SkillResult
from agent_core.domain.errors import CallError, ModelError, PromptTooLongError
from agent_core.domain.events import (
    FinishReason,
    TextDelta,
    Warned,
)
from agent_core.domain.model import (
    AssistantMessage,
    ModelChunk,
    ModelRequest,
    TextChunk,
    ToolMessage,
    UserMessage,
)
from tests.support.agent_parts import (
    agent_loop,
    ending,
    events_of,
    skill,
)
from tests.support.scripted_model import ScriptedModel, asks, city, reply, says

CITY = skill("city_time")


async def test_a_model_that_never_answers_meets_the_turn_limit() -> None:
    model = ScriptedModel(*(asks(city()) for _ in range(3)))
    session = Session()
    end = ending(await events_of(agent_loop(model, CITY, settings=LoopSettings(max_turns=3)), session=session))
    assert (end.reason, end.answer) == (FinishReason.TURN_LIMIT, "")
    assert end.detail == "The model still asked for skills after 3 turns (SKILLMESH_MAX_TURNS)."
    assert session.history[-1] == AssistantMessage(f"(There was no answer: {end.detail})")


async def test_a_model_that_fails_ends_the_run_with_its_sentence() -> None:
    end = ending(await events_of(agent_loop(ScriptedModel([ModelError("Check OPENAI_API_KEY.")]))))
    assert (end.reason, end.detail, end.answer) == (FinishReason.MODEL_FAILED, "Check OPENAI_API_KEY.", "")


@pytest.mark.parametrize("turn", [[], [reply("")], [TextChunk("x")]])
async def test_a_model_that_says_nothing_ends_the_run(turn: list[ModelChunk]) -> None:
    end = ending(await events_of(agent_loop(ScriptedModel(turn))))
    assert end.reason is FinishReason.MODEL_FAILED
    assert end.detail


async def test_a_fault_of_the_core_is_logged_and_shows_no_trace(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "agent_core.agent.run"):
        end = ending(await events_of(agent_loop(ScriptedModel([ZeroDivisionError("secret")]))))
    assert (end.reason, "secret" in end.detail) == (FinishReason.FAILED, False)
    assert "ZeroDivisionError" in caplog.text


class Nameless(ScriptedModel):
    """A model that fails where nobody expects it: before the run has begun."""

    @property
    def name(self) -> str:
        raise ZeroDivisionError("secret")


async def test_a_fault_before_the_run_ends_it_as_well(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "agent_core.agent.loop"):
        end = ending(await events_of(agent_loop(Nameless())))
    assert (end.reason, "secret" in end.detail) == (FinishReason.FAILED, False)
    assert "ZeroDivisionError" in caplog.text


class Endless:
    """A model that says one thing and then waits to be cancelled."""

    name = "endless"

    def __init__(self) -> None:
        self.ended = asyncio.Event()

    async def stream(self, _request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        try:
            yield TextChunk("hi")
            await asyncio.Event().wait()
        finally:
            self.ended.set()


async def test_the_deadline_ends_a_model_that_does_not() -> None:
    model = Endless()
    began = time.monotonic()
    end = ending(await events_of(agent_loop(model, settings=LoopSettings(run_timeout=0.1))))
    assert end.reason is FinishReason.DEADLINE
    assert "used up in turn 1" in end.detail
    assert model.ended.is_set()
    assert time.monotonic() - began < 2


async def test_a_model_error_at_the_deadline_is_the_deadline() -> None:
    class Late(Endless):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
            time.sleep(max(request.deadline - time.monotonic(), 0))  # noqa: ASYNC251 - no timeout may come first
            nothing: list[ModelChunk] = []
            for chunk in nothing:
                yield chunk
            raise ModelError("too late")

    end = ending(await events_of(agent_loop(Late(), settings=LoopSettings(run_timeout=0.05))))
    assert end.reason is FinishReason.DEADLINE


class Hanging:
    """A fan-out whose calls wait to be cancelled."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def __call__(self, _calls: Sequence[SkillCall], _context: CallContext) -> Sequence[SkillResult | CallError]:
        self.started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return []


async def test_the_deadline_cancels_calls_and_the_session_knows_that_they_may_have_run() -> None:
    fan_out, session = Hanging(), Session()
    loop = agent_loop(ScriptedModel(asks(city())), CITY, fan_out=fan_out, settings=LoopSettings(run_timeout=0.1))
    end = ending(await events_of(loop, session=session))
    assert end.reason is FinishReason.DEADLINE
    assert fan_out.cancelled.is_set()
    assert [type(message) for message in session.history] == [
        UserMessage,
        AssistantMessage,
        ToolMessage,
        AssistantMessage,
    ]
    assert "may have taken effect" in session.history[2].text


async def test_closing_the_iterator_cancels_the_calls_before_it_returns() -> None:
    fan_out, session = Hanging(), Session()
    run = agent_loop(ScriptedModel(asks(city())), CITY, fan_out=fan_out).run("q", session=session)
    async for _ in run:
        if fan_out.started.is_set():
            break
        await asyncio.sleep(0)
    await run.aclose()
    assert fan_out.cancelled.is_set()
    assert session.history[-1] == AssistantMessage("(There was no answer: The run was cancelled.)")


async def test_cancelling_the_reader_cancels_the_models_stream() -> None:
    model = Endless()
    told = asyncio.Event()

    async def read() -> None:
        async for event in agent_loop(model).run("q", session=Session()):
            if isinstance(event, TextDelta):
                told.set()

    task = asyncio.create_task(read())
    await told.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert model.ended.is_set()


async def test_str_16_a_third_cut_in_a_row_ends_the_run() -> None:
    model = ScriptedModel(*(asks(city(), finish="length") for _ in range(5)))
    end = ending(await events_of(agent_loop(model, CITY)))
    assert (end.reason, end.turns) == (FinishReason.MODEL_FAILED, 3)
    assert "SKILLMESH_MAX_TOKENS" in end.detail


async def test_a_conversation_that_is_too_long_is_shortened_and_the_session_learns_it() -> None:
    too_long = PromptTooLongError("too long", status=400)
    session = Session()
    session.commit([UserMessage("older"), AssistantMessage("o" * 30_000)])
    session.commit([UserMessage("old"), AssistantMessage("o" * 20_000)])
    model = ScriptedModel([too_long], [too_long], says("ok"), says("again"))
    loop = agent_loop(model)
    events = await events_of(loop, session=session)
    assert ending(events).answer == "ok"
    assert len([event for event in events if isinstance(event, Warned)]) == 1
    sizes = [sum(len(message.text) for message in request.messages) for request in model.requests]
    assert [size // 10_000 for size in sizes] == [5, 2, 0]
    assert session.context_bytes is not None
    await events_of(loop, session=session)
    assert len(model.requests) == 4  # the next run does not try what was refused


async def test_a_question_that_never_fits_ends_the_run() -> None:
    too_long = PromptTooLongError("It does not fit.", status=400)
    model = ScriptedModel(*([too_long] for _ in range(20)))
    end = ending(await events_of(agent_loop(model), "q" * 100_000))
    assert (end.reason, end.detail) == (FinishReason.MODEL_FAILED, "It does not fit.")
    assert len(model.requests) == 5
