"""The development registry as a process of its own."""

import asyncio
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import aiohttp
import pytest

from agent_core.dev.registry.__main__ import main
from tests.support.processes import PATIENCE


@asynccontextmanager
async def registry_process(*arguments: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "agent_core.dev.registry", *arguments, stderr=asyncio.subprocess.PIPE
    )  # fmt: skip
    assert process.stderr is not None
    try:
        line = (await asyncio.wait_for(process.stderr.readline(), PATIENCE)).decode()
        yield process, next((word for word in line.split() if word.startswith("http://")), line)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_it_ends_within_a_second_with_queries_open(number: signal.Signals) -> None:
    async with registry_process("--port", "0") as (process, url), aiohttp.ClientSession() as session:
        async with session.get(f"{url}/v1/catalog/services") as reply:
            index = reply.headers["X-Consul-Index"]
        query = {"index": index, "wait": "5m"}
        polls = [asyncio.create_task(ask(session, f"{url}/v1/catalog/services", query)) for _ in range(20)]
        await asyncio.wait(polls, timeout=0.3)
        assert not any(poll.done() for poll in polls)
        started = time.monotonic()
        process.send_signal(number)
        assert await asyncio.wait_for(process.wait(), PATIENCE) == 0
        assert time.monotonic() - started < 2  # one second, and what a busy machine adds
        assert all(status in (None, 500) for status in await asyncio.gather(*polls))


async def ask(session: aiohttp.ClientSession, url: str, query: dict[str, str]) -> int | None:
    try:
        async with session.get(url, params=query) as reply:
            return reply.status
    except aiohttp.ClientError:
        return None


async def test_a_port_that_is_taken_is_said_in_a_sentence() -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        port = str(sock.getsockname()[1])
        async with registry_process("--port", port) as (process, line):
            assert "cannot listen on 127.0.0.1:" + port in line
            assert await asyncio.wait_for(process.wait(), PATIENCE) == 1


def test_it_listens_beyond_this_machine_only_where_forced(caplog: pytest.LogCaptureFixture) -> None:
    assert main(["--port", "0", "--host", "0.0.0.0"]) == 2
    assert "--force" in caplog.text


async def test_only_requests_to_this_machine_by_name_are_answered() -> None:
    async with registry_process("--port", "0") as (_, url), aiohttp.ClientSession() as session:
        async with session.get(f"{url}/v1/agent/self", headers={"Host": "evil.example:80"}) as reply:
            assert reply.status == 403
        async with session.get(f"{url}/v1/agent/self", headers={"Host": "localhost"}) as reply:
            assert reply.status == 200


async def test_forced_it_answers_under_any_name() -> None:
    async with (
        registry_process("--port", "0", "--force") as (_, url),
        aiohttp.ClientSession() as session,
        session.get(f"{url}/v1/agent/self", headers={"Host": "registry.example"}) as reply,
    ):
        assert reply.status == 200
