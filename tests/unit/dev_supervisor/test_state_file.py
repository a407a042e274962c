import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent_core.dev.runtime_dir import KEPT, make_runtime_directory
from agent_core.dev.state_file import RunningMesh, RunningProcess, StateFile, read_running, state_directory

MESH = RunningMesh(
    pid=os.getpid(),
    environ={"CONSUL_HTTP_ADDR": "127.0.0.1:1"},
    log_dir="/logs",
    processes=(RunningProcess("registry", 7, "/logs/registry.log"),),
)


def test_a_published_mesh_is_found_and_after_its_removal_is_not(tmp_path: Path) -> None:
    state = StateFile(tmp_path / "state")
    assert read_running(tmp_path / "state") is None
    assert state.publish(MESH)
    assert read_running(tmp_path / "state") == MESH
    assert (tmp_path / "state" / "mesh.json").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700
    state.remove()
    assert read_running(tmp_path / "state") is None
    assert not (tmp_path / "state" / "mesh.json").exists()


def test_the_first_of_two_is_found_and_the_second_leaves_it_alone(tmp_path: Path) -> None:
    first, second = StateFile(tmp_path), StateFile(tmp_path)
    assert first.publish(MESH)
    assert not second.publish(RunningMesh(pid=os.getpid(), environ={}, log_dir="/other"))
    second.remove()
    assert read_running(tmp_path) == MESH
    first.remove()
    assert second.publish(MESH)
    second.remove()


def test_publishing_again_replaces_what_was_said(tmp_path: Path) -> None:
    state = StateFile(tmp_path)
    state.publish(MESH)
    changed = RunningMesh(pid=os.getpid(), environ={}, log_dir="/logs")
    assert state.publish(changed)
    assert read_running(tmp_path) == changed
    state.remove()


def test_the_file_of_a_mesh_that_was_killed_is_a_leftover(tmp_path: Path) -> None:
    code = (
        "import os, sys, signal; from pathlib import Path; from agent_core.dev.state_file import *;"
        "StateFile(Path(sys.argv[1])).publish(RunningMesh(pid=os.getpid(), environ={}, log_dir=''));"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False, timeout=20)
    assert (tmp_path / "mesh.json").exists()
    assert read_running(tmp_path) is None


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", json.dumps({"format": 99}), json.dumps({"format": 1, "processes": [{}]}), "x" * 300_000],
    ids=["empty", "list", "nothing", "other version", "no process", "too long"],
)
def test_a_file_that_cannot_be_read_is_no_mesh(tmp_path: Path, text: str) -> None:
    state = StateFile(tmp_path)
    state.publish(MESH)
    (tmp_path / "mesh.json").write_text(text)
    assert read_running(tmp_path) is None
    state.remove()


def test_the_directory_is_the_one_named_or_that_of_the_session_or_the_home(tmp_path: Path) -> None:
    assert state_directory({"SKILLMESH_STATE_DIR": "/named", "XDG_RUNTIME_DIR": str(tmp_path)}) == Path("/named")
    assert state_directory({"XDG_RUNTIME_DIR": str(tmp_path)}) == tmp_path / "skillmesh"
    assert state_directory({"XDG_STATE_HOME": str(tmp_path)}) == tmp_path / "skillmesh"
    assert state_directory({"XDG_RUNTIME_DIR": str(tmp_path / "no")}) == Path.home() / ".local/state/skillmesh"


def test_directories_of_earlier_meshes_go_in_the_end_but_not_while_they_run(tmp_path: Path) -> None:
    mine = make_runtime_directory(tmp_path)
    assert mine.name.startswith(f"{os.getpid()}-")
    assert mine.stat().st_mode & 0o777 == 0o700
    dead = subprocess.run(
        [sys.executable, "-I", "-S", "-c", "import os; print(os.getpid())"], check=True, capture_output=True
    )
    for number in range(KEPT + 3):
        old = tmp_path / "runs" / f"{int(dead.stdout)}-{number}"
        old.mkdir()
        os.utime(old, (number, number))
    (tmp_path / "runs" / "odd").mkdir()
    make_runtime_directory(tmp_path)
    left = {directory.name.partition("-")[2] for directory in (tmp_path / "runs").iterdir()}
    assert mine.exists()
    assert "0" not in left
    assert str(KEPT + 2) in left
