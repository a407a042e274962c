import asyncio
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_services.sdk.errors import CallFailedError
from skill_services.sdk.limits import Places
from skillmesh.errors import ErrorKind

SOON = 5.0


def later(seconds: float = SOON) -> float:
    return time.monotonic() + seconds


async def test_places_are_given_in_order_of_arrival() -> None:
    places = Places(1, "Busy", 10)
    order: list[int] = []

    async def visit(number: int) -> None:
        await places.take(later())
        order.append(number)
        await asyncio.sleep(0)
        places.give_back()

    await asyncio.gather(*(visit(number) for number in range(5)))

    assert order == [0, 1, 2, 3, 4]


async def test_waiting_ends_before_the_deadline_with_a_refusal_that_says_when_to_come_back() -> None:
    places = Places(1, "Busy", 10)
    await places.take(later())
    deadline = later(0.3)

    with pytest.raises(CallFailedError, match="nothing ran") as caught:
        await places.take(deadline)

    assert time.monotonic() < deadline + 1
    assert caught.value.error.kind is ErrorKind.OVERLOADED
    assert caught.value.error.retry_after
    places.give_back()
    await places.take(later())


async def test_the_queue_is_bounded() -> None:
    places = Places(1, "Busy", 1)
    await places.take(later())
    waiting = asyncio.create_task(places.take(later()))
    await asyncio.sleep(0)

    with pytest.raises(CallFailedError):
        await places.take(later())

    places.give_back()
    await waiting


async def test_whoever_leaves_the_queue_leaves_no_gap() -> None:
    places = Places(1, "Busy", 10)
    await places.take(later())
    first = asyncio.create_task(places.take(later()))
    second = asyncio.create_task(places.take(later()))
    await asyncio.sleep(0)

    first.cancel()
    await asyncio.wait([first])
    places.give_back()

    await asyncio.wait_for(second, SOON)


async def test_whoever_is_cancelled_with_the_place_in_hand_passes_it_on() -> None:
    places = Places(1, "Busy", 10)
    await places.take(later())
    first = asyncio.create_task(places.take(later()))
    second = asyncio.create_task(places.take(later()))
    await asyncio.sleep(0)

    places.give_back()
    first.cancel()
    await asyncio.wait([first])

    await asyncio.wait_for(second, SOON)
    assert first.cancelled()


async def test_no_places_at_all_refuses_those_who_wait_at_once() -> None:
    places = Places(1, "Busy", 10)
    await places.take(later())
    waiting = asyncio.create_task(places.take(later(60)))
    await asyncio.sleep(0)

    places.resize(0)

    with pytest.raises(CallFailedError):
        await asyncio.wait_for(waiting, SOON)
    with pytest.raises(CallFailedError):
        await places.take(later(60))
    places.give_back()
    places.resize(1)
    await places.take(later())


@given(
    number=st.integers(1, 4),
    visits=st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=20),
)
async def test_there_are_never_more_inside_than_places_and_nobody_is_forgotten(
    number: int, visits: list[tuple[int, bool]]
) -> None:
    places = Places(number, "Busy", 100)
    inside, most, ended = 0, 0, 0

    async def visit(rounds: int) -> None:
        nonlocal inside, most, ended
        await places.take(later())
        inside += 1
        most = max(most, inside)
        try:
            for _ in range(rounds):
                await asyncio.sleep(0)
        finally:
            inside -= 1
            places.give_back()
        ended += 1

    tasks = [asyncio.create_task(visit(rounds)) for rounds, _ in visits]
    await asyncio.sleep(0)
    for task, (_, leaves) in zip(tasks, visits, strict=True):
        if leaves:
            task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=SOON)

    assert most <= number
    assert all(task.done() for task in tasks)
    assert ended >= sum(not leaves for _, leaves in visits)
    await places.take(later())


async def test_a_place_that_comes_too_late_is_not_given_to_whoever_has_no_time_to_use_it() -> None:
    places = Places(1, "Busy", 10)
    await places.take(later())
    late = asyncio.create_task(places.take(later(0.02)))
    patient = asyncio.create_task(places.take(later()))
    await asyncio.sleep(0)

    time.sleep(0.03)  # noqa: ASYNC251  # the loop itself is late
    places.give_back()

    await asyncio.wait_for(patient, SOON)
    with pytest.raises(CallFailedError):
        await late
