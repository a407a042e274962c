import asyncio
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.discovery.blocking import BlockingQuery, next_index
from agent_core.discovery.client import Answer
from agent_core.discovery.pace import Backoff, TokenBucket
from agent_core.domain.errors import RegistryError


@pytest.mark.parametrize(
    ("previous", "answered", "following"), [(0, 5, 5), (5, 5, 5), (5, 9, 9), (9, 5, 0), (0, 0, 1), (1, 1, 1)]
)
def test_an_index_that_goes_back_starts_again_and_none_is_below_one(
    previous: int, answered: int, following: int
) -> None:
    assert next_index(previous, answered) == following


@given(st.integers(0, 2**64), st.integers(0, 2**64))
def test_the_next_index_blocks_or_is_a_reset(previous: int, answered: int) -> None:
    following = next_index(previous, answered)
    assert following >= 1 or answered < previous


class Script:
    """Answers with these indexes (an error where it is one), then never again."""

    def __init__(self, *outcomes: int | RegistryError, burst: int = 100) -> None:
        self.burst = burst
        self.epoch = 0
        self._outcomes = list(outcomes)
        self.asked: list[int] = []
        self.heard: list[tuple[int, bool]] = []
        self.failures: list[RegistryError] = []
        self.spent = asyncio.Event()
        self.breaks: set[int] = set()

    async def ask(self, index: int, wait: float) -> Answer:
        del wait
        self.asked.append(index)
        if not self._outcomes:
            self.spent.set()
            await asyncio.Event().wait()
        outcome = self._outcomes.pop(0)
        if len(self.asked) in self.breaks:
            self.epoch += 1
        if isinstance(outcome, RegistryError):
            raise outcome
        return Answer(outcome, None, filtered=False)

    async def play(self) -> None:
        bucket = TokenBucket(lambda: 0.0, rate=1_000.0, burst=self.burst)  # never refilled
        backoff = Backoff(Random(1), first=0.001, most=0.001)  # noqa: S311  # a test's jitter
        query = BlockingQuery(self.ask, 10.0, (bucket, backoff), epoch=lambda: self.epoch)
        task = asyncio.create_task(
            query.follow(lambda answer, fresh: self.heard.append((answer.index, fresh)), self.failures.append)
        )
        async with asyncio.timeout(5):
            await self.spent.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_dsc_01_after_a_drop_the_answer_counts_and_the_next_query_starts_at_zero() -> None:
    script = Script(100, 40, 41)
    await script.play()
    assert script.asked == [0, 100, 0, 41]
    assert script.heard == [(100, True), (40, True), (41, False)]


async def test_a_failure_starts_again_from_zero_and_the_answer_after_it_is_fresh() -> None:
    script = Script(7, RegistryError("away"), RegistryError("away"), 8, 8)
    await script.play()
    assert script.asked == [0, 7, 0, 0, 8, 8]
    assert [fresh for _index, fresh in script.heard] == [True, True, False]
    assert len(script.failures) == 2


async def test_a_missing_index_is_no_reset_and_still_asks_to_block() -> None:
    script = Script(0, 0, 12, 0)
    await script.play()
    assert script.asked == [0, 1, 1, 12, 12]
    assert [fresh for _index, fresh in script.heard] == [True, False, False, False]


async def test_after_a_rest_it_looks_before_it_waits_and_then_waits_at_once() -> None:
    script = Script(5, 6, 7, 7, 7, burst=1)
    await script.play()
    # 5 at once; then each query follows a rest: look (6), look (7), look (7, nothing new), wait (7), look.
    assert script.asked == [0, 0, 0, 0, 7, 0]
    assert [fresh for _index, fresh in script.heard] == [True, False, False, False, False]


async def test_a_consul_that_came_during_a_rest_is_noticed_by_its_lower_index() -> None:
    script = Script(100, 3, 3, burst=1)
    await script.play()
    assert script.asked[:3] == [0, 0, 0]
    assert script.heard == [(100, True), (3, True), (3, False)]


async def test_a_break_that_somebody_else_noticed_starts_anew() -> None:
    script = Script(5, 6, 7)
    script.breaks.add(2)
    await script.play()
    assert script.asked == [0, 5, 0, 7]
    assert [fresh for _index, fresh in script.heard] == [True, False, True]


async def test_under_churn_the_rate_is_kept() -> None:
    loop = asyncio.get_running_loop()
    times: list[float] = []

    async def ask(index: int, _wait: float) -> Answer:
        times.append(loop.time())
        return Answer(index + 1, None, filtered=False)

    backoff = Backoff(Random(1), first=1.0)  # noqa: S311  # a test's jitter
    query = BlockingQuery(ask, 10.0, (TokenBucket(loop.time, rate=20.0), backoff))
    task = asyncio.create_task(query.follow(lambda _answer, _fresh: None, lambda _error: None))
    await asyncio.sleep(0.5)
    task.cancel()
    assert 3 <= len(times) <= 2 + 20 * 0.5 + 1
