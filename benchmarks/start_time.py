"""How long a skill service takes from the start of its process to health SERVING, beside bare Python and `import grpc`.

`python benchmarks/start_time.py [--rounds 5] [--json]`. Rounds are interleaved, medians are shown; the ratio is to
`python + import grpc`, which no service can beat. Targets: a service under 1 s, `skillmesh --help` under 0.5 s.
"""

import argparse
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import grpc
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse

from skillmesh.conventions import SKILL_SERVICE

SERVICES: Final = ("calculator", "clock", "units", "logs", "system")
BASELINE: Final = "python + import grpc"
_SERVICE_TARGET: Final = 1.0
_HELP_TARGET: Final = 0.5
_LIMIT_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.002


def seconds_to_end(command: list[str]) -> float:
    """Wall time of a command that ends by itself."""
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=_LIMIT_SECONDS)
    return time.perf_counter() - started


def seconds_to_serving(service: str, logs: Path) -> float:
    """From the start of the process until its health service answers SERVING."""
    port = _free_port()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SKILLMESH_", "OTEL_"))}
    environment |= {"SKILLMESH_PORT": str(port), "SKILLMESH_REGISTER": "false", "LOGS_DIRECTORY": str(logs)}
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", f"skill_services.{service}"],
        env=environment,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for_port(port, process)
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            _wait_for_serving(channel)
        return time.perf_counter() - started
    finally:
        process.terminate()
        process.wait(_LIMIT_SECONDS)


def _wait_for_port(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _LIMIT_SECONDS
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None:
            raise SystemExit(f"the service ended with exit code {process.returncode}")
        time.sleep(_POLL_SECONDS)
    raise SystemExit("the service opened no port in time")


def _wait_for_serving(channel: grpc.Channel) -> None:
    check: grpc.UnaryUnaryMultiCallable[HealthCheckRequest, HealthCheckResponse] = channel.unary_unary(
        "/grpc.health.v1.Health/Check",
        request_serializer=HealthCheckRequest.SerializeToString,
        response_deserializer=HealthCheckResponse.FromString,
    )
    request = HealthCheckRequest(service=SKILL_SERVICE)
    end = time.monotonic() + _LIMIT_SECONDS
    while time.monotonic() < end:
        try:
            if check(request, timeout=5, wait_for_ready=True).status == HealthCheckResponse.SERVING:
                return
        except grpc.RpcError as error:
            if error.code() is not grpc.StatusCode.NOT_FOUND:
                raise
        time.sleep(_POLL_SECONDS)
    raise SystemExit("the service did not become SERVING in time")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def measurements(logs: Path) -> dict[str, tuple[Callable[[], float], float | None]]:
    """By name: how to measure, and the target in seconds."""
    python = sys.executable
    named: dict[str, tuple[Callable[[], float], float | None]] = {
        "python": (partial(seconds_to_end, [python, "-c", "pass"]), None),
        BASELINE: (partial(seconds_to_end, [python, "-c", "import grpc"]), None),
        **{service: (partial(seconds_to_serving, service, logs), _SERVICE_TARGET) for service in SERVICES},
    }
    command = shutil.which("skillmesh", path=str(Path(python).parent))
    if command:
        named["skillmesh --help"] = (partial(seconds_to_end, [command, "--help"]), _HELP_TARGET)
    return named


def main() -> int:
    """Exit code 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as logs:
        named = measurements(Path(logs))
        for measure, _ in named.values():
            measure()  # bytecode and caches
        taken: dict[str, list[float]] = {name: [] for name in named}
        for _ in range(options.rounds):
            for name, (measure, _target) in named.items():
                taken[name].append(measure())
    medians = {name: statistics.median(values) for name, values in taken.items()}
    rows = [
        {
            "name": name,
            "median_seconds": round(medians[name], 3),
            "ratio": round(medians[name] / medians[BASELINE], 2),
            "target_seconds": target,
            "met": target is None or medians[name] < target,
        }
        for name, (_, target) in named.items()
    ]
    if options.json:
        print(json.dumps({"rounds": options.rounds, "baseline": BASELINE, "rows": rows}))
    else:
        print(f"{'':22}{'median s':>10}{'x baseline':>12}{'target s':>10}")
        for row in rows:
            target_text = row["target_seconds"] or ""
            missed = "" if row["met"] else "  missed"
            print(f"{row['name']!s:22}{row['median_seconds']:>10}{row['ratio']:>12}{target_text!s:>10}{missed}")
    return 0 if all(row["met"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
