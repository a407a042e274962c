"""Keys, locks and sessions, on the development registry and on a real Consul agent."""

import asyncio

import consul
import pytest
from consul.callback import CB

from tests.support.registry_contract import PATIENCE, Registry, register, ttl, until

pytestmark = pytest.mark.asyncio(loop_scope="module")


# --- keys


async def test_a_key_is_written_read_and_deleted(registry: Registry) -> None:
    key = registry.name("key/of")
    assert (await registry.client.kv.get(key))[1] is None
    assert await registry.client.kv.put(key, "värde", flags=7)
    _, entry = await registry.client.kv.get(key)
    assert (entry["Key"], entry["Value"].decode(), entry["Flags"]) == (key, "värde", 7)
    assert await registry.client.kv.delete(key)
    assert (await registry.client.kv.get(key))[1] is None


async def test_check_and_set_writes_only_over_what_was_read(registry: Registry) -> None:
    key = registry.name("key")
    assert await registry.client.kv.put(key, "1", cas=0)
    assert not await registry.client.kv.put(key, "2", cas=0)
    _, entry = await registry.client.kv.get(key)
    assert await registry.client.kv.put(key, "2", cas=entry["ModifyIndex"])
    assert not await registry.client.kv.put(key, "3", cas=entry["ModifyIndex"])
    assert not await registry.client.kv.delete(key, cas=entry["ModifyIndex"])
    _, entry = await registry.client.kv.get(key)
    assert entry["Value"] == b"2"
    assert await registry.client.kv.delete(key, cas=entry["ModifyIndex"])


async def test_keys_are_listed_by_prefix_and_up_to_a_separator(registry: Registry) -> None:
    top = registry.name("tree")
    for leaf in ("a/1", "a/2", "b"):
        await registry.client.kv.put(f"{top}/{leaf}", leaf)
    _, entries = await registry.client.kv.get(f"{top}/", recurse=True)
    assert [entry["Value"].decode() for entry in entries] == ["a/1", "a/2", "b"]
    _, names = await registry.client.kv.get(f"{top}/", keys=True, separator="/")
    assert names == [f"{top}/a/", f"{top}/b"]
    assert await registry.client.kv.delete(f"{top}/a", recurse=True)
    _, names = await registry.client.kv.get(top, keys=True)
    assert names == [f"{top}/b"]


async def test_a_waiting_query_wakes_at_a_write_to_its_key(registry: Registry) -> None:
    key = registry.name("key")
    await registry.client.kv.put(key, "1")
    index, _ = await registry.client.kv.get(key)
    waiting = asyncio.create_task(registry.client.kv.get(key, index=index, wait="5s"))
    await registry.client.kv.put(key, "2")
    later, entry = await asyncio.wait_for(waiting, PATIENCE)
    assert int(later) > int(index)
    assert entry["Value"] == b"2"


async def test_a_waiting_query_wakes_at_the_deletion_of_its_key(registry: Registry) -> None:
    key = registry.name("key")
    await registry.client.kv.put(key, "1")
    index, _ = await registry.client.kv.get(key)
    waiting = asyncio.create_task(registry.client.kv.get(key, index=index, wait="5s"))
    await registry.client.kv.delete(key)
    later, entry = await asyncio.wait_for(waiting, PATIENCE)
    assert int(later) > int(index)
    assert entry is None


async def test_writing_what_is_there_changes_no_index(registry: Registry) -> None:
    key = registry.name("key")
    await registry.client.kv.put(key, "1")
    index, _ = await registry.client.kv.get(key)
    await registry.client.kv.put(key, "1")
    assert (await registry.client.kv.get(key))[0] == index


async def test_a_value_of_more_than_512_kib_is_refused(registry: Registry) -> None:
    key = registry.name("key")
    assert await registry.client.kv.put(key, b"x" * 524_288)
    with pytest.raises(consul.ConsulException):
        await registry.client.kv.put(key, b"x" * 524_289)


# --- sessions


async def test_only_one_session_holds_a_lock(registry: Registry) -> None:
    key = registry.name("lock")
    mine = await registry.client.session.create(lock_delay=0)
    other = await registry.client.session.create(lock_delay=0)
    assert await registry.client.kv.put(key, "mine", acquire=mine)
    assert not await registry.client.kv.put(key, "other", acquire=other)
    assert await registry.client.kv.put(key, "again", acquire=mine)
    _, entry = await registry.client.kv.get(key)
    assert (entry["Session"], entry["LockIndex"], entry["Value"]) == (mine, 1, b"again")
    assert not await registry.client.kv.put(key, "", release=other)
    assert await registry.client.kv.put(key, "free", release=mine)
    assert await registry.client.kv.put(key, "other", acquire=other)
    _, entry = await registry.client.kv.get(key)
    assert (entry["Session"], entry["LockIndex"]) == (other, 2)


async def test_a_destroyed_session_lets_its_lock_go(registry: Registry) -> None:
    key = registry.name("lock")
    session = await registry.client.session.create(lock_delay=0)
    await registry.client.kv.put(key, "held", acquire=session)
    assert await registry.client.session.destroy(session)
    _, entry = await registry.client.kv.get(key)
    assert entry["Value"] == b"held"
    assert "Session" not in entry


async def test_a_destroyed_session_of_behaviour_delete_takes_its_keys_along(registry: Registry) -> None:
    key = registry.name("lock")
    session = await registry.client.session.create(behavior="delete", lock_delay=0)
    await registry.client.kv.put(key, "held", acquire=session)
    await registry.client.session.destroy(session)
    assert (await registry.client.kv.get(key))[1] is None


async def test_a_lost_lock_is_not_given_away_within_its_delay(registry: Registry) -> None:
    key = registry.name("lock")
    first = await registry.client.session.create(lock_delay=10)
    await registry.client.kv.put(key, "held", acquire=first)
    await registry.client.session.destroy(first)
    second = await registry.client.session.create(lock_delay=0)
    assert not await registry.client.kv.put(key, "mine", acquire=second)


async def test_a_session_goes_with_the_check_that_it_names(registry: Registry) -> None:
    name, key = registry.name(), registry.name("lock")
    service_id = await register(registry, name, check=ttl())
    session = await registry.client.session.create(checks=["serfHealth", f"service:{service_id}"], lock_delay=0)
    await registry.client.kv.put(key, "held", acquire=session)
    await registry.client.agent.check.ttl_fail(f"service:{service_id}")

    async def gone() -> bool:
        return (await registry.client.session.info(session))[1] is None

    await until(gone)
    assert "Session" not in (await registry.client.kv.get(key))[1]


async def test_sessions_are_told_and_listed(registry: Registry) -> None:
    session = await registry.client.session.create(name="leader", ttl=10, behavior="delete", lock_delay=3)
    _, info = await registry.client.session.info(session)
    assert (info["Name"], info["TTL"], info["Behavior"], info["LockDelay"]) == (
        "leader",
        "10s",
        "delete",
        3_000_000_000,
    )
    assert session in [entry["ID"] for entry in (await registry.client.session.list())[1]]
    assert session in [entry["ID"] for entry in (await registry.client.session.node(info["Node"]))[1]]
    assert (await registry.client.session.renew(session))["ID"] == session
    await registry.client.session.destroy(session)
    with pytest.raises(consul.NotFound):
        await registry.client.session.renew(session)


async def test_a_lock_for_a_session_that_is_not_there_is_refused(registry: Registry) -> None:
    with pytest.raises(consul.ConsulException):
        await registry.client.kv.put(registry.name("lock"), "x", acquire="00000000-0000-0000-0000-000000000000")


async def test_a_session_with_a_ttl_out_of_bounds_is_refused(registry: Registry) -> None:
    with pytest.raises(consul.ConsulException):
        await registry.client.http.put(CB.json(), "/v1/session/create", data='{"TTL": "1s"}')
