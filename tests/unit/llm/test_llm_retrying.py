"""A model is asked again where that can help and nothing was shown."""

import time

import pytest

from agent_core.domain.errors import ModelError, PromptTooLongError
from agent_core.domain.events import Event, ModelRetried
from agent_core.domain.model import ModelChunk, ReasoningChunk, TextChunk
from agent_core.llm.retrying import RetryingChatModel, RetryPolicy
from tests.support.scripted_model import ScriptedModel, model_request, reply

OVERLOADED = ModelError("It failed (503).", retryable=True, status=503)
WHOLE: list[ModelChunk] = [TextChunk("hi"), reply("hi")]


def limited(seconds: float | None) -> ModelError:
    return ModelError("It limits requests (429).", retryable=True, status=429, retry_after=seconds)


class Waits:
    """Stands in for sleeping; time passes at once."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.seconds.append(seconds)


def retrying(model: ScriptedModel, waits: Waits, policy: RetryPolicy | None = None) -> RetryingChatModel:
    return RetryingChatModel(model, policy or RetryPolicy(), sleep=waits.sleep, jitter=lambda: 0.5)


async def chunks_of(
    model: RetryingChatModel, seconds: float = 20.0, events: list[Event] | None = None
) -> list[ModelChunk]:
    return [chunk async for chunk in model.stream(model_request(seconds=seconds, events=events))]


async def test_two_failures_and_a_reply_give_the_reply_and_are_told() -> None:
    events: list[Event] = []
    waits = Waits()
    model = ScriptedModel([OVERLOADED], [OVERLOADED], WHOLE)
    assert await chunks_of(retrying(model, waits), events=events) == WHOLE
    assert events == [
        ModelRetried(run_id="run-1", turn=1, message="It failed (503).", wait=0.25),
        ModelRetried(run_id="run-1", turn=1, message="It failed (503).", wait=0.5),
    ]
    assert waits.seconds == [0.25, 0.5]
    assert model.closed == 3


async def test_three_attempts_are_all() -> None:
    model = ScriptedModel([OVERLOADED], [OVERLOADED], [OVERLOADED], WHOLE)
    with pytest.raises(ModelError, match=r"It failed \(503\)\. Tried 3 times\.") as caught:
        await chunks_of(retrying(model, Waits()))
    assert len(model.requests) == 3
    assert (caught.value.retryable, caught.value.status) == (False, 503)


async def test_nothing_is_asked_again_once_text_was_shown() -> None:
    cut = ModelError("broke off", retryable=True)
    model = ScriptedModel([TextChunk("half"), cut], WHOLE)
    with pytest.raises(ModelError, match="broke off"):
        await chunks_of(retrying(model, Waits()))
    assert len(model.requests) == 1


async def test_a_stream_cut_before_any_text_is_asked_again() -> None:
    model = ScriptedModel([ReasoningChunk("hm"), ModelError("broke off", retryable=True)], WHOLE)
    assert await chunks_of(retrying(model, Waits())) == [ReasoningChunk("hm"), *WHOLE]


@pytest.mark.parametrize("error", [ModelError("401", status=401), PromptTooLongError("too long", status=400)])
async def test_what_cannot_pass_is_asked_once(error: ModelError) -> None:
    model = ScriptedModel([error], WHOLE)
    with pytest.raises(ModelError) as caught:
        await chunks_of(retrying(model, Waits()))
    assert caught.value is error
    assert len(model.requests) == 1


async def test_the_wait_is_never_less_than_asked() -> None:
    waits = Waits()
    await chunks_of(retrying(ScriptedModel([limited(2.0)], [limited(0.1)], WHOLE), waits))
    assert waits.seconds == [2.0, 2.0]  # the second by the backoff, which is longer


async def test_without_a_usable_wait_the_backoff_decides() -> None:
    waits = Waits()
    await chunks_of(retrying(ScriptedModel([limited(None)], WHOLE), waits))
    assert waits.seconds == [1.0]


async def test_a_wait_above_the_cap_fails_at_once_and_says_it() -> None:
    waits = Waits()
    with pytest.raises(ModelError, match="longer than the 60 s") as caught:
        await chunks_of(retrying(ScriptedModel([limited(3600)]), waits), seconds=10_000)
    assert waits.seconds == []
    assert caught.value.retry_after == 3600
    assert not caught.value.retryable


async def test_a_wait_beyond_the_deadline_fails_at_once() -> None:
    waits = Waits()
    with pytest.raises(ModelError, match=r"Only .* s of the run are left"):
        await chunks_of(retrying(ScriptedModel([limited(30)]), waits), seconds=5)
    assert waits.seconds == []


async def test_the_clock_and_the_sleep_are_real_where_none_is_given() -> None:
    policy = RetryPolicy(first_wait=0.01)
    model = RetryingChatModel(ScriptedModel([OVERLOADED], WHOLE), policy)
    began = time.monotonic()
    assert await chunks_of(model) == WHOLE
    assert time.monotonic() - began >= 0.008
    assert model.name == "scripted-1"
