"""A skill service as a process of its own: how it starts, what it says, how it ends. No Consul."""

import asyncio
import json
import os
import signal
import socket
import sys
import time
from pathlib import Path

import grpc
import pytest
from aiohttp import web

from skillmesh.errors import ErrorKind
from skillmesh.status import from_rpc_error
from skillmesh.v1.skill_service_pb2 import DescribeRequest, InvokeRequest
from tests.support.consul_stand_in import consul_stand_in
from tests.support.eventually import eventually
from tests.support.service_process import demo_service, stub_of

TOKEN = "5d0c-very-secret"
ROOT = Path(__file__).parents[2]


def nap(seconds: float) -> InvokeRequest:
    return InvokeRequest(skill="nap", arguments=json.dumps({"seconds": seconds}).encode())


async def test_a_service_takes_a_free_port_says_so_and_answers() -> None:
    async with demo_service() as service, stub_of(service.address) as stub:
        described = await stub.describe(DescribeRequest(), timeout=5)
        reply = await stub.invoke(InvokeRequest(skill="echo", arguments=b'{"text":"hi"}'), timeout=5)
        service.send(signal.SIGTERM)
        assert await service.ended() == 0
    assert [item.name for item in described.skills] == ["echo", "nap", "block", "freeze", "flagged"]
    assert reply.result.structured == b'"hi"'
    assert "Traceback" not in service.stderr


async def test_a_skill_that_waits_for_something_says_so_at_the_start(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    flag.touch()
    async with demo_service(DEMO_FLAG=str(flag)) as service:
        await service.says("flagged is not offered yet: the flag is up")


async def test_a_taken_port_is_one_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        async with demo_service(SKILLMESH_PORT=str(port)) as service:
            assert await service.ended() == 1
    assert service.stderr == (
        f"Port 127.0.0.1:{port} is in use by another process: set SKILLMESH_PORT to another port, "
        "or to 0 for a free one.\n"
    )


async def test_wrong_settings_are_a_sentence_each_and_exit_code_2() -> None:
    variables = {"SKILLMESH_PORT": "seven", "SKILLMESH_CHECK": "http", "CONSUL_HTTP_TOKEN": TOKEN}
    async with demo_service(**variables) as service:
        assert await service.ended() == 2
    lines = service.stderr.splitlines()
    assert [line.split()[0] for line in lines] == ["SKILLMESH_PORT", "SKILLMESH_CHECK"]
    assert TOKEN not in service.stderr


async def test_calls_that_run_are_finished_and_new_ones_refused_once_watchers_had_time() -> None:
    async with demo_service(SKILLMESH_DRAIN_SECONDS="0.3") as service, stub_of(service.address) as stub:
        running = [asyncio.ensure_future(stub.invoke(nap(1), timeout=10)) for _ in range(10)]
        await eventually(lambda: service.stderr.count("nap begins") == 10)
        service.send(signal.SIGTERM)
        await service.says("Stopping demo: 10 calls run.")
        during = await stub.invoke(InvokeRequest(skill="echo", arguments=b'{"text":"hi"}'), timeout=5)
        assert during.result.structured == b'"hi"'
        refused: list[ErrorKind] = []

        async def is_refused() -> bool:
            try:
                await stub.invoke(InvokeRequest(skill="echo", arguments=b'{"text":"hi"}'), timeout=5)
            except grpc.aio.AioRpcError as error:
                refused.append(from_rpc_error(error).kind)
            return bool(refused)

        await eventually(is_refused)
        assert refused == [ErrorKind.DRAINING]
        replies = await asyncio.gather(*running)
        assert await service.ended(3) == 0
    assert [reply.result.structured for reply in replies] == [b"1.0"] * 10


async def test_what_does_not_end_within_the_grace_period_is_cancelled() -> None:
    async with demo_service(SKILLMESH_GRACE_SECONDS="0.5") as service, stub_of(service.address) as stub:
        running = asyncio.ensure_future(stub.invoke(nap(30), timeout=40))
        await service.says("nap begins")
        started = time.monotonic()
        service.send(signal.SIGTERM)
        with pytest.raises(grpc.aio.AioRpcError):
            await running
        assert await service.ended() == 0
        assert time.monotonic() - started < 2.5
    assert "nap cancelled" in service.stderr
    assert "1 calls are cancelled" in service.stderr
    assert "Traceback" not in service.stderr


async def test_a_skill_that_holds_up_the_event_loop_does_not_keep_the_process() -> None:
    async with demo_service(SKILLMESH_GRACE_SECONDS="0.3") as service, stub_of(service.address) as stub:
        request = InvokeRequest(skill="freeze", arguments=b'{"seconds":50}')
        running = asyncio.ensure_future(stub.invoke(request, timeout=60))
        await service.says("freeze begins")
        started = time.monotonic()
        service.send(signal.SIGTERM)
        assert await service.ended() == 0
        assert time.monotonic() - started < 2.6
        with pytest.raises(grpc.aio.AioRpcError):
            await running
    assert "abandoned" in service.stderr


async def test_a_thread_that_never_returns_does_not_keep_the_process() -> None:
    async with demo_service(SKILLMESH_GRACE_SECONDS="0.5") as service, stub_of(service.address) as stub:
        request = InvokeRequest(skill="block", arguments=b'{"seconds":50}')
        running = asyncio.ensure_future(stub.invoke(request, timeout=60))
        await service.says("block begins")
        started = time.monotonic()
        service.send(signal.SIGTERM)
        with pytest.raises(grpc.aio.AioRpcError):
            await running
        assert await service.ended() == 0
        assert time.monotonic() - started < 2.6


async def test_a_second_signal_ends_at_once() -> None:
    async with demo_service() as service, stub_of(service.address) as stub:
        running = asyncio.ensure_future(stub.invoke(nap(30), timeout=40))
        await service.says("nap begins")
        service.send(signal.SIGINT)
        await service.says("Stopping demo")
        service.send(signal.SIGINT)
        assert await service.ended(1) == 130
        with pytest.raises(grpc.aio.AioRpcError):
            await running


async def test_a_caller_that_leaves_cancels_the_skill_in_the_process() -> None:
    async with demo_service() as service, stub_of(service.address) as stub:
        call = stub.invoke(nap(30), timeout=40)
        await service.says("nap begins")
        call.cancel()
        await service.says("nap cancelled", 1)
        with pytest.raises(grpc.aio.AioRpcError, match="DEADLINE_EXCEEDED"):
            await stub.invoke(nap(30), timeout=0.2)
        await eventually(lambda: service.stderr.count("nap cancelled") == 2, 1)


async def test_a_process_whose_supervisor_is_gone_ends_by_itself() -> None:
    supervisor = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE)
    async with demo_service(SKILLMESH_PARENT_PID=str(supervisor.pid)) as service:
        await supervisor.communicate(b"\n")
        assert await service.ended(5) == 0
    assert "SKILLMESH_PARENT_PID is gone" in service.stderr


async def test_a_silent_consul_holds_up_neither_calls_nor_the_end() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(1_024):
            pass
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with (
        demo_service(SKILLMESH_REGISTER="true", CONSUL_HTTP_ADDR=address) as service,
        stub_of(service.address) as stub,
    ):
        await stub.invoke(InvokeRequest(skill="echo", arguments=b'{"text":"hi"}'), timeout=1)
        started = time.monotonic()
        service.send(signal.SIGTERM)
        assert await service.ended() == 0
        assert time.monotonic() - started < 4
    server.close()
    assert "Traceback" not in service.stderr


@pytest.mark.parametrize("status", [403, 200])
async def test_a_token_without_rights_is_one_plain_line_and_never_shown(status: int) -> None:
    """Consul either refuses the registration, or accepts it and never lists it."""

    async def answer(request: web.Request) -> web.Response:
        if request.method == "PUT" and "deregister" not in request.path:
            return web.Response(status=status, text="Permission denied" if status == 403 else "")
        if request.path.startswith("/v1/health"):
            return web.Response(text="[]", headers={"X-Consul-Index": "1"})
        return web.Response(text="{}")

    async with (
        consul_stand_in(answer) as consul,
        demo_service(
            SKILLMESH_REGISTER="true", CONSUL_HTTP_ADDR=f"127.0.0.1:{consul.port}", CONSUL_HTTP_TOKEN=TOKEN
        ) as service,
    ):
        await service.says("CONSUL_HTTP_TOKEN")
        await eventually(lambda: consul.paths.count("PUT /v1/agent/service/register") >= 2)
        service.send(signal.SIGTERM)
        assert await service.ended() == 0
    lines = [line for line in service.stderr.splitlines() if "CONSUL_HTTP_TOKEN" in line]
    assert len(lines) == 1
    assert "ACL" in lines[0]
    assert TOKEN not in service.stderr
    assert consul.tokens == {TOKEN}


async def test_buf_lists_describes_calls_and_reads_error_details() -> None:
    buf = Path(sys.executable).with_name("buf")
    if not buf.exists():
        pytest.skip("buf is not installed: pip install buf-bin")

    async def curl(*arguments: str) -> tuple[int, str, str]:
        process = await asyncio.create_subprocess_exec(
            str(buf), "curl", "--http2-prior-knowledge", "--protocol", "grpc", *arguments,
            cwd="/", env={**os.environ, "HOME": str(ROOT / ".pytest_cache")},
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip  # options in pairs
        output, errors = await asyncio.wait_for(process.communicate(), 20)
        return process.returncode or 0, output.decode(), errors.decode()

    async with demo_service() as service:
        url = f"http://{service.address}"
        code, output, errors = await curl(url, "--list-services")
        assert code == 0, errors
        assert "skillmesh.v1.SkillService" in output
        assert "grpc.health.v1.Health" in output
        code, output, errors = await curl(f"{url}/skillmesh.v1.SkillService/Describe", "-d", "{}")
        assert code == 0, errors
        assert [item["name"] for item in json.loads(output)["skills"]] == ["echo", "nap", "block", "freeze", "flagged"]
        checked = json.dumps({"service": "skillmesh.v1.SkillService"})
        code, output, errors = await curl(f"{url}/grpc.health.v1.Health/Check", "-d", checked)
        assert code == 0, errors
        assert json.loads(output) == {"status": "SERVING"}
        wrong = json.dumps({"skill": "echo", "arguments": "e30="})
        code, output, errors = await curl(f"{url}/skillmesh.v1.SkillService/Invoke", "-d", wrong)
        assert code != 0
        said = json.loads(errors)
        assert said["code"] == "invalid_argument"
        assert {detail["type"] for detail in said["details"]} == {"google.rpc.ErrorInfo", "google.rpc.BadRequest"}
