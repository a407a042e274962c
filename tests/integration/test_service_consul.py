"""A skill service and a real Consul agent."""

import asyncio
import json
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from skillmesh.v1.skill_service_pb2 import DescribeRequest, InvokeRequest
from tests.support.consul_agent import ConsulAgent, consul_agent, find_consul
from tests.support.eventually import eventually
from tests.support.service_process import ServiceProcess, demo_service, stub_of

pytestmark = [
    pytest.mark.consul,
    pytest.mark.skipif(find_consul() is None, reason="no consul binary: set SKILLMESH_CONSUL_BIN"),
]


@pytest.fixture
async def consul() -> AsyncIterator[ConsulAgent]:
    async with consul_agent() as agent:
        yield agent


async def listed(agent: ConsulAgent, *, passing: bool = False) -> list[Any]:
    answer = await agent.get("/v1/health/service/demo" + ("?passing" if passing else ""))
    assert isinstance(answer, list)
    return answer


def registering(agent: ConsulAgent, **variables: str) -> dict[str, str]:
    return {"SKILLMESH_REGISTER": "true", "CONSUL_HTTP_ADDR": agent.http_addr, **variables}


async def until_passing(agent: ConsulAgent, seconds: float = 10.0) -> Any:
    async def one_passes() -> bool:
        return len(await listed(agent, passing=True)) == 1

    await eventually(one_passes, seconds)
    return (await listed(agent))[0]


async def fingerprint_of(service: ServiceProcess) -> str:
    async with stub_of(service.address) as stub:
        return (await stub.describe(DescribeRequest(), timeout=5)).fingerprint


async def test_a_service_registers_with_all_that_discovery_needs(consul: ConsulAgent) -> None:
    async with demo_service(**registering(consul)) as service:
        entry = await until_passing(consul)
        held = entry["Service"]
        host, _, port = service.address.rpartition(":")
        assert (held["ID"], held["Address"], held["Port"]) == (service.instance, host, int(port))
        assert held["Tags"] == ["skillmesh"]
        assert held["Meta"] == {
            "skillmesh_protocol": "1",
            "skillmesh_version": "1.2.3",
            "skillmesh_pid": str(service.pid),
            "skillmesh_fingerprint": await fingerprint_of(service),
        }
        check = next(item for item in entry["Checks"] if item["ServiceID"])
        assert check["Type"] == "grpc"
        assert check["CheckID"] == f"service:{service.instance}"
        # The agent's own check finds the health service of the skill service, not only the first status given.
        await service.says(f"Registered in Consul at {consul.url} as {service.instance}.")

        async def checked() -> bool:
            checks: Any = await consul.get("/v1/agent/checks")
            now = checks[f"service:{service.instance}"]
            return bool(now["Output"]) and now["Status"] == "passing"

        await eventually(checked, 6)


async def test_a_stopping_service_leaves_consul_first_and_finishes_what_runs(consul: ConsulAgent) -> None:
    async with demo_service(**registering(consul, SKILLMESH_DRAIN_SECONDS="0.3")) as service:
        await until_passing(consul)
        async with stub_of(service.address) as stub:
            request = InvokeRequest(skill="nap", arguments=json.dumps({"seconds": 1}).encode())
            running = [asyncio.ensure_future(stub.invoke(request, timeout=10)) for _ in range(10)]
            await eventually(lambda: service.stderr.count("nap begins") == 10)
            service.send(signal.SIGTERM)
            await service.says("Left Consul")
            assert await listed(consul) == []
            echoed = await stub.invoke(InvokeRequest(skill="echo", arguments=b'{"text":"hi"}'), timeout=5)
            assert echoed.result.structured == b'"hi"', "calls are answered until watchers had time"
            assert len(await asyncio.gather(*running)) == 10
            assert await service.ended(12) == 0


async def test_a_killed_service_is_critical_within_seconds(consul: ConsulAgent) -> None:
    async with demo_service(**registering(consul, SKILLMESH_CHECK_INTERVAL="0.5")) as service:
        await until_passing(consul)
        service.send(signal.SIGKILL)
        assert await service.ended() == -signal.SIGKILL
        started = time.monotonic()

        async def critical() -> bool:
            (entry,) = await listed(consul)
            return any(check["Status"] == "critical" for check in entry["Checks"])

        await eventually(critical, 5)
        assert time.monotonic() - started < 5


async def test_a_restarted_agent_has_the_service_again_within_seconds(consul: ConsulAgent) -> None:
    async with demo_service(**registering(consul)) as service:
        await until_passing(consul)
        await consul.stop()
        await consul.start()
        await until_passing(consul, 10)
        async with stub_of(service.address) as stub:
            await stub.invoke(InvokeRequest(skill="echo", arguments=b'{"text":"hi"}'), timeout=5)
        assert "Traceback" not in service.stderr


async def test_a_service_that_started_before_consul_joins_when_it_comes(consul: ConsulAgent) -> None:
    await consul.stop()
    async with demo_service(**registering(consul)) as service:
        await service.says("cannot be reached")
        await consul.start()
        await until_passing(consul, 10)


async def test_a_heartbeat_keeps_a_ttl_check_passing_and_its_end_is_seen(consul: ConsulAgent) -> None:
    variables = registering(consul, SKILLMESH_CHECK="ttl", SKILLMESH_CHECK_INTERVAL="0.5")
    async with demo_service(**variables) as service:
        entry = await until_passing(consul)
        check = next(item for item in entry["Checks"] if item["ServiceID"])
        assert check["Type"] == "ttl"
        until = time.monotonic() + 2.0  # longer than the TTL of 1.5 s
        while time.monotonic() < until:
            assert len(await listed(consul, passing=True)) == 1
            await asyncio.sleep(0.1)
        service.send(signal.SIGSTOP)

        async def critical() -> bool:
            return await listed(consul, passing=True) == []

        await eventually(critical, 4)
        service.send(signal.SIGCONT)
        await until_passing(consul, 4)


async def test_a_prerequisite_that_changes_is_told_to_consul(consul: ConsulAgent, tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    async with demo_service(
        **registering(consul, DEMO_FLAG=str(flag), SKILLMESH_PREREQUISITE_INTERVAL="0.2")
    ) as service:
        before = (await until_passing(consul))["Service"]["Meta"]["skillmesh_fingerprint"]
        flag.touch()

        async def changed() -> bool:
            (entry,) = await listed(consul)
            return bool(entry["Service"]["Meta"]["skillmesh_fingerprint"] != before)

        await eventually(changed, 10)
        (entry,) = await listed(consul)
        assert entry["Service"]["Meta"]["skillmesh_fingerprint"] == await fingerprint_of(service)
