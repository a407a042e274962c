"""Services, checks and maintenance, on the development registry and on a real Consul agent."""

import contextlib

import consul
import grpc
import pytest
from consul.exceptions import BadRequest
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from tests.support.registry_contract import Registry, next_change, passing, refused, register, ttl, until

pytestmark = pytest.mark.asyncio(loop_scope="module")


# --- agent and catalogue


async def test_the_agent_tells_its_node_and_datacentre(registry: Registry) -> None:
    config = (await registry.client.agent.self())["Config"]
    assert config["Datacenter"] == "dc1"
    assert config["NodeName"]
    _, nodes = await registry.client.catalog.nodes()
    assert [node["Node"] for node in nodes] == [config["NodeName"]]


async def test_there_is_a_leader_among_the_peers(registry: Registry) -> None:
    assert await registry.client.status.leader() in await registry.client.status.peers()


async def test_a_registered_service_is_seen_everywhere(registry: Registry) -> None:
    name = registry.name()
    service_id = await register(registry, name, tags=["skillmesh"], meta={"skillmesh_protocol": "1"}, check=ttl())
    _, entries = await registry.client.health.service(name)
    service = entries[0]["Service"]
    assert (service["ID"], service["Service"], service["Address"], service["Port"]) == (
        service_id, name, "127.0.0.1", 7001,
    )  # fmt: skip
    assert service["Meta"] == {"skillmesh_protocol": "1"}
    assert service["Tags"] == ["skillmesh"]
    assert service["Weights"] == {"Passing": 1, "Warning": 1}
    assert entries[0]["Node"]["Address"] == "127.0.0.1"
    assert {check["CheckID"] for check in entries[0]["Checks"]} == {"serfHealth", f"service:{service_id}"}
    _, services = await registry.client.catalog.services()
    assert services[name] == ["skillmesh"]
    _, catalogued = await registry.client.catalog.service(name)
    assert (catalogued[0]["ServiceID"], catalogued[0]["ServicePort"]) == (service_id, 7001)
    assert (await registry.client.agent.services())[service_id]["Meta"] == {"skillmesh_protocol": "1"}
    assert (await registry.client.agent.service_definition(service_id))["Port"] == 7001
    assert (await registry.client.agent.checks())[f"service:{service_id}"]["Type"] == "ttl"


async def test_weights_and_several_checks_are_kept(registry: Registry) -> None:
    name = registry.name()
    await registry.client.agent.service.register(
        name, service_id=name, port=1, check=ttl(), extra_checks=[ttl()], weights={"passing": 5, "warning": 2}
    )
    _, entries = await registry.client.health.service(name)
    assert entries[0]["Service"]["Weights"] == {"Passing": 5, "Warning": 2}
    _, checks = await registry.client.health.checks(name)
    assert sorted(check["CheckID"] for check in checks) == [f"service:{name}:1", f"service:{name}:2"]


async def test_a_new_check_is_critical_until_it_says_otherwise(registry: Registry) -> None:
    name = registry.name()
    await register(registry, name, check={"ttl": "30s"})
    assert await passing(registry, name) == []


async def test_the_passing_filter_keeps_out_warning_and_critical(registry: Registry) -> None:
    name = registry.name()
    for word, status in (("a", "passing"), ("b", "warning"), ("c", "critical")):
        await register(registry, name, f"{name}-{word}", check=ttl(status=status))
    assert await passing(registry, name) == [f"{name}-a"]
    _, entries = await registry.client.health.service(name)
    assert len(entries) == 3


async def test_one_failing_check_of_two_is_enough_to_keep_an_instance_out(registry: Registry) -> None:
    name = registry.name()
    await registry.client.agent.service.register(
        name, service_id=name, port=1, check=ttl(), extra_checks=[ttl(status="critical")]
    )
    assert await passing(registry, name) == []


async def test_tags_filter_instances(registry: Registry) -> None:
    name = registry.name()
    await register(registry, name, f"{name}-a", tags=["skillmesh", "gpu"], check=ttl())
    await register(registry, name, f"{name}-b", tags=["skillmesh"], check=ttl())
    _, entries = await registry.client.health.service(name, tag="gpu")
    assert [entry["Service"]["ID"] for entry in entries] == [f"{name}-a"]
    _, both = await registry.client.catalog.services()
    assert sorted(both[name]) == ["gpu", "skillmesh"]


async def test_a_filter_on_meta_chooses_instances(registry: Registry) -> None:
    name = registry.name()
    await register(registry, name, f"{name}-a", meta={"skillmesh_protocol": "1"}, check=ttl())
    await register(registry, name, f"{name}-b", meta={"skillmesh_protocol": "2"}, check=ttl())
    _, entries = await registry.client.health.service(name, filter_expr='Service.Meta.skillmesh_protocol == "1"')
    assert [entry["Service"]["ID"] for entry in entries] == [f"{name}-a"]


async def test_an_unreadable_filter_is_refused(registry: Registry) -> None:
    with pytest.raises(consul.ConsulException):
        await registry.client.health.service("any", filter_expr="bad")


async def test_an_unknown_service_has_no_instances(registry: Registry) -> None:
    index, entries = await registry.client.health.service(registry.name("nobody"))
    assert entries == []
    assert int(index) >= 1


async def test_registering_again_replaces_what_was_said(registry: Registry) -> None:
    name = registry.name()
    await register(registry, name, meta={"v": "1"}, check=ttl())
    await register(registry, name, meta={"v": "2"}, check=ttl())
    _, entries = await registry.client.health.service(name)
    assert [entry["Service"]["Meta"] for entry in entries] == [{"v": "2"}]


async def test_checks_that_are_not_named_again_go_only_where_that_is_asked_for(registry: Registry) -> None:
    name = registry.name()
    checks = [{"checkid": f"{name}-{word}", "name": word, **ttl()} for word in ("x", "y")]
    await registry.client.agent.service.register(
        name, service_id=name, port=1, check=checks[0], extra_checks=checks[1:]
    )
    await register(registry, name, name, check=checks[0])
    assert f"{name}-y" in await registry.client.agent.checks()
    await register(registry, name, name, check=checks[0], replace_existing_checks=True)
    known = await registry.client.agent.checks()
    assert f"{name}-y" not in known
    assert f"{name}-x" in known


@pytest.mark.parametrize(
    "check",
    [
        {"ttl": "soon"},
        {"interval": "2s"},
        {"ttl": "5s", "interval": "2s"},
        {"grpc": "127.0.0.1:1/x"},
        {"ttl": "5s", "status": "odd"},
    ],
    ids=["no duration", "nothing to check", "two kinds", "no interval", "unknown status"],
)
async def test_a_check_that_makes_no_sense_is_refused(registry: Registry, check: dict[str, str]) -> None:
    name = registry.name()
    with pytest.raises(BadRequest):
        await register(registry, name, check=check)
    _, entries = await registry.client.health.service(name)
    assert entries == []


async def test_a_service_without_a_name_is_refused(registry: Registry) -> None:
    with pytest.raises(consul.ConsulException):
        await registry.client.agent.service.register("")


# --- TTL checks


async def test_a_heartbeat_makes_an_instance_pass_and_a_failing_one_takes_it_out(registry: Registry) -> None:
    name = registry.name()
    service_id = await register(registry, name, check={"ttl": "30s"})
    check_id = f"service:{service_id}"
    assert await registry.client.agent.check.ttl_pass(check_id)
    assert await passing(registry, name) == [service_id]
    assert await registry.client.agent.check.ttl_warn(check_id, notes="slow")
    assert await passing(registry, name) == []
    assert (await registry.client.agent.checks())[check_id]["Output"] == "slow"
    assert await registry.client.agent.check.ttl_fail(check_id, notes="dead")
    assert (await registry.client.agent.checks())[check_id]["Status"] == "critical"


async def test_a_ttl_that_runs_out_turns_critical_and_wakes_who_waits(registry: Registry) -> None:
    name = registry.name()
    service_id = await register(registry, name, check=ttl("300ms"))
    await registry.client.agent.check.ttl_pass(f"service:{service_id}")
    index, entries = await registry.client.health.service(name)
    if entries[0]["Checks"][1]["Status"] == "passing":
        _, entries = await next_change(registry, name, index)
    statuses = {check["CheckID"]: check["Status"] for check in entries[0]["Checks"]}
    assert statuses[f"service:{service_id}"] == "critical"
    _, critical = await registry.client.health.state("critical")
    assert f"service:{service_id}" in [check["CheckID"] for check in critical]


async def test_a_heartbeat_brings_an_expired_instance_back(registry: Registry) -> None:
    name = registry.name()
    service_id = await register(registry, name, check=ttl("200ms"))

    async def gone() -> bool:
        return await passing(registry, name) == []

    await until(gone)
    await registry.client.agent.check.ttl_pass(f"service:{service_id}")
    assert await passing(registry, name) == [service_id]


async def test_a_heartbeat_for_an_unknown_check_is_refused(registry: Registry) -> None:
    assert await refused(registry.client.agent.check.ttl_pass(registry.name("nothing")))


# --- gRPC checks


class HealthServer:
    """A gRPC health server whose answer a test can change."""

    def __init__(self) -> None:
        self._server = grpc.aio.server()
        self.servicer = health.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self.servicer, self._server)
        self.port = self._server.add_insecure_port("127.0.0.1:0")

    async def say(self, status: str) -> None:
        await self.servicer.set("skillmesh.v1.SkillService", health_pb2.HealthCheckResponse.ServingStatus.Value(status))

    async def __aenter__(self) -> "HealthServer":
        await self.say("SERVING")
        await self._server.start()
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self._server.stop(None)


def grpc_check(port: int) -> dict[str, str]:
    check: dict[str, str] = consul.Check.grpc(
        f"127.0.0.1:{port}/skillmesh.v1.SkillService", "1s", timeout="500ms", deregister="1m"
    )
    return check


async def test_a_grpc_check_follows_the_health_service(registry: Registry) -> None:
    name = registry.name()
    async with HealthServer() as server:
        service_id = await register(registry, name, check=grpc_check(server.port))

        async def up() -> bool:
            return await passing(registry, name) == [service_id]

        async def down() -> bool:
            return await passing(registry, name) == []

        await until(up)
        await server.say("NOT_SERVING")
        await until(down)
        await server.say("SERVING")
        await until(up)
    await until(down)
    assert (await registry.client.agent.checks())[f"service:{service_id}"]["Type"] == "grpc"
    await registry.client.agent.service.deregister(service_id)


async def test_a_grpc_check_for_a_service_that_the_process_does_not_know_is_critical(registry: Registry) -> None:
    name = registry.name()
    async with HealthServer() as server:
        check = {"grpc": f"127.0.0.1:{server.port}/other.v1.Service", "interval": "1s", "status": "passing"}
        service_id = await register(registry, name, check=check)

        async def down() -> bool:
            return await passing(registry, name) == []

        await until(down)
        await registry.client.agent.service.deregister(service_id)


# --- deregistration and maintenance


async def test_a_deregistered_service_is_gone_with_its_checks(registry: Registry) -> None:
    name = registry.name()
    service_id = await register(registry, name, check=ttl())
    index, _ = await registry.client.health.service(name)
    assert await registry.client.agent.service.deregister(service_id)
    later, entries = await registry.client.health.service(name)
    assert entries == []
    assert int(later) > int(index)
    _, services = await registry.client.catalog.services()
    assert name not in services
    assert f"service:{service_id}" not in await registry.client.agent.checks()
    assert await registry.client.agent.service_definition(service_id) is None


async def test_deregistering_what_is_not_there_does_no_harm(registry: Registry) -> None:
    name = registry.name()
    await register(registry, name, check=ttl())
    with contextlib.suppress(consul.ConsulException):
        await registry.client.agent.service.deregister(registry.name("nothing"))
    assert len(await passing(registry, name)) == 1


async def test_maintenance_takes_an_instance_out_and_back_in(registry: Registry) -> None:
    name = registry.name()
    service_id = await register(registry, name, check=ttl())
    index, _ = await registry.client.health.service(name)
    assert await registry.client.agent.service.maintenance(service_id, "true", "moving")
    _, entries = await next_change(registry, name, index)
    notes = {check["CheckID"]: check["Notes"] for check in entries[0]["Checks"]}
    assert notes[f"_service_maintenance:{service_id}"] == "moving"
    assert await passing(registry, name) == []
    assert await registry.client.agent.service.maintenance(service_id, "false")
    assert await passing(registry, name) == [service_id]


async def test_maintenance_of_an_unknown_service_is_refused(registry: Registry) -> None:
    assert await refused(registry.client.agent.service.maintenance(registry.name("nothing"), "true"))
