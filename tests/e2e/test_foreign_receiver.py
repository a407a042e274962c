"""A receiver that is not ours gets the whole trace of a run, over OTLP/HTTP."""

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.running_up import PATIENCE_SECONDS, processes_of, skillmesh

QUESTION = "What is 2357 * 4821, and what time is it in Tokyo?"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@contextmanager
def oteltap(folder: Path) -> Iterator[tuple[str, Path]]:
    """The receiver's address, and the file where it writes what it got."""
    port = free_port()
    output = folder / "received.ndjson"
    with output.open("wb") as file:
        process = subprocess.Popen([sys.executable, "-u", "-m", "oteltap", "--port", str(port)], stdout=file)
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while b"Listening" not in output.read_bytes():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}", output
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=10)


def spans_in(output: Path) -> list[dict[str, Any]]:
    spans: list[dict[str, Any]] = []
    for line in output.read_text(encoding="utf-8").splitlines():
        if line.startswith("{"):
            spans.extend(found_spans(json.loads(line)))
    return spans


def found_spans(value: Any) -> Iterator[dict[str, Any]]:
    """Every span in what was received, however deep: a mapping with a span id and a name."""
    if isinstance(value, dict):
        keys = {key.lower().replace("_", "") for key in value}
        if {"spanid", "name"} <= keys:
            yield {key.lower().replace("_", ""): item for key, item in value.items()}
        for item in value.values():
            yield from found_spans(item)
    elif isinstance(value, list):
        for item in value:
            yield from found_spans(item)


@pytest.mark.timeout(150)
def test_the_whole_trace_arrives_with_one_root_and_right_parents(tmp_path: Path) -> None:
    with oteltap(tmp_path) as (url, output):
        done = skillmesh("up", "--exit", "--ask", QUESTION, state=tmp_path, more={"OTEL_EXPORTER_OTLP_ENDPOINT": url})
        assert done.returncode == 0, done.stderr
        assert processes_of(tmp_path) == {}
        received = spans_in(output)
    (trace_id,) = {span["traceid"] for span in received if span["name"] == "invoke_agent skillmesh"}
    trace = {span["spanid"]: span for span in received if span["traceid"] == trace_id}
    roots = [span for span in trace.values() if not span.get("parentspanid") and not span.get("parentid")]
    assert [root["name"] for root in roots] == ["invoke_agent skillmesh"]
    parent = {key: trace.get(span.get("parentspanid") or span.get("parentid")) for key, span in trace.items()}

    def ancestors(key: str) -> list[str]:
        names = []
        above = parent[key]
        while above is not None:
            names.append(above["name"])
            above = parent[above["spanid"]]
        return names

    servers = [key for key, span in trace.items() if str(span.get("kind", "")).upper().endswith(("SERVER", "2"))]
    assert len(servers) == 2
    for key in servers:
        names = ancestors(key)
        assert names[0].startswith("skillmesh.v1.SkillService/Invoke")
        assert names[1].startswith("execute_tool ")
        assert names[-1] == "invoke_agent skillmesh"
    assert {"chat skillmesh-stand-in", "execute_tool calculate", "execute_tool current_time"} <= {
        span["name"] for span in trace.values()
    }
