"""Each bundled service as its own process: what it serves, one call, and a clean end."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import grpc
import pytest

from skill_services.logs.sample import write_sample
from skillmesh.conventions import SKILL_NAME
from skillmesh.stubs import SkillServiceStub
from skillmesh.v1.skill_service_pb2 import DescribeRequest, InvokeRequest
from tests.support.bundled_service import bundled_service

_CALLS = {
    "calculator": ("calculate", {"expression": "2357 * 4821"}, '"result":11363097'),
    "clock": ("current_time", {"time_zone": "Tokyo"}, '"time_zone":"Asia/Tokyo"'),
    "units": ("convert_units", {"value": 5, "from_unit": "mile", "to_unit": "km"}, "8.04672"),
    "logs": ("search_logs", {"start": "1h", "level": "error"}, "oldest first"),
    "system": ("system_overview", {}, '"cpu_percent":'),
}
_FOREIGN = re.compile(r"^import time:.*\|\s+(openai|mcp|fastapi|starlette|uvicorn)\b", re.MULTILINE)


@pytest.mark.parametrize("service", _CALLS)
async def test_a_service_serves_its_skills_and_ends_cleanly(service: str, tmp_path: Path) -> None:
    write_sample(tmp_path, datetime.now(UTC))
    skill, arguments, answer = _CALLS[service]
    async with bundled_service(f"skill_services.{service}", LOGS_DIRECTORY=str(tmp_path)) as process:
        async with grpc.aio.insecure_channel(process.address) as channel:
            stub = SkillServiceStub(channel)
            described = await stub.describe(DescribeRequest(), timeout=10)
            request = InvokeRequest(skill=skill, call_id="1", arguments=json.dumps(arguments).encode())
            result = (await stub.invoke(request, timeout=10)).result
        assert answer in "".join([result.structured.decode(), *(part.text for part in result.parts)])
        assert skill in [descriptor.name for descriptor in described.skills]
        assert await process.stop() == 0


@pytest.mark.parametrize("service", _CALLS)
async def test_what_a_service_says_of_its_skills_is_complete(service: str, tmp_path: Path) -> None:
    async with (
        bundled_service(f"skill_services.{service}", LOGS_DIRECTORY=str(tmp_path)) as process,
        grpc.aio.insecure_channel(process.address) as channel,
    ):
        described = await SkillServiceStub(channel).describe(DescribeRequest(), timeout=10)
    for descriptor in described.skills:
        assert SKILL_NAME.fullmatch(descriptor.name)
        assert descriptor.description.startswith("Use when ")
        assert "Unlike" in descriptor.description or "For " in descriptor.description
        chinese = [s for s in descriptor.scenarios if not s.isascii()]
        assert min(len(chinese), len(descriptor.scenarios) - len(chinese)) >= 3
        assert (descriptor.owner, bool(descriptor.change_note), bool(descriptor.tags)) == ("skillmesh", True, True)
        assert descriptor.HasField("timeout")
        for parameter in json.loads(descriptor.parameters_schema)["properties"].values():
            assert parameter["description"]


@pytest.mark.parametrize("service", _CALLS)
async def test_a_service_imports_neither_a_model_client_nor_a_web_stack(service: str, tmp_path: Path) -> None:
    nowhere = "127.0.0.1:9"  # discard: nothing answers, but the clients for it are imported
    async with bundled_service(
        f"skill_services.{service}",
        options=["-X", "importtime"],
        LOGS_DIRECTORY=str(tmp_path),
        SKILLMESH_REGISTER="true",
        CONSUL_HTTP_ADDR=nowhere,
        SKILLMESH_TRACE_COLLECTOR=f"http://{nowhere}/v1/traces",
    ) as process:
        await process.says(r"\| +consul\.")
        await process.says(r"\| +opentelemetry\.exporter\.otlp\.proto\.http\.trace_exporter$")
        assert _FOREIGN.findall(process.stderr) == []
        assert re.search(r"\| +skill_services\.sdk$", process.stderr, re.MULTILINE)
