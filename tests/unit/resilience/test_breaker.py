import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.domain.errors import TryLaterError
from agent_core.domain.events import BreakerChanged, Event
from agent_core.domain.ports import Outcome
from agent_core.resilience.breaker import SkillBreakers
from skillmesh.errors import ErrorKind
from tests.support.call_path_values import FakeClock, skill

SKILL = skill()


def breakers(clock: FakeClock, events: list[Event] | None = None, fail_max: int = 5) -> SkillBreakers:
    return SkillBreakers((events if events is not None else []).append, fail_max=fail_max, clock=clock)


def fail(guard: SkillBreakers, times: int) -> None:
    for _ in range(times):
        guard.admit(SKILL).report(Outcome.FAILURE)


def test_consecutive_failures_open_the_breaker_and_later_calls_are_refused() -> None:
    clock = FakeClock()
    guard = breakers(clock, fail_max=2)
    fail(guard, 2)
    assert guard.state(SKILL) == "open"
    for _ in range(3):
        with pytest.raises(TryLaterError) as refused:
            guard.admit(SKILL)
        assert refused.value.kind is ErrorKind.BREAKER_OPEN
        assert refused.value.retry_after == pytest.approx(10.0)
        assert "calculator.calculate is temporarily unavailable" in refused.value.for_model


def test_a_success_in_between_starts_the_count_anew() -> None:
    guard = breakers(FakeClock())
    fail(guard, 4)
    guard.admit(SKILL).report(Outcome.SUCCESS)
    fail(guard, 4)
    assert guard.state(SKILL) == "closed"


def test_a_cancelled_call_counts_for_nothing() -> None:
    guard = breakers(FakeClock())
    fail(guard, 4)
    for _ in range(10):
        guard.admit(SKILL).report(Outcome.NOTHING)
    assert guard.state(SKILL) == "closed"
    fail(guard, 1)
    assert guard.state(SKILL) == "open"


def test_half_open_lets_one_probe_through_at_a_time() -> None:
    clock = FakeClock()
    guard = breakers(clock)
    fail(guard, 5)
    clock.now += 10.0
    probe = guard.admit(SKILL)
    assert probe.state == "half-open"
    for _ in range(20):
        with pytest.raises(TryLaterError):
            guard.admit(SKILL)
    probe.report(Outcome.SUCCESS)
    assert guard.state(SKILL) == "closed"
    assert guard.admit(SKILL).state == "closed"


def test_a_failed_probe_opens_it_again_for_a_whole_reset_time() -> None:
    clock = FakeClock()
    guard = breakers(clock)
    fail(guard, 5)
    clock.now += 10.0
    guard.admit(SKILL).report(Outcome.FAILURE)
    clock.now += 9.9
    with pytest.raises(TryLaterError):
        guard.admit(SKILL)
    clock.now += 0.1
    assert guard.admit(SKILL).state == "half-open"


def test_a_cancelled_probe_gives_its_slot_to_the_next_call() -> None:
    clock = FakeClock()
    guard = breakers(clock)
    fail(guard, 5)
    clock.now += 10.0
    guard.admit(SKILL).report(Outcome.NOTHING)
    assert guard.state(SKILL) == "half-open"
    assert guard.admit(SKILL).state == "half-open"


def test_a_probe_that_is_never_reported_cannot_keep_it_half_open() -> None:
    clock = FakeClock()
    guard = breakers(clock)
    fail(guard, 5)
    clock.now += 10.0
    lost = guard.admit(SKILL)
    clock.now += 10.0
    second = guard.admit(SKILL)
    lost.report(Outcome.NOTHING)
    with pytest.raises(TryLaterError):
        guard.admit(SKILL)
    second.report(Outcome.SUCCESS)
    assert guard.state(SKILL) == "closed"


def test_a_skill_slower_than_a_probes_time_closes_its_breaker_under_load() -> None:
    clock = FakeClock()
    guard = breakers(clock)
    fail(guard, 5)
    clock.now += 10.0
    first = guard.admit(SKILL)
    clock.now += 10.0
    second = guard.admit(SKILL)
    clock.now += 2.0
    first.report(Outcome.SUCCESS)
    assert guard.state(SKILL) == "closed"
    second.report(Outcome.FAILURE)
    assert guard.state(SKILL) == "closed"


def test_a_late_failure_of_a_probe_opens_it_again() -> None:
    clock = FakeClock()
    guard = breakers(clock)
    fail(guard, 5)
    clock.now += 10.0
    first = guard.admit(SKILL)
    clock.now += 10.0
    second = guard.admit(SKILL)
    first.report(Outcome.FAILURE)
    assert guard.state(SKILL) == "open"
    second.report(Outcome.SUCCESS)
    assert guard.state(SKILL) == "open"


def test_calls_admitted_before_it_opened_change_nothing_afterwards() -> None:
    clock = FakeClock()
    guard = breakers(clock)
    early = [guard.admit(SKILL) for _ in range(7)]
    fail(guard, 5)
    clock.now += 10.0
    probe = guard.admit(SKILL)
    for permit in early:
        permit.report(Outcome.SUCCESS)
    assert guard.state(SKILL) == "half-open"
    probe.report(Outcome.SUCCESS)
    assert guard.state(SKILL) == "closed"


def test_a_permit_counts_once() -> None:
    guard = breakers(FakeClock(), fail_max=2)
    permit = guard.admit(SKILL)
    permit.report(Outcome.FAILURE)
    permit.report(Outcome.FAILURE)
    assert guard.state(SKILL) == "closed"


def test_every_change_of_state_is_an_event() -> None:
    clock = FakeClock()
    events: list[Event] = []
    guard = breakers(clock, events)
    fail(guard, 5)
    clock.now += 10.0
    guard.admit(SKILL).report(Outcome.SUCCESS)
    assert events == [
        BreakerChanged(skill="calculator.calculate", old="closed", new="open"),
        BreakerChanged(skill="calculator.calculate", old="open", new="half-open"),
        BreakerChanged(skill="calculator.calculate", old="half-open", new="closed"),
    ]


def test_a_new_version_of_a_skill_keeps_its_breaker_and_another_skill_has_its_own() -> None:
    guard = breakers(FakeClock())
    fail(guard, 5)
    assert guard.state(skill(fingerprint="f2", version="2.0.0")) == "open"
    assert guard.state(skill("convert")) == "closed"
    assert guard.admit(skill("convert")).state == "closed"


def test_an_instance_that_serves_a_skill_anew_allows_a_probe_at_once() -> None:
    guard = breakers(FakeClock())
    fail(guard, 5)
    guard.retry_now("calculator.convert")
    with pytest.raises(TryLaterError):
        guard.admit(SKILL)
    guard.retry_now("calculator.calculate")
    assert guard.admit(SKILL).state == "half-open"


def test_skills_that_left_are_forgotten() -> None:
    guard = breakers(FakeClock())
    fail(guard, 5)
    guard.retain(frozenset())
    assert guard.state(SKILL) == "closed"


@given(st.lists(st.sampled_from([*Outcome, "wait", "lost"]), max_size=80))
def test_whatever_happens_one_probe_at_most_is_let_through_within_its_time(steps: list[Outcome | str]) -> None:
    clock = FakeClock()
    guard = breakers(clock, fail_max=2)
    probe_until = 0.0
    for step in steps:
        if step == "wait":
            clock.now += 4.0
            continue
        try:
            permit = guard.admit(SKILL)
        except TryLaterError:
            continue
        if permit.state == "half-open":
            assert clock.now >= probe_until
            probe_until = clock.now + 10.0
        if step != "lost":
            permit.report(Outcome(step))
            probe_until = 0.0
