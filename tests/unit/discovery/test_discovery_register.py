import logging
from collections.abc import AsyncIterator

import pytest

from agent_core.discovery.register import CoreEndpoint, CoreRegistration
from agent_core.discovery.settings import DiscoverySettings
from agent_core.domain.errors import RegistryError
from tests.support.eventually import eventually
from tests.support.scripted_consul import (
    Reply,
    ScriptedConsul,
    entry,
    health_of,
    scripted_consul,
    silent_server,
)

CORE = health_of("skillmesh-core")
REGISTER = "/v1/agent/service/register"
ENDPOINT = CoreEndpoint(host="::1", port=7400, version="1.0.0")
LEAVE = f"/v1/agent/service/deregister/{ENDPOINT.id}"


@pytest.fixture
async def consul() -> AsyncIterator[ScriptedConsul]:
    async with scripted_consul() as scripted:
        scripted.script_now(REGISTER, Reply({}))
        scripted.script_now(LEAVE, Reply({}))
        yield scripted


def registration(address: str, timeout: float = 5.0) -> CoreRegistration:
    return CoreRegistration(DiscoverySettings(address=address, token="s3cret", timeout=timeout, retry=0.05), ENDPOINT)


async def test_the_core_is_entered_with_a_check_of_its_own_service_and_leaves(consul: ScriptedConsul) -> None:
    consul.script_now(CORE, Reply([]), Reply([entry("skillmesh-core", ENDPOINT.id)]))
    one = registration(consul.address)
    await one.start()
    await one.wait_registered(5)
    body = consul.queries(REGISTER)[0].body
    assert isinstance(body, dict)
    assert (body["name"], body["id"], body["port"]) == ("skillmesh-core", "skillmesh-core--1-7400", 7400)
    assert body["checks"][0]["grpc"] == "[::1]:7400/skillmesh.v1.MeshService"
    assert body["checks"][0]["status"] == "passing"
    assert "tags" not in body
    assert consul.queries(REGISTER)[0].token == "s3cret"
    await one.stop()
    assert len(consul.queries(LEAVE)) == 1
    await one.stop()
    assert len(consul.queries(LEAVE)) == 1


async def test_dsc_09_a_registration_that_never_reaches_the_catalogue_is_told(
    consul: ScriptedConsul, caplog: pytest.LogCaptureFixture
) -> None:
    consul.script_now(CORE, Reply([]))
    one = registration(consul.address)
    await one.start()
    with caplog.at_level(logging.DEBUG):
        await eventually(lambda: bool(one.error), 8)
    with pytest.raises(RegistryError, match=r"ACL.*service:write"):
        await one.wait_registered(0.01)
    await one.stop()
    assert "s3cret" not in caplog.text


async def test_an_absent_consul_is_tried_again_and_said_once(
    consul: ScriptedConsul, caplog: pytest.LogCaptureFixture
) -> None:
    down = Reply(status=500, text="No cluster leader")
    consul.script_now(REGISTER, down, down)
    consul._replies[REGISTER].pop(0)
    consul.script_now(REGISTER, Reply({}))
    consul.script_now(CORE, Reply([entry("skillmesh-core", ENDPOINT.id)]))
    one = registration(consul.address)
    await one.start()
    await one.wait_registered(5)
    assert one.error == ""
    assert caplog.text.count("not registered") == 1
    await one.stop()


async def test_a_refusal_is_said(consul: ScriptedConsul) -> None:
    consul._replies[REGISTER].clear()
    consul.script_now(REGISTER, Reply(status=403, text="Permission denied"), Reply(status=404, text=""))
    one = registration(consul.address)
    await one.start()
    await eventually(lambda: "ACL" in one.error)
    await eventually(lambda: "404" in one.error)
    consul.script_now(REGISTER, Reply(status=400, text="Bad"))
    await eventually(lambda: "answers 400 (400 Bad)" in one.error)
    await one.stop()


async def test_stopping_is_bounded_where_consul_is_silent(caplog: pytest.LogCaptureFixture) -> None:
    async with silent_server() as silent:
        one = registration(f"127.0.0.1:{silent.port}", timeout=0.2)
        await one.start()
        await eventually(lambda: bool(silent.open))
        with pytest.raises(RegistryError):
            await one.wait_registered(0.05)
        await one.stop()
        await eventually(lambda: silent.open == 0)
    assert "stays in Consul" in caplog.text


def test_an_id_given_is_used() -> None:
    assert CoreEndpoint(host="h.example", port=1, version="", instance="mine").id == "mine"
    assert CoreEndpoint(host="h.example", port=1, version="").id == "skillmesh-core-h-example-1"
