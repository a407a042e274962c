"""The client side of Consul, against an HTTP server that plays it."""

import asyncio
import json
import time
from dataclasses import replace

import pytest
from aiohttp import web

from skill_services.sdk.address import Address
from skill_services.sdk.registry import Entry, Registry, RegistryError
from skill_services.sdk.settings import ConsulAddress
from tests.support.consul_stand_in import Answer, consul_stand_in
from tests.support.eventually import eventually

TOKEN = "7f3c-very-secret"
ENTRY = Entry(
    service="calculator",
    instance="calculator-127-0-0-1-7000",
    address=Address("127.0.0.1", 7000),
    version="1.2.3",
    fingerprint="abc",
    pid=4711,
)


def held(entry: Entry) -> dict[str, object]:
    return {
        "ID": entry.instance,
        "Service": entry.service,
        "Address": entry.address.host,
        "Port": entry.address.port,
        "Meta": entry.meta,
    }


def says(body: str, status: int = 200) -> Answer:
    async def answer(_request: web.Request) -> web.Response:
        return web.Response(status=status, text=body)

    return answer


async def test_a_registration_holds_all_that_discovery_reads() -> None:
    async def answer(_request: web.Request) -> web.Response:
        return web.Response(status=200)

    async with consul_stand_in(answer) as consul:
        registry = Registry(consul.address, TOKEN)
        await registry.register(ENTRY)
        await registry.close()
    assert consul.paths == ["PUT /v1/agent/service/register"]
    assert consul.tokens == {TOKEN}
    assert consul.bodies == [
        {
            "name": "calculator",
            "id": "calculator-127-0-0-1-7000",
            "address": "127.0.0.1",
            "port": 7000,
            "tags": ["skillmesh"],
            "meta": {
                "skillmesh_protocol": "1",
                "skillmesh_fingerprint": "abc",
                "skillmesh_version": "1.2.3",
                "skillmesh_pid": "4711",
            },
            "checks": [
                {
                    "grpc": "127.0.0.1:7000/skillmesh.v1.SkillService",
                    "interval": "2000ms",
                    "timeout": "1s",
                    "checkid": "service:calculator-127-0-0-1-7000",
                    "status": "passing",
                    "DeregisterCriticalServiceAfter": "1m",
                }
            ],
        }
    ]


def test_a_ttl_check_is_removed_like_any_other_and_an_ipv6_check_has_brackets() -> None:
    ttl = replace(ENTRY, ttl=True, interval=1.5).check
    assert ttl["ttl"] == "4500ms"
    assert ttl["DeregisterCriticalServiceAfter"] == "1m"
    assert replace(ENTRY, address=Address("::1", 7000)).check["grpc"] == "[::1]:7000/skillmesh.v1.SkillService"


@pytest.mark.parametrize(("service", "instance"), [("Calc/../x", "a"), ("calc", "a/b"), ("calc", ""), ("calc", "a?b")])
def test_a_name_that_would_change_the_url_path_is_refused(service: str, instance: str) -> None:
    with pytest.raises(ValueError, match="no name that Consul can hold"):
        replace(ENTRY, service=service, instance=instance)


def test_an_entry_knows_its_own_and_another_processs() -> None:
    assert ENTRY.current(held(ENTRY))
    moved = held(replace(ENTRY, fingerprint="new"))
    assert ENTRY.owns(moved)
    assert not ENTRY.current(moved)
    assert not ENTRY.owns(held(replace(ENTRY, pid=1)))
    assert not ENTRY.owns({**held(ENTRY), "Port": 1})
    assert not ENTRY.owns({})


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_token_is_one_sentence_without_the_token(status: int) -> None:
    async def answer(_request: web.Request) -> web.Response:
        return web.Response(status=status, text=f"Permission denied for {TOKEN}")

    async with consul_stand_in(answer) as consul:
        for token, words in ((TOKEN, "refuses the ACL token"), ("", "refuses requests without an ACL token")):
            registry = Registry(consul.address, token)
            with pytest.raises(RegistryError, match=words) as raised:
                await registry.register(ENTRY)
            assert "CONSUL_HTTP_TOKEN" in str(raised.value)
            assert TOKEN not in str(raised.value)
            await registry.close()


async def test_an_error_of_consul_is_shown_shortened_and_without_the_token() -> None:
    async def answer(_request: web.Request) -> web.Response:
        return web.Response(status=500, text=f"No cluster leader\n{TOKEN} " + "x" * 10_000)

    async with consul_stand_in(answer) as consul:
        registry = Registry(consul.address, TOKEN)
        with pytest.raises(RegistryError, match="No cluster leader") as raised:
            await registry.listed(ENTRY)
        await registry.close()
    assert TOKEN not in str(raised.value)
    assert len(str(raised.value)) < 300
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("body", ["[1, 2]", "null", '{"calculator-127-0-0-1-7000": 3}'])
async def test_another_shape_of_the_agents_services_is_no_entry(body: str) -> None:
    async with consul_stand_in(says(body)) as consul:
        registry = Registry(consul.address)
        assert await registry.held(ENTRY) is None
        await registry.close()


@pytest.mark.parametrize("body", ["", "no json"])
async def test_rubbish_instead_of_json_is_an_error(body: str) -> None:
    async with consul_stand_in(says(body)) as consul:
        registry = Registry(consul.address)
        with pytest.raises(RegistryError, match=r"^Consul at http://127.0.0.1"):
            await registry.held(ENTRY)
        await registry.close()


async def test_a_silent_consul_is_given_up_in_time_and_leaves_no_connection() -> None:
    open_connections: set[asyncio.StreamWriter] = set()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_connections.add(writer)
        while await reader.read(1_024):
            pass
        open_connections.discard(writer)
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    registry = Registry(ConsulAddress("http", "127.0.0.1", server.sockets[0].getsockname()[1]), timeout=0.2)
    await registry._connected()  # the import is not what is measured
    started = time.monotonic()
    with pytest.raises(RegistryError, match=r"did not answer within 0\.2 s"):
        await registry.register(ENTRY)
    assert time.monotonic() - started < 1
    await registry.close()
    await eventually(lambda: not open_connections)
    server.close()


async def test_a_consul_that_is_not_there_is_a_sentence() -> None:
    registry = Registry(ConsulAddress("http", "::1", 1))
    with pytest.raises(RegistryError, match=r"Consul at http://\[::1\]:1 cannot be reached"):
        await registry.register(ENTRY)
    await registry.close()


async def test_what_the_agent_and_the_catalogue_hold_is_read() -> None:
    async def answer(request: web.Request) -> web.Response:
        if request.path == "/v1/agent/services":
            return web.json_response({ENTRY.instance: held(ENTRY)})
        return web.Response(
            text=json.dumps([{"Node": {}, "Service": {"ID": ENTRY.instance}}]), headers={"X-Consul-Index": "7"}
        )

    async with consul_stand_in(answer) as consul:
        registry = Registry(consul.address)
        found = await registry.held(ENTRY)
        assert found is not None
        assert ENTRY.current(found)
        assert await registry.listed(ENTRY)
        assert not await registry.listed(replace(ENTRY, instance="other"))
        await registry.close()


@pytest.mark.parametrize(
    ("status", "body", "known"),
    [
        (200, "", True),
        (404, "Unknown check ID", False),
        (500, 'CheckID "service:x" does not have associated TTL', False),
    ],
)
async def test_a_heartbeat_tells_whether_the_agent_still_knows_the_check(status: int, body: str, known: bool) -> None:
    async with consul_stand_in(says(body, status)) as consul:
        registry = Registry(consul.address)
        assert await registry.beat(ENTRY) is known
        await registry.close()
    assert consul.paths == ["PUT /v1/agent/check/pass/service:calculator-127-0-0-1-7000"]


async def test_a_heartbeat_that_fails_otherwise_is_an_error() -> None:
    async def answer(_request: web.Request) -> web.Response:
        return web.Response(status=500, text="rpc error")

    async with consul_stand_in(answer) as consul:
        registry = Registry(consul.address)
        with pytest.raises(RegistryError, match="rpc error"):
            await registry.beat(ENTRY)
        with pytest.raises(RegistryError, match="rpc error"):
            await registry.deregister(ENTRY)
        await registry.close()


@pytest.mark.parametrize(("status", "body"), [(200, ""), (404, "Unknown service ID"), (500, "Unknown service x")])
async def test_leaving_where_there_is_nothing_is_no_error(status: int, body: str) -> None:
    async with consul_stand_in(says(body, status)) as consul:
        registry = Registry(consul.address)
        await registry.deregister(ENTRY)
        await registry.close()
        await registry.close()
    assert consul.paths == ["PUT /v1/agent/service/deregister/calculator-127-0-0-1-7000"]
