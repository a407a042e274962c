"""start_service.py NAME: start a bundled skill service on a free port, with no registry, and call its health."""

import os
import re
import signal
import subprocess
import sys

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc


def main() -> int:
    environ = {**os.environ, "SKILLMESH_REGISTER": "false", "SKILLMESH_PORT": "0"}
    process = subprocess.Popen(  # noqa: S603 - the name is ours
        [sys.executable, "-m", f"skill_services.{sys.argv[1]}"], stderr=subprocess.PIPE, text=True, env=environ
    )
    try:
        for line in process.stderr or ():
            address = re.search(r"127\.0\.0\.1:(\d+)", line)
            if address:
                return _check(address.group(0))
        sys.stderr.write("the service ended before it served\n")
        return 1
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=20)


def _check(address: str) -> int:
    with grpc.insecure_channel(address) as channel:
        request = health_pb2.HealthCheckRequest(service="skillmesh.v1.SkillService")
        status = health_pb2_grpc.HealthStub(channel).Check(request, timeout=5).status
    sys.stdout.write(f"{address}: {health_pb2.HealthCheckResponse.ServingStatus.Name(status)}\n")
    return 0 if status == health_pb2.HealthCheckResponse.SERVING else 1


if __name__ == "__main__":
    sys.exit(main())
