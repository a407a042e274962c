from random import Random

from hypothesis import given
from hypothesis import strategies as st

from agent_core.discovery.pace import Backoff, TokenBucket


class ManualClock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_after_quiet_the_first_uses_are_immediate_and_the_next_wait() -> None:
    clock = ManualClock()
    bucket = TokenBucket(clock, rate=2.0, burst=2)
    assert [bucket.reserve() for _ in range(4)] == [0.0, 0.0, 0.5, 1.0]
    clock.now += 60
    assert bucket.reserve() == 0.0


@given(st.lists(st.floats(0.0, 3.0), max_size=60))
def test_whatever_comes_there_are_at_most_two_a_second_after_the_burst(gaps: list[float]) -> None:
    clock = ManualClock()
    bucket = TokenBucket(clock)
    used = []
    for gap in gaps:
        clock.now += gap
        clock.now += bucket.reserve()
        used.append(clock.now)
    for i, start in enumerate(used):
        for j in range(i, len(used)):
            assert j - i + 1 <= 2 + 1.6 * (used[j] - start) + 1e-6


def test_failures_wait_longer_up_to_a_few_seconds_never_under_one() -> None:
    backoff = Backoff(Random(1), first=1.0)  # noqa: S311  # a test's jitter
    delays = [backoff.delay() for _ in range(20)]
    assert all(1.0 <= delay <= 5.0 for delay in delays)
    assert delays[4] >= 4.0
    assert len(set(delays)) == 20
    backoff.reset()
    assert backoff.delay() < 1.3
