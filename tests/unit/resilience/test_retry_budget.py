from hypothesis import given
from hypothesis import strategies as st

from agent_core.resilience.backoff import backoff
from agent_core.resilience.budget import SlidingBudget
from tests.support.call_path_values import FakeClock


def test_a_quiet_skill_may_retry_ten_times_a_second() -> None:
    budget = SlidingBudget(clock=FakeClock())
    assert sum(budget.withdraw("s") for _ in range(200)) == 100


def test_a_busy_skill_may_retry_a_fifth_of_its_calls_beyond_that() -> None:
    clock = FakeClock()
    budget = SlidingBudget(clock=clock)
    for _ in range(1_000):
        budget.deposit("s")
    assert sum(budget.withdraw("s") for _ in range(1_000)) == 300
    assert budget.withdraw("other")


def test_what_is_older_than_the_window_counts_no_more() -> None:
    clock = FakeClock()
    budget = SlidingBudget(clock=clock, floor=0)
    for _ in range(10):
        budget.deposit("s")
    clock.now += 9.0
    assert budget.withdraw("s")
    clock.now += 1.0
    assert not budget.withdraw("s")


def test_skills_that_left_are_forgotten() -> None:
    budget = SlidingBudget(clock=FakeClock(), floor=0)
    for _ in range(5):
        budget.deposit("s")
    budget.retain(frozenset())
    assert not budget.withdraw("s")


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 3)), max_size=200))
def test_extra_load_stays_within_a_fifth_plus_the_floor(steps: list[tuple[bool, float]]) -> None:
    clock = FakeClock()
    budget = SlidingBudget(clock=clock, floor=1)
    firsts, retries = 0, 0
    for first, wait in steps:
        clock.now += wait
        if first:
            budget.deposit("s")
            firsts += 1
        elif budget.withdraw("s"):
            retries += 1
    elapsed = clock.now - 1_000.0
    assert retries <= 0.2 * firsts + 10 + 1.0 * elapsed + 10


def test_waits_double_up_to_a_second_and_are_spread() -> None:
    middle = [backoff(attempt, lambda _low, _high: 1.0) for attempt in (1, 2, 3, 4, 5, 60)]
    assert middle == [0.1, 0.2, 0.4, 0.8, 1.0, 1.0]
    assert 0.08 <= backoff(1) <= 0.12
