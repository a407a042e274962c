import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from agent_core.discovery import http
from agent_core.discovery.client import ConsulClient, DeniedError
from agent_core.discovery.questions import ask_instances, ask_services, read_services
from agent_core.discovery.settings import DiscoverySettings
from agent_core.domain.errors import ConfigError, RegistryError
from tests.support.eventually import eventually
from tests.support.scripted_consul import (
    NODES,
    SELF,
    SERVICES,
    Reply,
    ScriptedConsul,
    health_of,
    scripted_consul,
    silent_server,
)


@asynccontextmanager
async def client_of(address: str, token: str = "", timeout: float = 5.0) -> AsyncIterator[ConsulClient]:
    client = ConsulClient(DiscoverySettings(address=address, token=token, timeout=timeout))
    try:
        yield client
    finally:
        await client.close()


@pytest.fixture
async def consul() -> AsyncIterator[ScriptedConsul]:
    async with scripted_consul() as scripted:
        yield scripted


async def test_the_token_travels_as_a_header_and_not_the_environments(
    consul: ScriptedConsul, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONSUL_HTTP_TOKEN", "of-the-environment")
    consul.script_now(SERVICES, Reply({}))
    async with client_of(consul.address, "ours") as client:
        await client.services()
    assert [asked.token for asked in consul.asked] == ["ours"]
    assert all("ours" not in str(asked.query) for asked in consul.asked)


async def test_without_a_token_none_is_sent(consul: ScriptedConsul, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONSUL_HTTP_TOKEN", "of-the-environment")
    async with client_of(consul.address) as client:
        await client.is_denied()
    assert [asked.token for asked in consul.asked] == [""]


async def test_a_long_poll_sends_index_and_wait_and_the_tag(consul: ScriptedConsul) -> None:
    consul.script_now(health_of("s"), Reply([], index=9))
    async with client_of(consul.address) as client:
        answer = await client.instances("s", 7, 240.0)
    assert answer.index == 9
    assert consul.asked[0].query == {"tag": "skillmesh", "index": "7", "wait": "240s"}


@pytest.mark.parametrize(("header", "index"), [(None, 0), ("", 0), ("abc", 0), ("-5", 0), ("1e3", 0), ("12", 12)])
async def test_an_odd_index_header_is_none(consul: ScriptedConsul, header: str | None, index: int) -> None:
    consul.script_now(SERVICES, Reply({}, index=header))
    async with client_of(consul.address) as client:
        assert (await client.services()).index == index


@pytest.mark.parametrize("name", ["", "a/b", "A", "../kv", "a?x", "a b", "é", "x" * 64])
async def test_a_name_unfit_for_a_path_never_gets_there(consul: ScriptedConsul, name: str) -> None:
    async with client_of(consul.address) as client:
        with pytest.raises(RegistryError, match="not usable"):
            await client.instances(name)
    assert consul.asked == []


async def test_nobody_there_is_said_with_what_to_do() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
    async with client_of(f"127.0.0.1:{port}") as client:
        with pytest.raises(RegistryError) as caught:
            await client.services()
    assert str(caught.value) == (
        f"Consul at http://127.0.0.1:{port} cannot be reached (connection refused): start it, or set CONSUL_HTTP_ADDR."
    )


async def test_a_name_that_does_not_resolve_is_said() -> None:
    async with client_of("nowhere.invalid:8500") as client:
        with pytest.raises(RegistryError, match="cannot be reached"):
            await client.services()


async def test_dsc_13_silence_is_bounded_and_the_connection_closed() -> None:
    async with silent_server() as silent, client_of(f"127.0.0.1:{silent.port}", timeout=0.2) as client:
        with pytest.raises(RegistryError, match="did not answer within"):
            await client.services()
        await eventually(lambda: silent.open == 0)


async def test_cancelling_a_long_poll_closes_it(consul: ScriptedConsul) -> None:
    async with client_of(consul.address) as client:
        poll = asyncio.create_task(client.services(5, 60))
        await eventually(lambda: consul.holding == 1)
        poll.cancel()
        with pytest.raises(asyncio.CancelledError):
            await poll
        await eventually(lambda: consul.holding == 0)


async def test_a_long_poll_whose_connection_breaks_is_not_sent_again_unseen() -> None:
    heads: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            heads.append(head.split(b"\r\n")[0])
            if len(heads) > 1:
                writer.transport.abort()
                return
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Consul-Index: 9\r\n\r\n{}")

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server, client_of(f"127.0.0.1:{server.sockets[0].getsockname()[1]}") as client:
        assert (await client.services(5, 60)).index == 9
        with pytest.raises(RegistryError, match="connection was lost"):
            await client.services(9, 60)
    assert len(heads) == 2


async def test_many_long_polls_do_not_keep_a_plain_query_waiting(consul: ScriptedConsul) -> None:
    consul.script_now(SELF, Reply({}))
    async with client_of(consul.address) as client:
        polls = [asyncio.create_task(client.services(5, 60)) for _ in range(150)]
        await eventually(lambda: consul.holding == 150)
        assert not await client.is_denied()
        for poll in polls:
            poll.cancel()
        await asyncio.gather(*polls, return_exceptions=True)


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_token_is_a_permission_problem_and_never_named(consul: ScriptedConsul, status: int) -> None:
    consul.script_now(SERVICES, Reply(status=status, text="Permission denied for s3cret"))
    async with client_of(consul.address, "s3cret") as client:
        with pytest.raises(DeniedError, match=r"ACL.*CONSUL_HTTP_TOKEN") as caught:
            await client.services()
    assert "s3cret" not in str(caught.value)
    assert not caught.value.retryable


async def test_other_refusals_are_told_apart(consul: ScriptedConsul) -> None:
    consul.script_now(SERVICES, Reply(status=500, text="No cluster leader"), Reply(status=404, text="<html>" * 500))
    consul.script_now(SERVICES, Reply(text="<html>"), Reply(status=302, headers={"Location": "/ui"}), Reply([1]))
    async with client_of(consul.address) as client:
        for expected in ("500 .No cluster leader.", "answers 404", "not JSON", "answers 302", "no list of services"):
            with pytest.raises(RegistryError, match=expected) as caught:
                await ask_services(client, 0, 0.0)
            assert len(str(caught.value)) < 500


async def test_an_answer_too_large_is_refused(consul: ScriptedConsul, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_BODY_BYTES", 1_000)
    consul.script_now(SERVICES, Reply({"x" * 2_000: []}))
    async with client_of(consul.address) as client:
        with pytest.raises(RegistryError, match="larger than"):
            await client.services()


async def test_dsc_09_no_service_at_all_is_denied_where_the_agent_says_so(consul: ScriptedConsul) -> None:
    consul.script_now(SERVICES, Reply({}))
    async with client_of(consul.address) as client:
        assert (await ask_services(client, 0, 0.0)).body == {}
        consul.script_now(SELF, Reply(status=403, text="Permission denied"))
        with pytest.raises(DeniedError, match=r"no service at all \(ACL"):
            await ask_services(client, 0, 0.0)


async def test_dsc_09_no_instance_is_denied_where_no_node_is_shown(consul: ScriptedConsul) -> None:
    consul.script_now(health_of("s"), Reply([]))
    async with client_of(consul.address) as client:
        assert (await ask_instances(client, "s", 0, 0.0)).body == []
        consul.script_now(NODES, Reply([]))
        with pytest.raises(DeniedError, match=r"no instance of s \(ACL"):
            await ask_instances(client, "s", 0, 0.0)
        consul.script_now(NODES, Reply(status=403, text="no"))
        with pytest.raises(DeniedError):
            await ask_instances(client, "s", 0, 0.0)
        consul.script_now(NODES, Reply(status=500, text="no"))
        assert (await ask_instances(client, "s", 0, 0.0)).body == []


async def test_dsc_09_consuls_own_word_that_acls_hid_something_is_enough(consul: ScriptedConsul) -> None:
    hidden = {"X-Consul-Results-Filtered-By-ACLs": "true"}
    consul.script_now(SERVICES, Reply({}, headers=hidden))
    consul.script_now(health_of("s"), Reply([], headers=hidden))
    async with client_of(consul.address) as client:
        with pytest.raises(DeniedError):
            await ask_services(client, 0, 0.0)
        with pytest.raises(DeniedError):
            await ask_instances(client, "s", 0, 0.0)


async def test_the_token_is_never_logged(consul: ScriptedConsul, caplog: pytest.LogCaptureFixture) -> None:
    consul.script_now(SERVICES, Reply(status=403, text="s3cret"))
    with caplog.at_level(logging.DEBUG):
        async with client_of(consul.address, "s3cret") as client:
            with pytest.raises(DeniedError):
                await client.services()
    assert "s3cret" not in caplog.text


async def test_https_is_spoken_where_the_address_says_so() -> None:
    async with silent_server() as silent, client_of(f"https://127.0.0.1:{silent.port}", timeout=0.2) as client:
        with pytest.raises(RegistryError, match=r"https://127\.0\.0\.1"):
            await client.services()


def test_a_ca_file_that_is_none_is_a_setting_to_mend() -> None:
    with pytest.raises(ConfigError, match="CA file"):
        ConsulClient(DiscoverySettings(address="https://127.0.0.1:1", ca_file="/nowhere.pem"))


def test_only_tagged_services_with_usable_names_are_read() -> None:
    names, problems = read_services(
        {"consul": [], "a": ["skillmesh"], "b": ["web"], "c": None, "Bad Name": ["skillmesh"],
         "skillmesh-core": ["skillmesh"]},
        "skillmesh",
    )  # fmt: skip
    assert names == {"a"}
    assert problems == (
        "service 'Bad Name' is left out: rename it to lower-case letters, digits and hyphens, 63 at most.",
    )
    many, cut = read_services({f"s{n}": ["skillmesh"] for n in range(5_001)}, "skillmesh")
    assert len(many) == 5_000
    assert "5001 skill services" in cut[0]
