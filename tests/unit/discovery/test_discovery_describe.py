import asyncio
import logging
from collections.abc import AsyncIterator
from random import Random

import pytest

from agent_core.discovery.describe import PARALLEL, Describer
from agent_core.domain.skill import Instance
from tests.support.descriptions import FakeDescribe, descriptor
from tests.support.eventually import eventually


def instance(name: str, service: str = "s", fingerprint: str = "f1") -> Instance:
    return Instance(name, service, f"ipv4:127.0.0.1:{7000 + len(name)}", fingerprint)


@pytest.fixture
def describe() -> FakeDescribe:
    return FakeDescribe()


@pytest.fixture
def changed() -> list[str]:
    return []


@pytest.fixture
async def describer(describe: FakeDescribe, changed: list[str]) -> AsyncIterator[Describer]:
    one = Describer(describe, changed.append, Random(1))  # noqa: S311  # a test's jitter
    yield one
    await one.stop()


async def test_one_instance_is_asked_for_all_of_one_fingerprint(
    describer: Describer, describe: FakeDescribe, changed: list[str]
) -> None:
    group = [instance("a"), instance("bb"), instance("ccc")]
    describer.follow("s", group)
    assert not describer.tried("s")
    await eventually(lambda: bool(changed))
    assert len(describe.asked) == 1
    assert all(describer.of(one) is not None for one in group)
    assert describer.tried("s")
    describer.follow("s", [*group, instance("dddd")])
    assert describer.of(instance("dddd")) is not None
    assert len(describe.asked) == 1


async def test_without_a_fingerprint_each_new_instance_is_asked_also_one_that_comes_back(
    describer: Describer, describe: FakeDescribe
) -> None:
    a, b = instance("a", fingerprint=""), instance("b", fingerprint="")
    describer.follow("s", [a, b])
    await eventually(lambda: bool(describer.of(a) and describer.of(b)))
    assert sorted(describe.asked) == ["a", "b"]
    describer.follow("s", [b])
    describer.follow("s", [a, b])
    assert describer.of(a) is None
    await eventually(lambda: bool(describer.of(a)))
    assert sorted(describe.asked) == ["a", "a", "b"]


async def test_a_fingerprint_that_comes_back_is_not_asked_again(describer: Describer, describe: FakeDescribe) -> None:
    describer.follow("s", [instance("a")])
    await eventually(lambda: bool(describer.of(instance("a"))))
    describer.follow("s", [])
    assert describer.of(instance("a")) is None
    describer.follow("s", [instance("bb")])
    assert describer.of(instance("bb")) is not None
    assert describe.asked == ["a"]


async def test_where_one_instance_fails_another_is_tried(describer: Describer, describe: FakeDescribe) -> None:
    describe.fails("a")
    describe.fails("bb")
    describer.follow("s", [instance("a"), instance("bb"), instance("ccc")])
    await eventually(lambda: bool(describer.of(instance("a"))))
    assert describer.problems("s") == ()


async def test_a_failure_is_told_and_tried_again(
    describer: Describer, describe: FakeDescribe, changed: list[str]
) -> None:
    describe.fails("a")
    describer.follow("s", [instance("a")])
    await eventually(lambda: bool(changed))
    assert describer.problems("s") == ("a could not be described (it cannot be reached); it is asked again.",)
    assert describer.tried("s")
    describe.says("a", descriptor("x"))
    await eventually(lambda: bool(describer.of(instance("a"))))
    assert describer.problems("s") == ()


async def test_a_new_instance_is_tried_at_once_where_the_others_fail(
    describer: Describer, describe: FakeDescribe
) -> None:
    describe.fails("a")
    describer.follow("s", [instance("a")])
    await eventually(lambda: len(describe.asked) >= 3)  # the waits have grown by now
    describer.follow("s", [instance("a"), instance("bb")])
    await eventually(lambda: bool(describer.of(instance("a"))), 0.5)


async def test_a_describe_that_breaks_in_an_unknown_way_counts_as_a_failure(
    describer: Describer, describe: FakeDescribe, caplog: pytest.LogCaptureFixture
) -> None:
    describe.fails("a", ZeroDivisionError("oops"))
    describer.follow("s", [instance("a")])
    with caplog.at_level(logging.WARNING):
        await eventually(lambda: bool(describer.problems("s")))
    assert "unexpected ZeroDivisionError" in describer.problems("s")[0]
    assert "oops" in caplog.text


async def test_questions_are_bounded_in_number(describer: Describer, describe: FakeDescribe) -> None:
    describe.hold = asyncio.Event()
    for n in range(50):
        describer.follow(f"s{n}", [instance(f"i{n}", f"s{n}")])
    await eventually(lambda: describe.running == PARALLEL)
    describe.hold.set()
    await eventually(lambda: all(describer.of(instance(f"i{n}", f"s{n}")) for n in range(50)))
    assert describe.most_running == PARALLEL


async def test_a_service_that_leaves_ends_its_question(describer: Describer, describe: FakeDescribe) -> None:
    describe.hold = asyncio.Event()
    describer.follow("s", [instance("a")])
    await eventually(lambda: bool(describe.running))
    describer.follow("s", [])
    await eventually(lambda: not describe.running)
    assert describer.tried("s")


async def test_a_refresh_asks_every_instance_and_replaces_what_it_said(
    describer: Describer, describe: FakeDescribe
) -> None:
    a, b = instance("a"), instance("bb")
    describer.follow("s", [a, b])
    await eventually(lambda: bool(describer.of(a)))
    describe.says("a", descriptor("new"))
    describe.fails("bb")
    await describer.refresh("s")
    new, kept = describer.of(a), describer.of(b)
    assert new is not None
    assert kept is not None
    assert [one.name for one in new.skills] == ["new"]
    assert [one.name for one in kept.skills] == ["s"]
    moved = instance("a", fingerprint="f2")
    describer.follow("s", [moved, b])
    describer.follow("s", [a, b])
    again = describer.of(a)
    assert again is not None
    assert [one.name for one in again.skills] == ["s"]


async def test_refreshes_of_one_service_at_one_time_are_one(describer: Describer, describe: FakeDescribe) -> None:
    describer.follow("s", [instance("a")])
    await eventually(lambda: bool(describer.of(instance("a"))))
    describe.asked.clear()
    await asyncio.gather(*(describer.refresh("s") for _ in range(20)))
    assert describe.asked == ["a"]


async def test_who_asks_for_a_refresh_after_it_began_gets_one_more_shared_with_all_who_come_meanwhile(
    describer: Describer, describe: FakeDescribe
) -> None:
    describer.follow("s", [instance("a")])
    await eventually(lambda: bool(describer.of(instance("a"))))
    describe.asked.clear()
    describe.hold = asyncio.Event()
    first = asyncio.create_task(describer.refresh("s"))
    await eventually(lambda: bool(describe.running))
    late = [asyncio.create_task(describer.refresh("s")) for _ in range(20)]
    await asyncio.sleep(0)
    describe.says("a", descriptor("new"))
    describe.hold.set()
    await asyncio.wait_for(asyncio.gather(first, *late), 5)
    assert describe.asked == ["a", "a"]
    seen = describer.of(instance("a"))
    assert seen is not None
    assert [one.name for one in seen.skills] == ["new"]
    await describer.refresh("s")
    assert describe.asked == ["a", "a", "a"]


async def test_nothing_is_kept_of_a_service_that_left_while_it_was_refreshed(
    describer: Describer, describe: FakeDescribe
) -> None:
    describer.follow("s", [instance("a")])
    await eventually(lambda: bool(describer.of(instance("a"))))
    describe.hold = asyncio.Event()
    refreshes = [asyncio.create_task(describer.refresh("s"))]
    await eventually(lambda: bool(describe.running))
    refreshes.append(asyncio.create_task(describer.refresh("s")))
    describer.follow("s", [])
    describe.hold.set()
    await asyncio.wait_for(asyncio.gather(*refreshes), 5)
    assert (describer._renewed, describer._refreshes, describer._subjects) == ({}, {}, {})


async def test_a_cancelled_refresh_leaves_the_question_to_the_others(
    describer: Describer, describe: FakeDescribe
) -> None:
    describer.follow("s", [instance("a")])
    await eventually(lambda: bool(describer.of(instance("a"))))
    describe.hold = asyncio.Event()
    first, second = (asyncio.create_task(describer.refresh("s")) for _ in range(2))
    await eventually(lambda: bool(describe.running))
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    describe.hold.set()
    await asyncio.wait_for(second, 1)
    assert describe.running == 0


async def test_refreshing_an_unknown_service_does_nothing(describer: Describer, describe: FakeDescribe) -> None:
    await describer.refresh("nobody")
    assert describe.asked == []
