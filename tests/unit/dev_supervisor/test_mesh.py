import asyncio
import os
from pathlib import Path

import aiohttp
import pytest

from agent_core.dev.consul_binary import consul_command, find_consul
from agent_core.dev.mesh import LocalMesh, MeshOptions
from agent_core.dev.mesh_specs import BUNDLED_SERVICES, MeshSpecs
from agent_core.dev.process_spec import ProcessState, ProcessStatus, StartError
from agent_core.dev.state_file import read_running
from agent_core.domain.errors import ConfigError
from tests.support.consul_agent import find_consul as find_real_consul
from tests.support.processes import alive, until

real_consul = pytest.mark.skipif(
    find_real_consul() is None, reason="no consul binary: set SKILLMESH_CONSUL_BIN or put consul on PATH"
)


def environ(tmp_path: Path, **more: str) -> dict[str, str]:
    """This process's environment, with a state directory of the test's own and without a Consul."""
    without = {name: value for name, value in os.environ.items() if name != "SKILLMESH_CONSUL_BIN"}
    return {**without, "PATH": "/nowhere", "SKILLMESH_STATE_DIR": str(tmp_path / "state"), **more}


def program(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return path


async def leader(address: str) -> int:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://{address}/v1/status/leader") as reply,
    ):
        return reply.status


async def test_a_mesh_runs_while_it_is_entered_is_found_and_leaves_nothing(tmp_path: Path) -> None:
    options = MeshOptions(services=("calculator",), environ=environ(tmp_path))
    async with LocalMesh(options) as mesh:
        pids = {status.name: status.pid for status in mesh.processes}
        assert list(pids) == ["registry", "model", "calculator"]
        assert {status.state for status in mesh.processes} == {ProcessState.RUNNING}
        assert await leader(mesh.environ["CONSUL_HTTP_ADDR"]) == 200
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"{mesh.environ['OPENAI_BASE_URL']}/models") as reply,
        ):
            models = [model["id"] for model in (await reply.json())["data"]]
        assert mesh.environ["SKILLMESH_MODEL"] in models
        assert mesh.environ["SKILLMESH_TRACE_COLLECTOR"] == mesh.collector.url
        assert mesh.published
        running = read_running(tmp_path / "state")
        assert running is not None
        assert running.environ == dict(mesh.environ)
        assert {process.name: process.pid for process in running.processes} == pids
    assert not any(alive(pid) for pid in pids.values())
    assert read_running(tmp_path / "state") is None
    assert (mesh.log_dir / "calculator.log").exists()


async def test_two_meshes_run_side_by_side_and_the_first_is_found(tmp_path: Path) -> None:
    options = MeshOptions(services=(), model=False, environ=environ(tmp_path))
    async with LocalMesh(options) as first:
        async with LocalMesh(options) as second:
            assert first.environ["CONSUL_HTTP_ADDR"] != second.environ["CONSUL_HTTP_ADDR"]
            assert (first.published, second.published) == (True, False)
        running = read_running(tmp_path / "state")
        assert running is not None
        assert running.environ == dict(first.environ)


async def test_a_restarted_process_is_noted_with_its_new_id(tmp_path: Path) -> None:
    seen: list[ProcessStatus] = []
    options = MeshOptions(services=(), model=False, environ=environ(tmp_path), on_status=seen.append)
    async with LocalMesh(options) as mesh:
        first = mesh.processes[0].pid
        os.kill(first, 9)
        await until(lambda: mesh.processes[0].restarts == 1 and mesh.processes[0].state is ProcessState.RUNNING)
        running = read_running(tmp_path / "state")
        assert running is not None
        assert running.processes[0].pid == mesh.processes[0].pid != first
        assert await leader(mesh.environ["CONSUL_HTTP_ADDR"]) == 200
    assert ProcessState.RESTARTING in [status.state for status in seen]


async def test_a_mesh_that_need_not_be_found_is_not_noted(tmp_path: Path) -> None:
    async with LocalMesh(MeshOptions(services=(), model=False, environ=environ(tmp_path), publish=False)) as mesh:
        assert not mesh.published
        assert read_running(tmp_path / "state") is None


async def test_a_mesh_that_cannot_start_leaves_nothing(tmp_path: Path) -> None:
    consul = program(
        tmp_path / "consul", 'test "$1" = version && echo Consul v1.20.1 && exit; echo no disk >&2; exit 3'
    )
    mesh = LocalMesh(MeshOptions(services=(), environ=environ(tmp_path, SKILLMESH_CONSUL_BIN=str(consul), PATH="/bin")))
    with pytest.raises(StartError, match=r"(?s)registry ended with exit code 3 before it was ready.*no disk"):
        await mesh.__aenter__()
    assert [status.pid for status in mesh.processes] == [0, 0]
    with pytest.raises(aiohttp.ClientError):
        async with aiohttp.ClientSession() as session:
            await session.get(mesh.collector.base_url)


@pytest.mark.consul
@real_consul
async def test_a_real_consul_is_taken_where_there_is_one(tmp_path: Path) -> None:
    binary = str(find_real_consul())
    options = MeshOptions(services=(), model=False, environ=environ(tmp_path, SKILLMESH_CONSUL_BIN=binary))
    async with LocalMesh(options) as mesh:
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"http://{mesh.environ['CONSUL_HTTP_ADDR']}/v1/agent/self") as reply,
        ):
            assert "skillmesh" not in (await reply.json())["Config"]["Version"]
        pid = mesh.processes[0].pid
    assert not alive(pid)


def test_a_service_that_is_not_bundled_is_refused() -> None:
    with pytest.raises(ConfigError, match="no bundled service weather; there are: calculator"):
        LocalMesh(MeshOptions(services=("clock", "weather")))


async def test_processes_are_told_of_this_mesh_and_not_of_the_users_own(tmp_path: Path) -> None:
    users = {
        "CONSUL_HTTP_ADDR": "consul.example:8500",
        "CONSUL_HTTP_TOKEN": "secret",
        "OPENAI_API_KEY": "sk-secret",
        "SKILLMESH_PORT": "7000",
        "SKILLMESH_INSTANCE_ID": "mine",
        "SKILLMESH_TRACE_COLLECTOR": "http://other",
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://jaeger:4318",
        "PATH": "/nowhere",
    }
    specs = MeshSpecs(users, "http://collector", tmp_path)
    for name in BUNDLED_SERVICES:
        spec = specs.service(name, "127.0.0.1:1")
        assert spec.needs == ("registry",)
        assert "secret" not in str(spec.env)
        assert spec.env["CONSUL_HTTP_ADDR"] == "127.0.0.1:1"
        assert spec.env["SKILLMESH_TRACE_COLLECTOR"] == "http://collector"
        assert spec.env["OTEL_EXPORTER_OTLP_ENDPOINT"] == "http://jaeger:4318"
        assert "SKILLMESH_PORT" not in spec.env
        assert "SKILLMESH_INSTANCE_ID" not in spec.env
    core = specs.core({"OPENAI_API_KEY": "placeholder"}, "127.0.0.1:1", ("registry",))
    assert core.env["OPENAI_API_KEY"] == "placeholder"
    assert "CONSUL_HTTP_TOKEN" not in core.env
    assert core.env["SKILLMESH_CORE_PORT"] == "0"
    assert "sk-secret" not in str(specs.model().spec.env)


async def test_sample_logs_are_written_unless_there_are_real_ones(tmp_path: Path) -> None:
    specs = MeshSpecs({**os.environ}, "http://collector", tmp_path)
    spec = specs.service("logs", "127.0.0.1:1")
    assert spec.prepare is not None
    await spec.prepare()
    assert list((tmp_path / "sample-logs").iterdir())
    real = MeshSpecs({"LOGS_DIRECTORY": "/var/log"}, "http://collector", tmp_path).service("logs", "127.0.0.1:1")
    assert real.prepare is None
    assert real.env["LOGS_DIRECTORY"] == "/var/log"


async def test_sample_logs_that_cannot_be_written_are_a_sentence(tmp_path: Path) -> None:
    spec = MeshSpecs({**os.environ}, "http://collector", tmp_path).service("logs", "127.0.0.1:1")
    (tmp_path / "sample-logs").rmdir()
    (tmp_path / "sample-logs").touch()
    assert spec.prepare is not None
    with pytest.raises(OSError, match="sample logs could not be written"):
        await spec.prepare()


@pytest.mark.parametrize(
    ("version", "told"), [("v1.8.7", False), ("v1.13.9", False), ("v1.14.0", True), ("v2.0.1", True)]
)
async def test_newer_agents_are_told_to_leave_their_other_grpc_port_alone(
    tmp_path: Path, version: str, told: bool
) -> None:
    command = await consul_command(program(tmp_path / "consul", f"echo Consul {version}"), (1, 2, 3))
    assert command[1:3] == ["agent", "-dev"]
    assert "-bind=127.0.0.1" in command
    assert ("grpc_tls = -1" in " ".join(command)) is told


async def test_what_is_no_consul_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is no Consul"):
        await consul_command(program(tmp_path / "consul", "echo hello"), (1, 2, 3))
    broken = tmp_path / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o700)
    with pytest.raises(ConfigError, match="cannot be run"):
        await consul_command(broken, (1, 2, 3))


def test_consul_is_the_one_that_is_named_or_on_the_path(tmp_path: Path) -> None:
    named = program(tmp_path / "consul", "true")
    assert find_consul({"SKILLMESH_CONSUL_BIN": str(named)}) == named
    assert find_consul({"PATH": str(tmp_path)}) == named
    assert find_consul({"PATH": "/nowhere"}) is None
    with pytest.raises(ConfigError, match="no program that can be run"):
        find_consul({"SKILLMESH_CONSUL_BIN": str(tmp_path / "none")})


async def test_a_mesh_ends_within_seconds_when_its_task_is_cancelled(tmp_path: Path) -> None:
    up = asyncio.Event()
    pids: list[int] = []

    async def run() -> None:
        async with LocalMesh(MeshOptions(services=(), model=False, environ=environ(tmp_path))) as mesh:
            pids.append(mesh.processes[0].pid)
            up.set()
            await asyncio.sleep(600)

    task = asyncio.create_task(run())
    await asyncio.wait_for(up.wait(), 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 20)
    assert not alive(pids[0])
