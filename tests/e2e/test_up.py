"""The main job, as a newcomer meets it: one command, real processes, an answer, one trace."""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.running_up import RunningUp, environment, processes_of, running_up, skillmesh

QUESTION = "What is 2357 * 4821, and what time is it in Tokyo?"

pytestmark = pytest.mark.timeout(150)


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningUp]:
    """One mesh for the tests that only talk to it."""
    with running_up(tmp_path_factory.mktemp("mesh")) as mesh:
        yield mesh


def walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node["children"]:
        yield from walk(child)


def test_one_command_answers_shows_the_trace_and_leaves_nothing(tmp_path: Path) -> None:
    done = skillmesh("up", "--exit", "--ask", QUESTION, state=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "11363097" in done.stdout
    assert re.search(r"\d{2}:\d{2}", done.stdout)
    assert "execute_tool calculate" in done.stdout
    assert "missing" not in done.stdout
    assert "stand-in" in done.stderr
    assert processes_of(tmp_path) == {}


def test_the_same_in_chinese(up: RunningUp) -> None:
    done = skillmesh("ask", "计算 2357 乘以 4821", "-q", state=up.state)
    assert (done.returncode, done.stderr) == (0, "")
    assert "11363097" in done.stdout


def test_both_calls_overlap_and_each_is_served_by_another_process(up: RunningUp) -> None:
    asked = json.loads(skillmesh("ask", QUESTION, "--json", state=up.state).stdout)
    assert asked["reason"] == "answered"
    tree = json.loads(skillmesh("trace", asked["trace_id"], "--json", state=up.state).stdout)
    assert (tree["complete"], len(tree["roots"])) == (True, 1)
    calls = [node for node in walk(tree["roots"][0]) if node["name"].startswith("execute_tool")]
    assert {call["name"] for call in calls} == {"execute_tool calculate", "execute_tool current_time"}
    assert max(call["start_ns"] for call in calls) < min(call["end_ns"] for call in calls)
    servers = [node for call in calls for node in walk(call) if node["kind"] == "server"]
    assert {server["service"] for server in servers} == {"calculator", "clock"}
    assert len({server["pid"] for server in servers} | {tree["roots"][0]["pid"]}) == 3


def test_the_latest_run_is_the_one_shown_without_an_id(up: RunningUp) -> None:
    run_id = json.loads(skillmesh("ask", "5 miles in km", "--json", state=up.state).stdout)["run_id"]
    shown = skillmesh("trace", state=up.state)
    assert "execute_tool convert_units" in shown.stdout
    assert skillmesh("trace", run_id, state=up.state).stdout == shown.stdout


def test_events_are_one_json_object_a_line(up: RunningUp) -> None:
    lines = skillmesh("ask", "12 * 12", "--events", state=up.state).stdout.splitlines()
    names = [json.loads(line)["event"] for line in lines]
    assert names[-1] == "run_finished"
    assert {"run_started", "turn_started", "call_started", "attempt_started", "call_finished"} <= set(names)


def test_a_skill_is_called_without_a_model(up: RunningUp) -> None:
    done = skillmesh("call", "calculate", '{"expression": "6 * 7"}', "--json", state=up.state)
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["status"], answer["attempts"]) == (0, "success", 1)
    assert "42" in answer["text"]
    refused = skillmesh("call", "calculate", '{"expression": 5, "colour": 1}', state=up.state)
    assert refused.returncode == 1
    assert "expression" in refused.stderr
    assert "colour" in refused.stderr
    unknown = skillmesh("call", "calculat", state=up.state)
    assert (unknown.returncode, "calculate" in unknown.stderr) == (1, True)
    from_stdin = skillmesh("call", "calculate", "-", state=up.state, stdin='{"expression": "1+1"}')
    assert from_stdin.returncode == 0


def test_the_catalogue_is_listed_and_shown(up: RunningUp) -> None:
    listed = json.loads(skillmesh("skills", "--json", state=up.state).stdout)
    assert {"calculate", "current_time", "convert_units", "search_logs"} <= {skill["name"] for skill in listed}
    assert all(skill["available"] for skill in listed)
    assert "calculate" in skillmesh("skills", state=up.state).stdout
    shown = json.loads(skillmesh("skills", "show", "calculate", "--json", state=up.state).stdout)
    assert shown["parameters"]["properties"]["expression"]["type"] == "string"
    assert "parameters" in skillmesh("skills", "show", "calculate", state=up.state).stdout
    assert skillmesh("skills", "show", "nothing-like-it", state=up.state).returncode == 1


def test_doctor_finds_a_healthy_mesh_healthy(up: RunningUp) -> None:
    done = skillmesh("doctor", "--json", state=up.state)
    findings = json.loads(done.stdout)
    assert (done.returncode, [one for one in findings if one["level"] == "problem"]) == (0, [])
    assert {"consul", "model", "service calculator", "clocks", "versions"} <= {one["check"] for one in findings}
    assert "✓ consul" in skillmesh("doctor", state=up.state).stdout


def test_a_chat_remembers_its_commands(up: RunningUp) -> None:
    lines = "12 * 12\n\n/skills\n/reset\n3 * 3\n/quit\n"
    done = skillmesh("chat", state=up.state, stdin=lines)
    assert done.returncode == 0, done.stderr
    assert "144" in done.stdout
    assert "9" in done.stdout
    assert "calculate:" in done.stderr


def test_the_environment_is_printed_for_other_programs(up: RunningUp) -> None:
    lines = skillmesh("env", state=up.state).stdout.splitlines()
    assert all(re.fullmatch(r"export [A-Z_]+='[^']*'", line) for line in lines)
    assert any(line.startswith("export CONSUL_HTTP_ADDR=") for line in lines)


def test_the_core_serves_health_to_others(up: RunningUp) -> None:
    state = json.loads((up.state / "mesh.json").read_text(encoding="utf-8"))
    assert {process["name"] for process in state["processes"]} >= {"registry", "core", "calculator", "model"}


@pytest.mark.parametrize("with_signal", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_every_process(tmp_path: Path, with_signal: signal.Signals) -> None:
    with running_up(tmp_path, "--services", "calculator") as mesh:
        assert len(processes_of(tmp_path)) >= 4
        assert mesh.end(with_signal) == 0
    assert processes_of(tmp_path) == {}
    assert not (tmp_path / "mesh.json").exists()


def test_a_crashed_service_is_started_again(tmp_path: Path) -> None:
    with running_up(tmp_path, "--services", "calculator") as mesh:
        state = json.loads((tmp_path / "mesh.json").read_text(encoding="utf-8"))
        (pid,) = [one["pid"] for one in state["processes"] if one["name"] == "calculator"]
        os.kill(pid, signal.SIGKILL)
        mesh.wait_for("calculator ended (exit -9) and is started again")


@pytest.mark.parametrize(
    ("arguments", "more", "code", "words"),
    [
        (("up", "--services", "nonsense"), {}, 2, "There is no bundled service nonsense"),
        (("ask", "hello"), {"SKILLMESH_MAX_TURNS": "many"}, 2, "SKILLMESH_MAX_TURNS"),
        (("ask", "hello"), {}, 2, "No model is set"),
        (("skills",), {"CONSUL_HTTP_ADDR": "127.0.0.1:1", "SKILLMESH_CONSUL_TIMEOUT": "1"}, 3, "CONSUL_HTTP_ADDR"),
        (("skills",), {"CONSUL_HTTP_ADDR": "://"}, 2, "CONSUL_HTTP_ADDR"),
        (("trace",), {}, 2, "skillmesh up"),
        (("trace",), {"SKILLMESH_TRACE_COLLECTOR": "http://127.0.0.1:1"}, 3, "does not answer"),
        (("env",), {}, 3, "no mesh runs here"),
        (("serve", "--host", "0.0.0.0"), {}, 2, "SKILLMESH_INSECURE"),
        (("new", "Bad_Name"), {}, 2, "Bad_Name"),
        (("call", "x", "--timeout", "-1"), {}, 2, "timeout"),
        (("serve", "--port", "99999"), {}, 2, "port"),
        (("ask", "  "), {}, 2, "empty"),
        (("skills",), {"SKILLMESH_TIME_ZONE": "Mars/Base"}, 2, "SKILLMESH_TIME_ZONE"),
        (("skills",), {"CONSUL_HTTP_TOKEN": "a\nb"}, 2, "CONSUL_HTTP_TOKEN"),
        (("skills",), {"OPENAI_API_KEY": "键"}, 2, "OPENAI_API_KEY"),
        (("up", "--ask", "1+1", "--exit"), {"SKILLMESH_STATE_DIR": "/proc"}, 2, "/proc"),
    ],
)
def test_a_wrong_use_is_one_clear_sentence(
    tmp_path: Path, arguments: tuple[str, ...], more: dict[str, str], code: int, words: str
) -> None:
    done = skillmesh(*arguments, state=tmp_path, more=more)
    assert (done.returncode, words in done.stderr) == (code, True), done.stderr
    assert "Traceback" not in done.stderr


def test_a_model_endpoint_that_is_not_there_is_exit_3(up: RunningUp) -> None:
    more = {**mesh_environ(up), "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
    done = skillmesh("ask", "1+1", state=up.state, more=more)
    assert (done.returncode, "127.0.0.1:1" in done.stderr) == (3, True), done.stderr


@pytest.mark.parametrize(
    "arguments", [("skills",), ("call", "calculate", '{"expression": "1+1"}'), ("env",), ("--help",)]
)
@pytest.mark.parametrize(("redirect", "codes"), [(">&-", {0}), (">/dev/full", {2}), ("<&- >&- 2>&-", {0, 2})])
def test_output_that_cannot_be_written_is_no_crash(
    up: RunningUp, arguments: tuple[str, ...], redirect: str, codes: set[int]
) -> None:
    command = shlex.join([sys.executable, "-m", "agent_core.app.cli", *arguments])
    done = subprocess.run(
        ["bash", "-c", f"{command} {redirect}"],
        env=environment(up.state), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode in codes, done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_a_reader_that_leaves_early_ends_the_command_quietly(up: RunningUp) -> None:
    command = shlex.join([sys.executable, "-m", "agent_core.app.cli", "ask", "--events", "2+2"])
    done = subprocess.run(
        ["bash", "-c", f"{command} | head -1"],
        env=environment(up.state), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1


def test_arguments_that_are_no_text_are_refused_with_a_sentence(up: RunningUp) -> None:
    program = [sys.executable, "-m", "agent_core.app.cli", "call", "calculate"]
    for arguments, stdin in ((b"\xff\xfe", b""), (b"-", b"\xff\xfe\x00")):
        done = subprocess.run(
            [*program, arguments], input=stdin, env=environment(up.state), capture_output=True, timeout=60, check=False
        )
        assert (done.returncode, b"Traceback" in done.stderr, b"JSON" in done.stderr) == (1, False, True), done.stderr


def mesh_environ(up: RunningUp) -> dict[str, str]:
    environ: dict[str, str] = json.loads((up.state / "mesh.json").read_text(encoding="utf-8"))["environ"]
    return environ


def test_a_busy_port_is_one_clear_sentence(tmp_path: Path, up: RunningUp) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = skillmesh("serve", "--port", port, state=tmp_path, more=mesh_environ(up))
    assert (done.returncode, port in done.stderr) == (2, True), done.stderr
