"""One suite for the live catalogue, on the development registry and on a real Consul agent."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from itertools import count

import aiohttp
import pytest
import pytest_asyncio

from agent_core.dev.registry.server import RegistryServer
from agent_core.discovery.catalogue import ConsulCatalogue
from agent_core.discovery.register import CoreEndpoint, CoreRegistration
from agent_core.discovery.settings import DiscoverySettings
from agent_core.domain.skill import Catalogue
from skillmesh.probe import serving
from tests.support.consul_agent import consul_agent, find_consul
from tests.support.descriptions import FakeDescribe, descriptor
from tests.support.dev_registry import dev_registry

pytestmark = pytest.mark.asyncio(loop_scope="module")

_numbers = count(1)


@dataclass
class Registry:
    """`lose_data`: the registry is killed and comes back, empty, at the same address."""

    port: int
    lose_data: Callable[[], Awaitable[None]]

    async def put(self, path: str, body: object = None) -> None:
        url = f"http://127.0.0.1:{self.port}{path}"
        async with aiohttp.ClientSession() as session, session.put(url, json=body) as reply:
            assert reply.status == 200, await reply.text()


@dataclass
class Mesh:
    """A catalogue, and one service with a name that no other test uses."""

    registry: Registry
    describe: FakeDescribe = field(default_factory=FakeDescribe)
    service: str = field(default_factory=lambda: f"service-{next(_numbers)}")

    def __post_init__(self) -> None:
        settings = DiscoverySettings(address=f"127.0.0.1:{self.registry.port}", keep=2.0, retry=0.2)
        self.source = ConsulCatalogue(settings, self.describe, lambda _event: None)
        self.describe.says(self.service, descriptor(self.skill))

    @property
    def skill(self) -> str:
        return self.service.replace("-", "_")

    async def register(self, instance: str = "a", port: int = 7001, **more: object) -> None:
        entry: dict[str, object] = {
            "Name": self.service,
            "ID": f"{self.service}-{instance}",
            "Address": "127.0.0.1",
            "Port": port,
            "Tags": ["skillmesh"],
            "Check": {"TTL": "60s", "Status": "passing"},
            **more,
        }
        await self.registry.put("/v1/agent/service/register", entry)

    async def check(self, action: str, instance: str = "a") -> None:
        await self.registry.put(f"/v1/agent/check/{action}/service:{self.service}-{instance}")

    def asked(self) -> int:
        """How often an instance of the service was described; other tests' services may still be there."""
        return len([one for one in self.describe.asked if one.startswith(f"{self.service}-")])

    def targets(self, catalogue: Catalogue | None = None) -> list[str]:
        """Where the service's skill is offered; `none` where the skill itself is not."""
        skill = (catalogue or self.source.catalogue).skills.get(self.skill)
        return [instance.target for instance in skill.instances] if skill else ["none"]

    async def offered(self, *targets: str, seconds: float = 5.0) -> None:
        async with asyncio.timeout(seconds):
            while self.targets() != list(targets or ["none"]):
                await self.source.changed(self.source.catalogue.version)


@pytest_asyncio.fixture(
    loop_scope="module",
    scope="module",
    params=[
        "development",
        pytest.param(
            "consul",
            marks=[
                pytest.mark.consul,
                pytest.mark.skipif(
                    find_consul() is None, reason="no consul binary: set SKILLMESH_CONSUL_BIN or put consul on PATH"
                ),
            ],
        ),
    ],
)
async def registry(request: pytest.FixtureRequest) -> AsyncIterator[Registry]:
    async with contextlib.AsyncExitStack() as stack:
        if request.param == "consul":
            agent = await stack.enter_async_context(consul_agent())

            async def restart_agent() -> None:
                await agent.stop()
                await agent.start()

            yield Registry(int(agent.http_addr.rpartition(":")[2]), restart_agent)
        else:
            first = await stack.enter_async_context(contextlib.AsyncExitStack())
            port = (await first.enter_async_context(dev_registry())).port

            async def restart_server() -> None:
                await first.aclose()
                await stack.enter_async_context(RegistryServer(serving, port=port))

            yield Registry(port, restart_server)


@pytest_asyncio.fixture(loop_scope="module")
async def mesh(registry: Registry) -> AsyncIterator[Mesh]:
    one = Mesh(registry)
    await one.source.start()
    await one.source.wait_ready(5)
    yield one
    await one.source.stop()


async def test_a_registered_service_is_offered_within_a_second_and_gone_with_its_entry(mesh: Mesh) -> None:
    assert mesh.targets() == ["none"]
    await mesh.register()
    await mesh.offered("ipv4:127.0.0.1:7001", seconds=1.0)
    await mesh.registry.put(f"/v1/agent/service/deregister/{mesh.service}-a")
    await mesh.offered(seconds=1.0)


async def test_a_service_without_the_tag_is_none_of_ours(mesh: Mesh) -> None:
    await mesh.register(Tags=["web"])
    await mesh.register("b", 7002)
    await mesh.offered("ipv4:127.0.0.1:7002")


async def test_a_check_that_fails_takes_an_instance_out_and_brings_it_back(mesh: Mesh) -> None:
    await mesh.register("a", 7001)
    await mesh.register("b", 7002)
    await mesh.offered("ipv4:127.0.0.1:7001", "ipv4:127.0.0.1:7002")
    await mesh.check("fail")
    await mesh.offered("ipv4:127.0.0.1:7002", seconds=1.0)
    await mesh.check("pass")
    await mesh.offered("ipv4:127.0.0.1:7001", "ipv4:127.0.0.1:7002", seconds=2.0)
    await mesh.check("warn")
    await mesh.offered("ipv4:127.0.0.1:7002", seconds=2.0)
    assert mesh.asked() <= 4


async def test_maintenance_takes_an_instance_out(mesh: Mesh) -> None:
    await mesh.register()
    await mesh.offered("ipv4:127.0.0.1:7001")
    await mesh.registry.put(f"/v1/agent/service/maintenance/{mesh.service}-a?enable=true")
    await mesh.offered()
    await mesh.registry.put(f"/v1/agent/service/maintenance/{mesh.service}-a?enable=false")
    await mesh.offered("ipv4:127.0.0.1:7001")


async def test_a_new_fingerprint_is_described_and_a_known_one_is_not(mesh: Mesh) -> None:
    await mesh.register("a", 7001, Meta={"skillmesh_fingerprint": "one"})
    await mesh.offered("ipv4:127.0.0.1:7001")
    await mesh.register("b", 7002, Meta={"skillmesh_fingerprint": "one"})
    await mesh.offered("ipv4:127.0.0.1:7001", "ipv4:127.0.0.1:7002")
    assert mesh.asked() == 1
    mesh.describe.says(mesh.service, descriptor(mesh.skill, "2.0.0"))
    await mesh.register("b", 7002, Meta={"skillmesh_fingerprint": "two", "skillmesh_version": "2.0.0"})
    await mesh.offered("ipv4:127.0.0.1:7002")
    skill = mesh.source.catalogue.skills[mesh.skill]
    assert (skill.descriptor.version, skill.instances[0].version) == ("2.0.0", "2.0.0")
    assert mesh.asked() == 2


async def test_addresses_of_all_kinds_become_targets(mesh: Mesh) -> None:
    await mesh.register("a", 7001, Address="::1")
    await mesh.register("b", 7002, Address="localhost")
    await mesh.register("c", 7003, Address="")
    await mesh.offered("ipv6:[::1]:7001", "dns:///localhost:7002", "ipv4:127.0.0.1:7003")


async def test_the_core_enters_itself_is_no_skill_service_and_leaves(mesh: Mesh) -> None:
    endpoint = CoreEndpoint(host="127.0.0.1", port=7400, version="1.0.0")
    core = CoreRegistration(DiscoverySettings(address=f"127.0.0.1:{mesh.registry.port}"), endpoint)
    await core.start()
    await core.wait_registered(5)
    await mesh.register()
    await mesh.offered("ipv4:127.0.0.1:7001")
    assert "skillmesh-core" not in mesh.source.catalogue.instances
    await core.stop()


async def test_a_registry_that_lost_its_data_empties_nothing_at_once(mesh: Mesh) -> None:
    await mesh.register("a", 7001)
    await mesh.register("b", 7002)
    await mesh.offered("ipv4:127.0.0.1:7001", "ipv4:127.0.0.1:7002")
    seen: list[list[str]] = []

    async def watch() -> None:
        version = mesh.source.catalogue.version
        while True:
            catalogue = await mesh.source.changed(version)
            version = catalogue.version
            seen.append(mesh.targets(catalogue))

    watching = asyncio.create_task(watch())
    await mesh.registry.lose_data()
    await mesh.register("a", 7001)
    await mesh.offered("ipv4:127.0.0.1:7001", seconds=15)  # b did not come back within `keep`
    watching.cancel()
    assert ["none"] not in seen
    assert mesh.source.catalogue.stale_since is None
    await mesh.registry.put(f"/v1/agent/service/deregister/{mesh.service}-a")
    await mesh.offered(seconds=2)
