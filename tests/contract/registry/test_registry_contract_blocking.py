"""Blocking queries, on the development registry and on a real Consul agent."""

import asyncio
import time

import consul
import pytest

from tests.support.registry_contract import PATIENCE, Registry, next_change, register, ttl

pytestmark = pytest.mark.asyncio(loop_scope="module")


# --- blocking queries


async def test_a_waiting_query_wakes_at_a_registration(registry: Registry) -> None:
    name = registry.name()
    index, _ = await registry.client.health.service(name)
    waiting = asyncio.create_task(next_change(registry, name, index))
    service_id = await register(registry, name, check=ttl())
    later, entries = await waiting
    assert int(later) > int(index)
    assert [entry["Service"]["ID"] for entry in entries] == [service_id]


async def test_a_waiting_query_wakes_at_a_change_of_health(registry: Registry) -> None:
    name = registry.name()
    service_id = await register(registry, name, check=ttl())
    index, _ = await registry.client.health.service(name)
    waiting = asyncio.create_task(next_change(registry, name, index))
    await registry.client.agent.check.ttl_fail(f"service:{service_id}")
    later, entries = await waiting
    assert int(later) > int(index)
    assert entries[0]["Checks"][-1]["Status"] == "critical"


async def test_a_query_with_an_old_index_is_answered_at_once(registry: Registry) -> None:
    name = registry.name()
    await register(registry, name, check=ttl())
    started = time.monotonic()
    index, _ = await next_change(registry, name, "1", wait="60s")
    assert time.monotonic() - started < 2
    assert int(index) > 1


async def test_a_query_that_nothing_wakes_comes_back_unchanged_after_its_wait(registry: Registry) -> None:
    name = registry.name()
    await register(registry, name, check=ttl())
    index, before = await registry.client.health.service(name)
    started = time.monotonic()
    later, after = await next_change(registry, name, index, wait="300ms")
    assert 0.29 <= time.monotonic() - started < 2
    assert (later, after) == (index, before)


async def test_a_change_of_another_service_changes_no_index(registry: Registry) -> None:
    name, other = registry.name(), registry.name()
    await register(registry, name, check=ttl())
    index, _ = await registry.client.health.service(name)
    await register(registry, other, check=ttl())
    assert (await registry.client.health.service(name))[0] == index
    waiting = asyncio.create_task(next_change(registry, name, index, wait="500ms"))
    await registry.client.agent.check.ttl_fail(f"service:{other}-a")
    later, _ = await waiting
    assert later == index


async def test_a_repeated_heartbeat_wakes_nobody(registry: Registry) -> None:
    name = registry.name()
    service_id = await register(registry, name, check=ttl())
    check_id = f"service:{service_id}"
    await registry.client.agent.check.ttl_pass(check_id, notes="1")
    index, _ = await registry.client.health.service(name)
    await registry.client.agent.check.ttl_pass(check_id, notes="2")
    assert (await registry.client.health.service(name))[0] == index


async def test_registering_the_same_again_wakes_nobody(registry: Registry) -> None:
    name = registry.name()
    await register(registry, name, check=ttl())
    index, _ = await registry.client.health.service(name)
    services_index, _ = await registry.client.catalog.services()
    await register(registry, name, check=ttl())
    assert (await registry.client.health.service(name))[0] == index
    assert (await registry.client.catalog.services())[0] == services_index


async def test_the_list_of_services_wakes_at_a_new_name_and_not_at_health(registry: Registry) -> None:
    name = registry.name()
    service_id = await register(registry, name, check=ttl())
    index, _ = await registry.client.catalog.services()
    await registry.client.agent.check.ttl_fail(f"service:{service_id}")
    assert (await registry.client.catalog.services())[0] == index
    waiting = asyncio.create_task(registry.client.catalog.services(index=index, wait="5s"))
    another = registry.name()
    await register(registry, another, check=ttl())
    later, services = await asyncio.wait_for(waiting, PATIENCE)
    assert int(later) > int(index)
    assert another in services


async def test_checks_by_state_wake_at_any_change_of_health(registry: Registry) -> None:
    name = registry.name()
    service_id = await register(registry, name, check=ttl())
    index, _ = await registry.client.health.state("any")
    waiting = asyncio.create_task(registry.client.health.state("any", index=index, wait="5s"))
    await registry.client.agent.check.ttl_fail(f"service:{service_id}")
    later, checks = await asyncio.wait_for(waiting, PATIENCE)
    assert int(later) > int(index)
    assert {check["CheckID"]: check["Status"] for check in checks}[f"service:{service_id}"] == "critical"


@pytest.mark.parametrize("query", [{"index": "x"}, {"index": "1", "wait": "soon"}], ids=["index", "wait"])
async def test_a_blocking_query_that_cannot_be_read_is_refused(registry: Registry, query: dict[str, str]) -> None:
    with pytest.raises(consul.ConsulException):
        await registry.client.health.service("any", **query)
