"""How a registration is kept, against a registry in memory."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from skill_services.sdk.address import Address
from skill_services.sdk.registration import Pace, Registration
from skill_services.sdk.registry import Entry, RegistryError
from tests.support.eventually import eventually

ENTRY = Entry(
    service="calculator", instance="calc-1", address=Address("127.0.0.1", 7000), version="1", fingerprint="a", pid=1
)
PACE = Pace(look=0.01, first_retry=0.01, longest_retry=0.02, listing=(0.0, 0.0))


def as_held(entry: Entry) -> dict[str, Any]:
    return {
        "Service": entry.service,
        "Address": entry.address.host,
        "Port": entry.address.port,
        "Meta": entry.meta,
    }


class FakeRegistry:
    url = "http://consul"

    def __init__(self) -> None:
        self.entry: Entry | None = None
        self.error: str = ""
        self.lists = True
        self.shows = True
        self.registrations = 0
        self.beats = 0
        self.knows_check = True
        self.closed = False
        self.silent = False
        self.odd = False
        self.asked = 0

    def now(self) -> Entry | None:
        return self.entry

    async def register(self, entry: Entry) -> None:
        await self._fail()
        self.registrations += 1
        self.entry = entry
        self.knows_check = True

    async def held(self, _entry: Entry) -> Mapping[str, Any] | None:
        await self._fail()
        return as_held(self.entry) if self.entry and self.shows else None

    async def listed(self, _entry: Entry) -> bool:
        return self.lists and self.entry is not None

    async def beat(self, _entry: Entry) -> bool:
        await self._fail()
        self.beats += 1
        return self.knows_check and self.entry is not None

    async def deregister(self, _entry: Entry) -> None:
        await self._fail()
        self.entry = None

    async def close(self) -> None:
        self.closed = True

    async def _fail(self) -> None:
        self.asked += 1
        if self.odd:
            raise AttributeError("'int' object has no attribute 'get'")
        if self.silent:
            await asyncio.Event().wait()
        if self.error:
            raise RegistryError(self.error)


@asynccontextmanager
async def kept(registry: FakeRegistry, entry: Entry = ENTRY) -> AsyncIterator[Registration]:
    registration = Registration(registry, entry, PACE)
    registration.start()
    try:
        yield registration
    finally:
        registry.silent = False
        await registration.leave(1)
        assert registry.closed


async def test_an_entry_is_put_and_taken_out_again(caplog: pytest.LogCaptureFixture) -> None:
    registry = FakeRegistry()
    with caplog.at_level(logging.INFO, "skillmesh.sdk"):
        async with kept(registry) as registration:
            await eventually(lambda: registration.registered)
            assert registry.now() == ENTRY
            assert registration.problem == ""
    assert registry.now() is None
    assert [record.getMessage() for record in caplog.records] == [
        "Registered in Consul at http://consul as calc-1.",
        "Left Consul as calc-1.",
    ]


async def test_an_entry_that_is_lost_is_put_back() -> None:
    registry = FakeRegistry()
    async with kept(registry) as registration:
        await eventually(lambda: registration.registered)
        registry.entry = None
        await eventually(lambda: registry.entry is not None)
        await eventually(lambda: registration.registered)
    assert registry.registrations == 2


async def test_a_consul_that_is_away_is_tried_until_it_is_back_and_named_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    registry = FakeRegistry()
    registry.error = "Consul at http://consul cannot be reached (ClientConnectorError)."
    with caplog.at_level(logging.INFO, "skillmesh.sdk"):
        async with kept(registry) as registration:
            await eventually(lambda: registration.problem != "")
            await eventually(lambda: registry.asked >= 4)
            registry.error = ""
            await eventually(lambda: registration.registered)
    assert [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING] == [
        "Consul at http://consul cannot be reached (ClientConnectorError)."
    ]


async def test_an_answer_of_an_odd_shape_does_not_end_the_upkeep() -> None:
    registry = FakeRegistry()
    registry.odd = True
    async with kept(registry) as registration:
        await eventually(lambda: "odd shape (AttributeError)" in registration.problem)
        registry.odd = False
        await eventually(lambda: registration.registered)


async def test_a_changed_fingerprint_is_told_at_once() -> None:
    registry = FakeRegistry()
    slow = replace(PACE, look=60)
    registration = Registration(registry, ENTRY, slow)
    registration.start()
    await eventually(lambda: registration.registered)
    registration.update("a")
    registration.update("b")
    await eventually(lambda: registry.entry is not None and registry.entry.fingerprint == "b")
    await registration.leave(1)
    assert registry.registrations == 2


@pytest.mark.parametrize(("lists", "shows", "words"), [(False, True, "catalogue"), (True, False, "agent")])
async def test_a_registration_that_is_accepted_but_never_listed_is_an_acl_problem(
    lists: bool, shows: bool, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    registry = FakeRegistry()
    registry.lists, registry.shows = lists, shows
    async with kept(registry) as registration:
        await eventually(lambda: registration.problem != "")
        assert words in registration.problem
        assert "ACL" in registration.problem
        registry.lists = registry.shows = True
        await eventually(lambda: registration.registered)
    assert len([record for record in caplog.records if "ACL" in record.getMessage()]) == 1


async def test_an_id_that_another_live_process_has_taken_is_left_to_it() -> None:
    registry = FakeRegistry()
    other = replace(ENTRY, pid=2, address=Address("127.0.0.1", 7001))
    async with kept(registry) as registration:
        await eventually(lambda: registration.registered)
        registry.entry = other
        await eventually(lambda: registration.problem != "")
        assert "SKILLMESH_INSTANCE_ID" in registration.problem
        assert "127.0.0.1:7001, process 2" in registration.problem
        registration.update("b")
        asked = registry.asked
        await eventually(lambda: registry.asked >= asked + 3)
        assert registry.entry == other
    assert registry.entry == other, "leaving must not take out another's entry"


async def test_an_id_is_taken_back_once_the_other_is_gone() -> None:
    registry = FakeRegistry()
    async with kept(registry) as registration:
        await eventually(lambda: registration.registered)
        registry.entry = replace(ENTRY, pid=2)
        await eventually(lambda: registration.problem != "")
        registry.entry = None
        await eventually(lambda: registration.registered)
        assert registry.entry == ENTRY


async def test_what_a_killed_process_left_under_the_id_is_replaced() -> None:
    registry = FakeRegistry()
    registry.entry = replace(ENTRY, pid=2)
    async with kept(registry) as registration:
        await eventually(lambda: registration.registered)
        assert registry.entry == ENTRY


async def test_a_ttl_check_is_kept_alive_and_put_back_when_the_agent_forgot_it() -> None:
    registry = FakeRegistry()
    ttl = replace(ENTRY, ttl=True, interval=0.01)
    async with kept(registry, ttl) as registration:
        await eventually(lambda: registry.beats >= 3)
        assert registration.registered
        registry.knows_check = False
        await eventually(lambda: registry.registrations == 2)
        await eventually(lambda: registration.registered)


async def test_leaving_a_silent_consul_is_bounded_and_said(caplog: pytest.LogCaptureFixture) -> None:
    registry = FakeRegistry()
    registration = Registration(registry, ENTRY, PACE)
    registration.start()
    await eventually(lambda: registration.registered)
    registry.silent = True
    async with asyncio.timeout(1):
        await registration.leave(0.05)
    assert "did not answer within 0.05 s" in caplog.text
    assert registry.closed


async def test_leaving_before_anything_was_tried_asks_nothing_of_consul() -> None:
    registry = FakeRegistry()
    registry.silent = True
    registration = Registration(registry, ENTRY, PACE)
    await registration.leave(0.05)
    registration.start()
    await registration.leave(0.05)
    assert registry.registrations == 0
