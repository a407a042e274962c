import asyncio
import io
from collections.abc import AsyncIterator

import aiohttp
import pytest

from agent_core.dev.registry import blocking
from agent_core.dev.registry.blocking import Waiters
from agent_core.dev.registry.ledger import Ledger
from agent_core.dev.registry.refusals import RefusedError
from agent_core.dev.registry.server import RegistryServer
from tests.support.dev_registry import dev_registry


@pytest.fixture
async def server() -> AsyncIterator[RegistryServer]:
    async with dev_registry() as server:
        yield server


@pytest.fixture
async def http(server: RegistryServer) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(f"http://127.0.0.1:{server.port}") as session:
        yield session


async def test_a_change_wakes_exactly_those_that_it_concerns() -> None:
    ledger = Ledger()
    waiters = Waiters(ledger)
    indexes = {"a": 10, "b": 10}
    tasks = {name: asyncio.create_task(waiters.wait(lambda name=name: indexes[name], 10, 60.0)) for name in indexes}  # type: ignore[misc] # mypy cannot type a lambda's default
    await asyncio.sleep(0)
    indexes["a"] = ledger.next()
    await asyncio.wait_for(tasks["a"], 5)
    assert not tasks["b"].done()
    waiters.close()
    with pytest.raises(RefusedError, match="stopping"):
        await tasks["b"]
    with pytest.raises(RefusedError, match="stopping"):
        await waiters.wait(lambda: 1, 1, 60.0)
    assert len(waiters) == 0


async def test_the_number_of_waiting_queries_is_bounded() -> None:
    waiters = Waiters(Ledger())
    tasks = [asyncio.create_task(waiters.wait(lambda: 1, 1, 60.0)) for _ in range(blocking.MAX_WAITING)]
    await asyncio.sleep(0)
    with pytest.raises(RefusedError) as caught:
        await waiters.wait(lambda: 1, 1, 60.0)
    assert caught.value.status == 429
    waiters.close()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_query_whose_client_has_left_waits_no_more(server: RegistryServer) -> None:
    async with aiohttp.ClientSession(f"http://127.0.0.1:{server.port}") as session:
        poll = asyncio.create_task(session.get("/v1/health/service/x?index=999&wait=5m"))
        await until_waiting(server, 1)
        poll.cancel()
        await asyncio.gather(poll, return_exceptions=True)
    await until_waiting(server, 0)


async def until_waiting(server: RegistryServer, count: int) -> None:
    async with asyncio.timeout(5):
        while len(server.registry.waiters) != count:  # noqa: ASYNC110 - the registry tells of no query
            await asyncio.sleep(0.005)


async def test_an_index_from_before_a_restart_waits_and_comes_back_lower(http: aiohttp.ClientSession) -> None:
    async with http.get("/v1/health/service/x", params={"index": "999999", "wait": "50ms"}) as reply:
        assert 1 <= int(reply.headers["X-Consul-Index"]) < 999_999


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "text"),
    [
        ("GET", "/v1/acl/tokens", None, 404, "does not serve /v1/acl/tokens"),
        ("POST", "/v1/agent/services", None, 405, "method POST not allowed"),
        ("PUT", "/v1/agent/service/register", b"{bad", 400, "Request decode failed"),
        ("PUT", "/v1/agent/service/register", b'{"Name": "consul"}', 400, "the registry's own"),
        ("PUT", "/v1/agent/service/register", io.BytesIO(b" " * 2_000_000), 413, "too large"),
        ("PUT", "/v1/agent/service/deregister/consul", None, 404, "Unknown service ID"),
        ("PUT", "/v1/agent/service/maintenance/x", None, 400, "Missing value for enable"),
        ("PUT", "/v1/agent/service/maintenance/x?enable=perhaps", None, 400, "Invalid value for ?enable"),
        ("PUT", "/v1/agent/check/register", b"{}", 400, "Missing check name"),
        ("PUT", "/v1/agent/check/register", b'{"Name":"c","TTL":"5s","ServiceID":"x"}', 400, "does not exist"),
        ("PUT", "/v1/agent/check/deregister/serfHealth", None, 404, "Unknown check ID"),
        ("PUT", "/v1/agent/check/update/x", b'{"Status":"odd"}', 400, "Invalid check status"),
        ("GET", "/v1/agent/service/consul", None, 404, "unknown service ID"),
        ("GET", "/v1/agent/health/service/id/x", None, 404, "not found"),
        ("GET", "/v1/health/service/", None, 400, "Missing service name"),
        ("GET", "/v1/health/state/", None, 400, "Missing check state"),
        ("GET", "/v1/health/service/x?passing=perhaps", None, 400, "Invalid value for ?passing"),
        ("GET", "/v1/health/service/x?dc=other", None, 500, "No path to datacenter"),
        ("GET", "/v1/health/service/x?node-meta=a:b", None, 400, "does not support ?node-meta"),
        ("GET", "/v1/catalog/services?filter=x", None, 400, "does not support ?filter"),
        ("GET", "/v1/session/info/x", None, 500, "UUID"),
        ("GET", "/v1/kv/", None, 400, "Missing key name"),
        ("GET", "/v1/kv/" + "k" * 600, None, 400, "512 characters"),
        ("PUT", "/v1/kv/k?cas=x", b"", 500, "invalid syntax"),
        ("PUT", "/v1/kv/k?cas=1&acquire=x", b"", 400, "Conflicting flags: cas=1&acquire=x"),
        ("DELETE", "/v1/kv/k?recurse&cas=1", None, 400, "Conflicting flags"),
    ],
)
async def test_errors_are_a_status_and_one_line(
    http: aiohttp.ClientSession, method: str, path: str, body: bytes | io.BytesIO | None, status: int, text: str
) -> None:
    async with http.request(method, path, data=body) as reply:
        told = await reply.text()
        assert (reply.status, "\n" in told) == (status, False)
        assert text in told


async def test_a_value_without_a_length_is_bounded_too(http: aiohttp.ClientSession) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(9):
            yield b"x" * 65_536

    async with http.put("/v1/kv/k", data=pieces()) as reply:
        assert reply.status == 413


async def test_an_instance_is_told_with_the_sum_of_its_checks(http: aiohttp.ClientSession) -> None:
    body = {"Name": "a", "Address": "::1", "Port": 5, "Check": {"TTL": "30s", "Status": "passing"}}
    async with http.put("/v1/agent/service/register", json=body):
        pass
    for change, status, told in (
        ("check/pass/service:a", 200, "passing"),
        ("check/warn/service:a", 429, "warning"),
        ("check/fail/service:a", 503, "critical"),
        ("service/maintenance/a?enable=true", 503, "maintenance"),
    ):
        async with http.put(f"/v1/agent/{change}") as reply:
            assert reply.status == 200
        async with http.get("/v1/agent/health/service/id/a") as reply:
            assert (reply.status, (await reply.json())["AggregatedStatus"]) == (status, told)
    async with http.get("/v1/catalog/service/a") as reply:
        (entry,) = await reply.json()
        assert entry["ServiceTaggedAddresses"]["lan_ipv6"] == {"Address": "::1", "Port": 5}


async def test_checks_can_be_registered_by_themselves(http: aiohttp.ClientSession) -> None:
    async with http.put("/v1/agent/service/register", json={"Name": "a"}) as reply:
        assert reply.status == 200
    async with http.put("/v1/agent/check/register", json={"Name": "c", "TTL": "30s", "ServiceID": "a"}) as reply:
        assert reply.status == 200
    async with http.put("/v1/agent/check/update/c", json={"Status": "passing", "Output": "well"}) as reply:
        assert reply.status == 200
    async with http.get("/v1/health/checks/a") as reply:
        assert [(check["CheckID"], check["Output"]) for check in await reply.json()] == [("c", "well")]
    async with http.put("/v1/agent/check/deregister/c") as reply:
        assert reply.status == 200
    async with http.get("/v1/health/checks/a") as reply:
        assert await reply.json() == []


async def test_the_node_is_told_with_what_it_holds(http: aiohttp.ClientSession) -> None:
    async with http.get("/v1/agent/members") as reply:
        (member,) = await reply.json()
    async with http.get(f"/v1/catalog/node/{member['Name']}") as reply:
        assert list((await reply.json())["Services"]) == ["consul"]
    async with http.get("/v1/catalog/node/other") as reply:
        assert await reply.json() is None
    async with http.get(f"/v1/health/node/{member['Name']}") as reply:
        assert [check["CheckID"] for check in await reply.json()] == ["serfHealth"]
    async with http.get("/v1/health/node/other") as reply:
        assert await reply.json() == []
    async with http.get("/v1/catalog/datacenters") as reply:
        assert await reply.json() == ["dc1"]
    async with http.get("/v1/session/node/other") as reply:
        assert await reply.json() == []


async def test_a_raw_value_comes_as_it_was_written(http: aiohttp.ClientSession) -> None:
    async with http.put("/v1/kv/k", data=b"\x00\xff") as reply:
        assert await reply.json() is True
    async with http.get("/v1/kv/k?raw") as reply:
        assert await reply.read() == b"\x00\xff"
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
    async with http.get("/v1/kv/none?recurse") as reply:
        assert (reply.status, reply.headers["X-Consul-Index"]) == (404, "1")
