"""More services than long polls."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from agent_core.discovery.catalogue import ConsulCatalogue
from agent_core.discovery.overflow import read_marks
from agent_core.discovery.settings import DiscoverySettings
from tests.support.descriptions import FakeDescribe
from tests.support.eventually import eventually
from tests.support.scripted_consul import (
    CHECKS,
    SERVICES,
    Reply,
    ScriptedConsul,
    entry,
    health_of,
    scripted_consul,
    skill_services,
)

NAMES = ("a", "b", "c", "d")


def check(service: str, state: str = "passing", node: str = "n") -> dict[str, str]:
    return {"Node": node, "CheckID": f"service:{service}", "Status": state, "ServiceName": service}


@pytest.fixture
async def consul() -> AsyncIterator[ScriptedConsul]:
    async with scripted_consul() as scripted:
        scripted.script_now(SERVICES, Reply(skill_services(*NAMES), 1))
        scripted.script_now(CHECKS, Reply([check(name) for name in NAMES], 1))
        for n, name in enumerate(NAMES):
            scripted.script_now(health_of(name), Reply([entry(name, f"{name}1", 7000 + n)], 1))
        yield scripted


@pytest.fixture
async def source(consul: ScriptedConsul) -> AsyncIterator[ConsulCatalogue]:
    settings = DiscoverySettings(address=consul.address, max_watches=2, retry=0.1)
    one = ConsulCatalogue(settings, FakeDescribe(), lambda _event: None)
    await one.start()
    await one.wait_ready(5)
    await eventually(lambda: consul.holding == 4)
    yield one
    await one.stop()


async def test_services_beyond_the_limit_share_one_long_poll(consul: ScriptedConsul, source: ConsulCatalogue) -> None:
    assert sorted(source.catalogue.skills) == list(NAMES)
    polled = {asked.path for asked in consul.asked if asked.index}
    assert polled == {SERVICES, CHECKS, health_of("a"), health_of("b")}


async def test_a_check_that_changes_asks_about_its_service_alone(
    consul: ScriptedConsul, source: ConsulCatalogue
) -> None:
    before = len(consul.queries(health_of("d")))
    consul.script_now(health_of("c"), Reply([entry("c", "c1", 7002, checks=("critical",))], 2))
    await consul.script(CHECKS, Reply([check(name, "critical" if name == "c" else "passing") for name in NAMES], 2))
    await eventually(lambda: "c" not in source.catalogue.skills)
    assert len(consul.queries(health_of("d"))) == before


async def test_a_nodes_check_asks_about_all(consul: ScriptedConsul, source: ConsulCatalogue) -> None:
    asked = {name: len(consul.queries(health_of(name))) for name in ("c", "d")}
    serf = {"Node": "n", "CheckID": "serfHealth", "Status": "critical", "ServiceName": ""}
    await consul.script(CHECKS, Reply([*(check(name) for name in NAMES), serf], 2))
    await eventually(lambda: all(len(consul.queries(health_of(name))) > asked[name] for name in asked))
    assert len(source.catalogue.skills) == 4


async def test_a_service_moves_to_a_poll_of_its_own_when_one_is_free(
    consul: ScriptedConsul, source: ConsulCatalogue
) -> None:
    await consul.script(SERVICES, Reply(skill_services("b", "c"), 2))
    await eventually(lambda: sorted(source.catalogue.skills) == ["b", "c"])
    await eventually(lambda: consul.queries(health_of("c"))[-1].index > 0)
    await eventually(lambda: consul.holding == 3)


async def test_a_failed_question_is_asked_again_and_named_if_it_lasts(
    consul: ScriptedConsul, source: ConsulCatalogue
) -> None:
    consul.script_now(health_of("c"), Reply(status=500, text="x"), Reply(status=500, text="x"))
    await consul.script(CHECKS, Reply([check(name) for name in NAMES if name != "c"], 2))
    await eventually(lambda: [problem.service for problem in source.catalogue.problems] == ["c"])
    assert "c" in source.catalogue.skills
    consul.script_now(health_of("c"), Reply([], 3))
    await eventually(lambda: "c" not in source.catalogue.skills)


async def test_after_a_break_all_are_asked_anew(consul: ScriptedConsul, source: ConsulCatalogue) -> None:
    consul.script_now(health_of("c"), Reply([], 1))
    asked = len(consul.queries(health_of("c")))
    await consul.script(CHECKS, Reply(status=500))
    await consul.script(SERVICES, Reply(status=500), Reply(skill_services(*NAMES), 1))
    consul.script_now(CHECKS, Reply([], 1))
    await eventually(lambda: len(consul.queries(health_of("c"))) > asked)
    await asyncio.sleep(0)
    assert "c" in source.catalogue.skills  # in doubt: it may register again


def test_marks_are_read_from_what_is_readable() -> None:
    marks = read_marks([check("a"), check("a", node="m"), {"Node": "n", "ServiceName": None}, 7, None])
    assert len(marks["a"]) == 2
    assert len(marks[""]) == 1
    assert read_marks({"no": "list"}) == {}
