"""The catalogue over a real Consul agent and real skill services."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator

import pytest

from agent_core.discovery.catalogue import ConsulCatalogue
from agent_core.discovery.settings import DiscoverySettings
from agent_core.domain.events import Event, RegistryFound, RegistryLost
from agent_core.transport.channels import Channels
from agent_core.transport.describe import GrpcDescribe
from tests.support.consul_agent import ConsulAgent, consul_agent, find_consul
from tests.support.eventually import eventually
from tests.support.service_process import demo_service

pytestmark = [
    pytest.mark.consul,
    pytest.mark.skipif(find_consul() is None, reason="no consul binary: set SKILLMESH_CONSUL_BIN"),
]


@pytest.fixture
async def agent() -> AsyncIterator[ConsulAgent]:
    async with consul_agent() as one:
        yield one


@pytest.fixture
def events() -> list[Event]:
    return []


@pytest.fixture
async def source(agent: ConsulAgent, events: list[Event]) -> AsyncIterator[ConsulCatalogue]:
    channels = Channels()
    settings = DiscoverySettings(address=agent.http_addr, heartbeat=1.0, timeout=1.5)
    one = ConsulCatalogue(settings, GrpcDescribe(channels), events.append)
    await one.start()
    await one.wait_ready(10)
    yield one
    await one.stop()
    await channels.close()


def registering(agent: ConsulAgent, **variables: str) -> dict[str, str]:
    return {"SKILLMESH_REGISTER": "true", "CONSUL_HTTP_ADDR": agent.http_addr, **variables}


async def serving(source: ConsulCatalogue, count: int, seconds: float) -> None:
    """Wait until the skill `echo` has this many instances."""
    async with asyncio.timeout(seconds):
        while instances(source) != count:
            await source.changed(source.catalogue.version)


def instances(source: ConsulCatalogue) -> int:
    skill = source.catalogue.skills.get("echo")
    return len(skill.instances) if skill else 0


async def test_dsc_05_a_service_comes_goes_and_is_missed_within_seconds_when_killed(
    agent: ConsulAgent, source: ConsulCatalogue
) -> None:
    async with demo_service(**registering(agent)) as first, demo_service(**registering(agent)) as second:
        await serving(source, 2, 10)
        assert source.catalogue.skills["echo"].descriptor.version == "1.2.3"
        first.send(signal.SIGTERM)
        await serving(source, 1, 2)
        await first.ended()
        assert [one.id for one in source.catalogue.skills["echo"].instances] == [second.instance]
        second.send(signal.SIGKILL)
        await serving(source, 0, 5)
        assert "echo" not in source.catalogue.skills
        assert any("not pass" in problem.sentence for problem in source.catalogue.problems)


async def test_consul_killed_and_back_without_its_data_costs_nothing(
    agent: ConsulAgent, source: ConsulCatalogue, events: list[Event]
) -> None:
    async with demo_service(**registering(agent)):
        await serving(source, 1, 10)
        await agent.stop()
        await eventually(lambda: source.catalogue.stale_since is not None)
        assert instances(source) == 1
        lowest = 1
        await agent.start()
        end = time.monotonic() + 25
        while not [event for event in events if isinstance(event, RegistryFound)]:
            async with asyncio.timeout_at(asyncio.get_running_loop().time() + 10):
                await source.changed(source.catalogue.version)
        services = await agent.get("/v1/catalog/services")
        while not (isinstance(services, dict) and "demo" in services):
            assert time.monotonic() < end
            lowest = min(lowest, instances(source))
            await asyncio.sleep(0.1)
            services = await agent.get("/v1/catalog/services")
        assert lowest == 1
        assert instances(source) == 1
        assert len([event for event in events if isinstance(event, RegistryLost)]) == 1
        assert source.catalogue.stale_since is None


async def test_a_frozen_consul_is_noticed_and_its_return_too(agent: ConsulAgent, source: ConsulCatalogue) -> None:
    async with demo_service(**registering(agent)) as service:
        await serving(source, 1, 10)
        os.kill(agent.pid, signal.SIGSTOP)
        try:
            await eventually(lambda: source.catalogue.stale_since is not None, 8)
            assert instances(source) == 1
        finally:
            os.kill(agent.pid, signal.SIGCONT)
        await eventually(lambda: source.catalogue.stale_since is None, 8)
        service.send(signal.SIGTERM)
        await serving(source, 0, 5)
