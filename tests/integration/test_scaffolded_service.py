"""What `skillmesh new` writes works as it is: it lints, its tests pass, and it serves."""

import asyncio
import json
import os
import sys
from pathlib import Path

import grpc
import pytest

from agent_core.app.scaffold import package_name, scaffold
from skillmesh.stubs import SkillServiceStub
from skillmesh.v1.skill_service_pb2 import InvokeRequest
from tests.support.bundled_service import bundled_service

_NAMES = ["weather-report", "a" * 63]


async def run(folder: Path, *command: str) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        *command,
        cwd=folder,
        env={name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, said.decode()


@pytest.mark.parametrize("name", _NAMES)
async def test_a_new_service_lints_and_its_tests_pass(name: str, tmp_path: Path) -> None:
    folder = scaffold(name, tmp_path)
    await run(folder, "ruff", "check", "--no-cache")
    await run(folder, "ruff", "format", "--no-cache", "--check")
    await run(folder, "pytest", "-q", "-p", "no:cacheprovider")


async def test_a_new_service_serves(tmp_path: Path) -> None:
    folder = scaffold("weather-report", tmp_path)
    async with bundled_service(package_name("weather-report"), folder=folder) as process:
        async with grpc.aio.insecure_channel(process.address) as channel:
            arguments = json.dumps({"person": "Ada"}).encode()
            request = InvokeRequest(skill="hello_weather_report", call_id="1", arguments=arguments)
            reply = await SkillServiceStub(channel).invoke(request, timeout=10)
        assert reply.result.structured == b'{"greeting":"Hello, Ada!"}'
        assert await process.stop() == 0
