"""The catalogue against a Consul whose every answer is scripted."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from agent_core.discovery.catalogue import ConsulCatalogue
from agent_core.discovery.settings import DiscoverySettings
from agent_core.domain.errors import ConfigError, RegistryError
from agent_core.domain.events import (
    CatalogueChanged,
    Event,
    NameClashed,
    NameFreed,
    RegistryFound,
    RegistryLost,
    ServiceQuarantined,
)
from agent_core.domain.ports import CatalogueSource
from agent_core.domain.skill import Catalogue
from tests.support.descriptions import FakeDescribe, descriptor
from tests.support.eventually import eventually
from tests.support.scripted_consul import (
    NODES,
    SELF,
    SERVICES,
    Reply,
    ScriptedConsul,
    entry,
    health_of,
    scripted_consul,
    silent_server,
    skill_services,
)


class Bench:
    """A scripted Consul, a fake Describe, and the catalogue between them."""

    def __init__(self, consul: ScriptedConsul, **settings: object) -> None:
        self.consul = consul
        self.describe = FakeDescribe()
        self.events: list[Event] = []
        settings = {"address": consul.address, "token": "s3cret", "retry": 0.1, **settings}
        self.source = ConsulCatalogue(
            DiscoverySettings(**settings),  # type: ignore[arg-type]  # the test's own words
            self.describe,
            self.events.append,
        )

    @property
    def now(self) -> Catalogue:
        return self.source.catalogue

    def stale_since(self) -> float | None:
        return self.now.stale_since

    async def until(self, *ids: str, service: str = "s", seconds: float = 5.0) -> None:
        """Wait until exactly these instances of the service are in the catalogue."""
        async with asyncio.timeout(seconds):
            while self.ids(service) != list(ids):
                await self.source.changed(self.now.version)

    def ids(self, service: str = "s") -> list[str]:
        return [one.id for one in self.now.instances.get(service, ())]

    def of(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]


@asynccontextmanager
async def bench(consul: ScriptedConsul, **settings: object) -> AsyncIterator[Bench]:
    one = Bench(consul, **settings)
    await one.source.start()
    try:
        yield one
    finally:
        await one.source.stop()


@pytest.fixture
async def consul() -> AsyncIterator[ScriptedConsul]:
    async with scripted_consul() as scripted:
        yield scripted


def script_one(consul: ScriptedConsul, *instances: str) -> None:
    consul.script_now(SERVICES, Reply(skill_services("s"), 10))
    consul.script_now(health_of("s"), Reply([entry("s", i, 7000 + n) for n, i in enumerate(instances)], 100))


async def test_a_service_is_offered_once_it_is_described(consul: ScriptedConsul) -> None:
    script_one(consul, "a", "b")
    async with bench(consul) as one:
        source: CatalogueSource = one.source
        assert not one.now.ready
        await one.source.wait_ready(5)
        skill = source.catalogue.skills["s"]
        assert [instance.id for instance in skill.instances] == ["a", "b"]
        assert skill.instances[0].target == "ipv4:127.0.0.1:7000"
        assert source.catalogue.ready
        assert source.catalogue.stale_since is None
        changed = one.of(CatalogueChanged)[-1]
        assert isinstance(changed, CatalogueChanged)
        assert (changed.skills, changed.instances) == (1, 2)
        assert (await source.changed(0)).version == source.catalogue.version


async def test_dsc_01_an_index_that_goes_back_misses_no_update(consul: ScriptedConsul) -> None:
    path = health_of("s")
    consul.script_now(SERVICES, Reply(skill_services("s"), 10))
    consul.script_now(path, Reply([entry("s", "a", 1)], 100))
    async with bench(consul) as one:
        await one.until("a")
        await eventually(lambda: consul.holding == 2)
        await consul.script(path, Reply([entry("s", "a", 1), entry("s", "b", 2)], 40))
        await one.until("a", "b", seconds=2.0)
        await consul.script(path, Reply([entry("s", "b", 2)], 41))
        await one.until("b", seconds=2.0)
        assert [asked.index for asked in consul.queries(path)][:3] == [0, 100, 0]


async def test_answers_without_end_cost_at_most_two_queries_a_second(consul: ScriptedConsul) -> None:
    consul.script_now(SERVICES, *(Reply(skill_services(), index) for index in (None, "x", 0, 5, 3, None, 9, 1, "", 7)))
    async with bench(consul) as one:
        await one.source.wait_ready(5)
        started = time.monotonic()
        await asyncio.sleep(1.5)
        assert len(consul.queries(SERVICES)) <= 2 + 2 * (time.monotonic() - started)


async def test_no_change_is_no_new_version(consul: ScriptedConsul) -> None:
    script_one(consul, "a")
    async with bench(consul) as one:
        await one.source.wait_ready(5)
        version = one.now.version
        await eventually(lambda: consul.holding == 2)
        await consul.script(health_of("s"), Reply([entry("s", "a")], 101))
        await eventually(lambda: len(consul.queries(health_of("s"))) >= 3)
        assert one.now.version == version


async def test_a_service_whose_describe_fails_never_empties_the_catalogue(consul: ScriptedConsul) -> None:
    consul.script_now(SERVICES, Reply(skill_services("good", "bad", "worse"), 10))
    consul.script_now(health_of("good"), Reply([entry("good", "g")], 1))
    consul.script_now(health_of("bad"), Reply([entry("bad", "b", 7001)], 1))
    consul.script_now(health_of("worse"), Reply("nonsense", 1))
    one = Bench(consul)
    one.describe.fails("bad")
    await one.source.start()
    try:
        await one.source.wait_ready(5)
        assert list(one.now.skills) == ["good"]
        assert {problem.service for problem in one.now.problems} == {"bad", "worse"}
        told = [event.service for event in one.of(ServiceQuarantined) if isinstance(event, ServiceQuarantined)]
        assert sorted(told) == ["bad", "worse"]
        one.describe.says("bad", descriptor("mended"))
        async with asyncio.timeout(5):
            while "mended" not in one.now.skills:
                await one.source.changed(one.now.version)
    finally:
        await one.source.stop()


async def test_a_name_clash_is_told_and_its_end_too(consul: ScriptedConsul) -> None:
    consul.script_now(SERVICES, Reply(skill_services("a"), 10))
    consul.script_now(health_of("a"), Reply([entry("a", "a1")], 1))
    consul.script_now(health_of("b"), Reply([entry("b", "b1", 7001)], 1))
    one = Bench(consul)
    one.describe.says("a", descriptor("run"))
    one.describe.says("b", descriptor("run"))
    await one.source.start()
    try:
        await one.until("a1", service="a")
        await one.source.wait_ready(5)
        assert list(one.now.skills) == ["run"]
        await eventually(lambda: consul.holding == 2)
        await consul.script(SERVICES, Reply(skill_services("a", "b"), 11))
        await eventually(lambda: list(one.now.skills) == ["a__run", "b__run"])
        assert one.of(NameClashed) == [NameClashed(name="run", services=("a", "b"))]
        await consul.script(SERVICES, Reply(skill_services("b"), 12))
        await eventually(lambda: list(one.now.skills) == ["run"])
        assert one.of(NameFreed) == [NameFreed(name="run", service="b")]
        assert one.now.skills["run"].service == "b"
    finally:
        await one.source.stop()


async def test_a_refresh_is_in_the_catalogue_when_it_returns(consul: ScriptedConsul) -> None:
    script_one(consul, "a")
    async with bench(consul) as one:
        await one.source.wait_ready(5)
        one.describe.says("s", descriptor("moved", "2.0.0"))
        await one.source.refresh("s")
        assert list(one.now.skills) == ["moved"]
        await one.source.refresh("nobody")


async def test_while_consul_fails_the_last_catalogue_serves_and_says_since_when(consul: ScriptedConsul) -> None:
    script_one(consul, "a")
    async with bench(consul) as one:
        await one.source.wait_ready(5)
        before = time.monotonic()
        down = Reply(status=500, text="No cluster leader")
        await consul.script(SERVICES, down, down)
        await consul.script(health_of("s"), down)
        await eventually(lambda: one.stale_since() is not None)
        assert (one.stale_since() or 0.0) >= before
        assert one.ids() == ["a"]
        assert "s" in one.now.skills
        assert "No cluster leader" in one.source.registry_error
        await consul.script(SERVICES, Reply(skill_services("s"), 10))
        await consul.script(health_of("s"), Reply([entry("s", "a"), entry("s", "b", 7001)], 101))
        await one.until("a", "b", seconds=8)
        assert one.stale_since() is None
        assert one.source.registry_error == ""
        assert len(one.of(RegistryLost)) == 1
        found = one.of(RegistryFound)[0]
        assert isinstance(found, RegistryFound)
        assert found.away > 0
        assert one.of(ServiceQuarantined) == []


async def test_a_consul_that_comes_back_empty_is_doubted_for_a_while(consul: ScriptedConsul) -> None:
    script_one(consul, "a", "b")
    async with bench(consul, keep=0.6) as one:
        await one.until("a", "b")
        await consul.script(SERVICES, Reply(status=500), Reply({"consul": []}, 1))
        await consul.script(health_of("s"), Reply([], 1))
        await eventually(lambda: bool(one.of(RegistryFound)))
        back = time.monotonic()
        await eventually(lambda: consul.queries(health_of("s"))[-1].index == 1)
        assert one.ids() == ["a", "b"]
        await one.until(seconds=3)
        assert time.monotonic() - back >= 0.5
        assert one.now.skills == {}


async def test_who_registers_again_in_time_is_never_missed(consul: ScriptedConsul) -> None:
    script_one(consul, "a", "b")
    async with bench(consul, keep=2.0) as one:
        await one.until("a", "b")
        await consul.script(SERVICES, Reply(status=500), Reply({"consul": []}, 1), Reply(skill_services("s"), 2))
        await consul.script(health_of("s"), Reply([], 1), Reply([entry("s", "a")], 2))
        await one.until("a", seconds=8)  # b did not come back
        assert "s" in one.now.skills
        sizes = [event.skills for event in one.of(CatalogueChanged) if isinstance(event, CatalogueChanged)]
        assert 0 not in sizes[sizes.index(1) :]


async def test_a_check_that_has_not_run_since_the_agents_restart_takes_nobody_out(consul: ScriptedConsul) -> None:
    script_one(consul, "a")
    async with bench(consul) as one:
        await one.until("a")
        silent = entry("s", "a", checks=("critical",))
        silent["Checks"] = [{"CheckID": "c", "Status": "critical", "Output": ""}]
        await consul.script(SERVICES, Reply(status=500), Reply(skill_services("s"), 1))
        await consul.script(health_of("s"), Reply([silent], 1))
        await eventually(lambda: consul.queries(health_of("s"))[-1].index == 1)
        assert one.ids() == ["a"]
        await consul.script(health_of("s"), Reply([entry("s", "a", checks=("critical",))], 2))
        await eventually(lambda: one.ids() == [])


async def test_dsc_09_a_view_that_is_empty_because_denied_is_kept_and_said(
    consul: ScriptedConsul, caplog: pytest.LogCaptureFixture
) -> None:
    script_one(consul, "a")
    async with bench(consul) as one:
        await one.until("a")
        consul.script_now(SELF, Reply(status=403, text="Permission denied"))
        await consul.script(SERVICES, Reply({}, 11))
        await eventually(lambda: bool(one.of(RegistryLost)))
        lost = one.of(RegistryLost)[0]
        assert isinstance(lost, RegistryLost)
        assert "ACL" in lost.message
        assert one.ids() == ["a"]
        before = len(consul.queries(SERVICES))
        await eventually(lambda: len(consul.queries(SERVICES)) > before + 1)  # asked again, and silent about it
        assert len(one.of(RegistryLost)) == 1
    assert caplog.text.count("registry lost") == 1
    assert "s3cret" not in caplog.text


async def test_dsc_09_a_denied_start_is_not_ready_and_says_why(consul: ScriptedConsul) -> None:
    consul.script_now(SELF, Reply(status=403, text="Permission denied"))
    consul.script_now(SERVICES, Reply({}, 11))
    async with bench(consul) as one:
        with pytest.raises(RegistryError, match="ACL"):
            await one.source.wait_ready(0.3)
        assert not one.now.ready


async def test_dsc_09_hidden_instances_of_a_listed_service_are_a_problem_of_it(consul: ScriptedConsul) -> None:
    script_one(consul)
    consul.script_now(NODES, Reply([]))
    async with bench(consul) as one:
        await one.source.wait_ready(5)
        assert "ACL" in one.now.problems[0].sentence


async def test_dsc_13_a_consul_that_is_silent_at_the_start_is_said_in_time() -> None:
    async with silent_server() as silent:
        settings = DiscoverySettings(address=f"127.0.0.1:{silent.port}", timeout=0.2)
        source = ConsulCatalogue(settings, FakeDescribe(), lambda _event: None)
        await source.start()
        with pytest.raises(RegistryError, match="did not answer"):
            await source.wait_ready(1.0)
        assert source.catalogue.stale_since is not None
        started = time.monotonic()
        await source.stop()
        assert time.monotonic() - started < 2.0
        await eventually(lambda: silent.open == 0)


async def test_dsc_13_before_the_first_failure_silence_is_said_as_such() -> None:
    async with silent_server() as silent:
        settings = DiscoverySettings(address=f"127.0.0.1:{silent.port}")
        source = ConsulCatalogue(settings, FakeDescribe(), lambda _event: None)
        await source.start()
        with pytest.raises(RegistryError, match="has not answered within"):
            await source.wait_ready(0.1)
        await source.stop()


async def test_dsc_13_long_polls_are_closed_on_stop_also_after_many_restarts(consul: ScriptedConsul) -> None:
    script_one(consul, "a")
    for _ in range(20):
        one = Bench(consul)
        await one.source.start()
        await one.source.wait_ready(5)
        await eventually(lambda: consul.holding == 2)
        await one.source.stop()
        await eventually(lambda: consul.holding == 0)


async def test_an_absent_consul_is_asked_at_most_once_a_second() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
    source = ConsulCatalogue(DiscoverySettings(address=f"127.0.0.1:{port}"), FakeDescribe(), lambda _event: None)
    await source.start()
    tries = 0

    async def count(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal tries
        tries += 1
        writer.close()

    server = await asyncio.start_server(count, "127.0.0.1", port)
    await asyncio.sleep(1.6)
    assert 1 <= tries <= 2
    with pytest.raises(RegistryError, match="cannot be reached"):
        await source.wait_ready(0.01)
    await source.stop()
    server.close()
    await server.wait_closed()


async def test_stopping_twice_or_before_the_start_is_harmless() -> None:
    source = ConsulCatalogue(DiscoverySettings(address="127.0.0.1:1"), FakeDescribe(), lambda _event: None)
    await source.stop()
    await source.start()
    await source.stop()
    await source.stop()


async def test_an_address_that_is_none_is_refused_at_once() -> None:
    with pytest.raises(ConfigError):
        ConsulCatalogue(DiscoverySettings(address="ftp://x"), FakeDescribe(), lambda _event: None)


async def test_a_describe_that_hangs_keeps_nobody_from_being_ready(consul: ScriptedConsul) -> None:
    script_one(consul, "a")
    one = Bench(consul, settle=0.3)
    one.describe.hold = asyncio.Event()
    await one.source.start()
    started = time.monotonic()
    await one.source.wait_ready(10)
    assert 0.3 <= time.monotonic() - started < 2
    assert one.now.skills == {}
    assert one.ids() == ["a"]
    await one.source.stop()
    assert one.describe.running == 0


async def test_a_burst_of_changes_becomes_few_catalogues(consul: ScriptedConsul) -> None:
    names = [f"s{n:03d}" for n in range(100)]
    consul.script_now(SERVICES, Reply(skill_services(*names), 10))
    for n, name in enumerate(names):
        consul.script_now(health_of(name), Reply([entry(name, f"{name}-1", 7000 + n)], 1))
    async with bench(consul) as one:
        await one.source.wait_ready(10)
        assert len(one.now.skills) == 100
        assert one.now.version <= 50
