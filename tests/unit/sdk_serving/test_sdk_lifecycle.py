"""One service within this process: the order of its start and its end."""

import asyncio
import json
import time

import grpc
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from skill_services.sdk import SkillDefinitionError, skill
from skill_services.sdk.address import PortError
from skill_services.sdk.lifecycle import running_service
from skill_services.sdk.settings import ConsulAddress, ServiceSettings
from skillmesh.stubs import SkillServiceStub
from skillmesh.v1.skill_service_pb2 import InvokeRequest
from tests.support.consul_stand_in import StandInAgent, consul_stand_in
from tests.support.eventually import eventually


@skill(version="2.0.0", access="observer", effect="read")
async def double(number: int) -> int:
    """Use when a number must be doubled."""
    return number * 2


async def test_a_service_runs_within_a_test_and_is_traced() -> None:
    provider, exporter = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    settings = ServiceSettings(registered=False, drain_seconds=0)
    async with (
        running_service("doubler", [double], version="2.0.0", settings=settings, tracer_provider=provider) as service,
        grpc.aio.insecure_channel(str(service.address)) as channel,
    ):
        assert service.instance == f"doubler-127-0-0-1-{service.address.port}"
        assert service.registration is None
        request = InvokeRequest(skill="double", arguments=b'{"number":21}')
        reply = await SkillServiceStub(channel).invoke(request, timeout=5)
        assert json.loads(reply.result.structured) == 42
    (span,) = exporter.get_finished_spans()
    assert dict(span.attributes or {})["skillmesh.skill.version"] == "2.0.0"
    provider.shutdown()


@pytest.mark.parametrize("name", ["Doubler", "double_r", "-x", "x" * 64, "a/b", ""])
async def test_a_name_that_consul_and_dns_cannot_hold_is_refused(name: str) -> None:
    with pytest.raises(SkillDefinitionError, match="no service name"):
        async with running_service(name, [double], settings=ServiceSettings(registered=False)):
            pass


async def test_a_taken_port_is_an_error_that_leaves_nothing_behind() -> None:
    settings = ServiceSettings(registered=False, drain_seconds=0)
    before = asyncio.all_tasks()
    async with running_service("doubler", [double], settings=settings) as service:
        taken = ServiceSettings(registered=False, port=service.address.port)
        with pytest.raises(PortError, match="is in use"):
            async with running_service("other", [double], settings=taken):
                pass
    await eventually(lambda: asyncio.all_tasks() <= before)


async def test_the_entry_in_consul_comes_after_the_port_is_open_and_goes_before_it_closes() -> None:
    agent = StandInAgent()
    async with consul_stand_in(agent.answer) as consul:
        settings = ServiceSettings(consul_address=consul.address, drain_seconds=0, instance_id="doubler-a")
        async with running_service("doubler", [double], settings=settings) as service:
            registration = service.registration
            assert registration is not None
            await eventually(lambda: registration.registered)
            assert agent.reachable_at_registration
            assert agent.services["doubler-a"]["Port"] == service.address.port
        assert agent.services == {}
        assert agent.reachable_at_deregistration


async def test_a_consul_that_hangs_on_leaving_is_given_two_seconds() -> None:
    agent = StandInAgent()
    async with consul_stand_in(agent.answer) as consul:
        settings = ServiceSettings(consul_address=consul.address, drain_seconds=0)
        async with running_service("doubler", [double], settings=settings) as service:
            registration = service.registration
            assert registration is not None
            await eventually(lambda: registration.registered)
            agent.silent = True
            started = time.monotonic()
        assert 1.9 < time.monotonic() - started < 3.5


async def test_a_service_stops_before_it_ever_reached_consul() -> None:
    settings = ServiceSettings(consul_address=ConsulAddress("http", "127.0.0.1", 1), drain_seconds=0)
    async with running_service("doubler", [double], settings=settings) as service:
        assert service.registration is not None
        assert not service.registration.registered
