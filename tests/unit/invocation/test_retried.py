import asyncio

import pytest

from agent_core.domain.call import CallContext, ResultStatus, SkillCall, SkillResult
from agent_core.domain.errors import CallError, InvalidArgumentsError, NotSentError, TryLaterError
from agent_core.domain.events import AttemptFailed, Event
from agent_core.domain.skill import Effect
from agent_core.invocation.retried import RetryRules, retried
from agent_core.resilience.backoff import backoff
from agent_core.resilience.budget import SlidingBudget
from skillmesh.errors import RULES, ErrorKind, Ran
from tests.support.call_path_values import FakeClock, call_of, context, skill

OK = SkillResult(ResultStatus.SUCCESS, b"1", instance="i", attempts=1)
TRY_AGAIN = SkillResult(ResultStatus.RETRYABLE, b'"down"', instance="i", attempts=1)


def sent(kind: ErrorKind, *, on: str = "i1") -> CallError:
    """An error of an attempt that reached an instance."""
    error = CallError(kind, f"{kind.value} on {on}")
    error.instance = on
    return error


def overloaded(retry_after: float | None) -> CallError:
    error = TryLaterError(ErrorKind.OVERLOADED, "busy", retry_after=retry_after)
    error.instance = "i1"
    return error


class Bench:
    """One call through the layer above scripted outcomes, on a clock of its own."""

    def __init__(self, *outcomes: SkillResult | CallError, budget: SlidingBudget | None = None) -> None:
        self.clock = FakeClock()
        self.outcomes = list(outcomes)
        self.seen: list[SkillCall] = []
        self.events: list[Event] = []
        self.waits: list[float] = []
        self.rules = RetryRules(
            budget or SlidingBudget(clock=self.clock),
            lambda attempt: backoff(attempt, lambda _low, _high: 1.0),
            clock=self.clock,
            sleep=self._sleep,
        )

    async def run(self, effect: Effect = Effect.READ, seconds: float = 30.0) -> SkillResult:
        asked = context(seconds=seconds, now=self.clock, emit=self.events.append)
        return await retried(self.rules)(self._inner)(call_of(skill(effect=effect)), asked)

    async def error(self, effect: Effect = Effect.READ, seconds: float = 30.0) -> CallError:
        with pytest.raises(CallError) as caught:
            await self.run(effect, seconds)
        return caught.value

    async def _inner(self, call: SkillCall, _context: CallContext) -> SkillResult:
        self.seen.append(call)
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, CallError):
            raise outcome
        return outcome

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        await self.clock.sleep(seconds)


async def test_a_read_is_tried_again_elsewhere_with_growing_waits() -> None:
    bench = Bench(sent(ErrorKind.UNAVAILABLE, on="a"), sent(ErrorKind.DEADLINE_EXCEEDED, on="b"), OK)
    result = await bench.run()
    assert result.attempts == 3
    assert bench.waits == [0.1, 0.2]
    assert [one.attempt for one in bench.seen] == [1, 2, 3]
    assert [one.tried for one in bench.seen] == [frozenset(), {"a"}, {"a", "b"}]
    assert {one.id for one in bench.seen} == {"c1"}


async def test_after_three_attempts_the_first_error_is_shown() -> None:
    bench = Bench(sent(ErrorKind.DEADLINE_EXCEEDED), sent(ErrorKind.UNAVAILABLE), sent(ErrorKind.CONNECT_FAILED))
    error = await bench.error()
    assert (error.kind, error.attempts, error.instance) == (ErrorKind.DEADLINE_EXCEEDED, 3, "i1")


async def test_an_open_breaker_does_not_hide_why_it_opened() -> None:
    opened = TryLaterError(ErrorKind.BREAKER_OPEN, "open", retry_after=10.0)
    bench = Bench(sent(ErrorKind.DEADLINE_EXCEEDED), opened)
    error = await bench.error()
    assert (error.kind, error.attempts) == (ErrorKind.DEADLINE_EXCEEDED, 1)
    assert len([one for one in bench.events if isinstance(one, AttemptFailed)]) == 1


async def test_a_refused_call_is_no_attempt() -> None:
    bench = Bench(TryLaterError(ErrorKind.BREAKER_OPEN, "open", retry_after=10.0))
    error = await bench.error()
    assert (error.kind, error.attempts, error.instance, bench.events) == (ErrorKind.BREAKER_OPEN, 0, "", [])


@pytest.mark.parametrize("kind", [kind for kind in ErrorKind if not RULES[kind].retryable])
async def test_what_cannot_succeed_is_not_repeated(kind: ErrorKind) -> None:
    bench = Bench(sent(kind))
    assert (await bench.error()).kind is kind
    assert len(bench.seen) == 1


@pytest.mark.parametrize("effect", [Effect.IDEMPOTENT, Effect.WRITE])
@pytest.mark.parametrize("kind", [kind for kind in ErrorKind if RULES[kind].ran is not Ran.NO])
async def test_an_effect_that_may_have_happened_is_never_sent_again(effect: Effect, kind: ErrorKind) -> None:
    bench = Bench(sent(kind))
    error = await bench.error(effect)
    assert len(bench.seen) == 1
    assert error.kind is ErrorKind.OUTCOME_UNKNOWN
    assert error.instance == "i1"
    assert isinstance(error.__cause__, CallError)
    assert error.__cause__.kind is kind
    assert "calculator.calculate broke off" in error.for_model
    assert "may or may not have happened; do not repeat it" in error.for_model


@pytest.mark.parametrize("effect", list(Effect))
@pytest.mark.parametrize("kind", [ErrorKind.CONNECT_FAILED, ErrorKind.DRAINING, ErrorKind.CORRUPTED_REQUEST])
async def test_what_certainly_did_not_run_is_sent_again_whatever_its_effect(effect: Effect, kind: ErrorKind) -> None:
    bench = Bench(sent(kind), OK)
    assert (await bench.run(effect)).attempts == 2


async def test_a_write_that_breaks_at_its_second_attempt_is_unknown_all_the_same() -> None:
    bench = Bench(sent(ErrorKind.CONNECT_FAILED), sent(ErrorKind.UNAVAILABLE))
    error = await bench.error(Effect.WRITE)
    assert (error.kind, error.attempts) == (ErrorKind.OUTCOME_UNKNOWN, 2)


async def test_a_write_for_which_no_time_was_left_is_known_not_to_have_run() -> None:
    bench = Bench(NotSentError(ErrorKind.DEADLINE_EXCEEDED, "no time"))
    assert (await bench.error(Effect.WRITE, seconds=0.05)).kind is ErrorKind.DEADLINE_EXCEEDED


async def test_a_moved_schema_goes_up_at_once_even_after_other_errors() -> None:
    bench = Bench(sent(ErrorKind.UNAVAILABLE), sent(ErrorKind.SCHEMA_MOVED))
    error = await bench.error()
    assert (error.kind, error.attempts) == (ErrorKind.SCHEMA_MOVED, 2)


async def test_what_the_caller_can_mend_is_shown_even_after_other_errors() -> None:
    bench = Bench(sent(ErrorKind.UNAVAILABLE), InvalidArgumentsError("bad"))
    assert (await bench.error()).kind is ErrorKind.INVALID_ARGUMENTS


async def test_a_read_whose_dependency_was_down_is_tried_again() -> None:
    bench = Bench(TRY_AGAIN, OK)
    result = await bench.run()
    assert (result.status, result.attempts) == (ResultStatus.SUCCESS, 2)
    failed = bench.events[0]
    assert isinstance(failed, AttemptFailed)
    assert (failed.message, failed.retry_in) == ('"down"', 0.1)


async def test_the_last_retryable_result_leaves_the_first_to_be_shown() -> None:
    bench = Bench(TRY_AGAIN, sent(ErrorKind.UNAVAILABLE), sent(ErrorKind.UNAVAILABLE))
    result = await bench.run()
    assert (result.status, result.attempts) == (ResultStatus.RETRYABLE, 3)


async def test_a_retryable_result_of_a_write_stands() -> None:
    bench = Bench(TRY_AGAIN)
    assert (await bench.run(Effect.WRITE)).status is ResultStatus.RETRYABLE
    assert bench.events == []


async def test_a_failed_result_is_not_repeated() -> None:
    bench = Bench(SkillResult(ResultStatus.FAILED, instance="i", attempts=1))
    assert (await bench.run()).status is ResultStatus.FAILED


async def test_an_overloaded_skill_is_asked_again_when_it_says() -> None:
    bench = Bench(overloaded(0.7), OK)
    await bench.run(Effect.WRITE)
    assert bench.waits == [0.7]


async def test_an_overloaded_skill_that_does_not_say_when_is_left_alone() -> None:
    bench = Bench(overloaded(None))
    assert (await bench.error()).kind is ErrorKind.OVERLOADED
    assert not bench.waits


@pytest.mark.parametrize(("retry_after", "seconds"), [(5.0, 2.0), (None, 0.1)])
async def test_it_never_waits_past_the_deadline(retry_after: float | None, seconds: float) -> None:
    first = overloaded(retry_after) if retry_after else sent(ErrorKind.UNAVAILABLE)
    bench = Bench(first)
    await bench.error(seconds=seconds)
    assert not bench.waits


async def test_a_spent_budget_stops_retries_but_not_first_attempts() -> None:
    clock = FakeClock()
    budget = SlidingBudget(clock=clock, floor=0.1)
    first = Bench(sent(ErrorKind.UNAVAILABLE), OK, budget=budget)
    await first.run()
    second = Bench(sent(ErrorKind.UNAVAILABLE), budget=budget)
    await second.error()
    assert not second.waits


async def test_each_failed_attempt_is_an_event_that_says_when_the_next_one_comes() -> None:
    bench = Bench(sent(ErrorKind.UNAVAILABLE, on="a"), sent(ErrorKind.CRASHED, on="b"), sent(ErrorKind.UNAVAILABLE))
    await bench.error()
    events = [one for one in bench.events if isinstance(one, AttemptFailed)]
    assert [(one.attempt, one.instance, one.retry_in) for one in events] == [
        (1, "a", 0.1),
        (2, "b", 0.2),
        (3, "i1", None),
    ]
    assert {(one.run_id, one.call_id) for one in events} == {("r1", "c1")}


async def test_a_cancellation_during_the_wait_goes_out_at_once() -> None:
    waiting = asyncio.Event()

    async def sleep(_seconds: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    async def inner(_call: SkillCall, _context: CallContext) -> SkillResult:
        raise sent(ErrorKind.UNAVAILABLE)

    task = asyncio.ensure_future(
        retried(RetryRules(SlidingBudget(), backoff, sleep=sleep))(inner)(call_of(), context())
    )
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
