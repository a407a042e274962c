"""`skillmesh doctor` on meshes that are ill: each illness is named, with what to do."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from agent_core.app.diagnosis import diagnose
from tests.support.dev_registry import dev_registry
from tests.support.eventually import eventually
from tests.support.service_process import demo_service

Finding = dict[str, str]


@asynccontextmanager
async def answering(answers: Mapping[str, web.Response]) -> AsyncIterator[str]:
    """An HTTP server with one fixed answer a path; its URL."""

    async def answer(request: web.Request) -> web.Response:
        fixed = answers.get(request.path)
        if fixed is None:
            return web.Response(status=404)
        return web.Response(status=fixed.status, body=fixed.body, headers=fixed.headers)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "SKILLMESH_TRACE_COLLECTOR", "OPENAI_API_KEY", "SKILLMESH_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SKILLMESH_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("SKILLMESH_CONSUL_TIMEOUT", "0.3")
    monkeypatch.setenv("CONSUL_HTTP_ADDR", "127.0.0.1:1")
    monkeypatch.setenv("SKILLMESH_MODEL", "m-1")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")


async def findings(capsys: pytest.CaptureFixture[str], code: int = 1) -> dict[str, Finding]:
    assert await diagnose(as_json=True) == code
    shown: list[Finding] = json.loads(capsys.readouterr().out)
    return {finding["check"]: finding for finding in shown}


async def test_nothing_there_is_said_of_each_part(capsys: pytest.CaptureFixture[str]) -> None:
    found = await findings(capsys)
    assert found["consul"]["level"] == "problem"
    assert "CONSUL_HTTP_ADDR" in found["consul"]["advice"]
    assert found["services"]["level"] == "problem"
    assert "OPENAI_BASE_URL" in found["model"]["advice"]
    assert found["traces"]["level"] == "warning"


async def test_a_wrong_setting_ends_the_check_with_its_name(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLMESH_MAX_TURNS", "none")
    found = await findings(capsys)
    assert "SKILLMESH_MAX_TURNS" in found["settings"]["seen"]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (web.Response(status=403), "token is refused"),
        (web.Response(status=500, text="No cluster leader"), "no leader"),
        (web.Response(text='""'), "no leader"),
    ],
)
async def test_a_consul_that_cannot_serve_is_told_apart(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, answer: web.Response, words: str
) -> None:
    async with answering({"/v1/status/leader": answer}) as url:
        monkeypatch.setenv("CONSUL_HTTP_ADDR", url)
        assert words in (await findings(capsys))["consul"]["seen"]


@pytest.mark.parametrize(
    ("answer", "level", "words"),
    [
        (web.Response(status=401), "problem", "refuses the key"),
        (web.Response(status=404), "warning", "is not known"),
        (web.Response(text='{"data": [{"id": "other"}]}'), "warning", "does not list m-1"),
        (web.Response(text='{"data": [{"id": "m-1"}]}'), "ok", "m-1 at"),
    ],
)
async def test_a_model_endpoint_is_judged_by_its_list(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, answer: web.Response, level: str, words: str
) -> None:
    async with answering({"/v1/models": answer}) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "s3cret")
        found = (await findings(capsys))["model"]
    assert (found["level"], words in found["seen"]) == (level, True)
    assert "s3cret" not in str(found)


async def test_no_model_is_a_problem(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SKILLMESH_MODEL")
    assert "SKILLMESH_MODEL" in (await findings(capsys))["model"]["advice"]


async def test_clocks_that_differ_are_told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    late = web.Response(text='"127.0.0.1:8300"', headers={"Date": "Mon, 30 Nov 2020 10:00:00 GMT"})
    async with answering({"/v1/status/leader": late}) as url:
        monkeypatch.setenv("CONSUL_HTTP_ADDR", url)
        found = (await findings(capsys))["clocks"]
    assert (found["level"], "NTP" in found["advice"]) == ("warning", True)


async def test_exporters_are_knocked_at(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    async with answering({}) as url:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        assert (await findings(capsys))["traces"]["level"] == "ok"
    assert (await findings(capsys))["traces"]["level"] == "problem"


async def test_what_keeps_a_skill_from_the_model_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    flag = tmp_path / "flag"
    flag.touch()
    async with dev_registry() as registry:
        address = f"127.0.0.1:{registry.port}"
        monkeypatch.setenv("CONSUL_HTTP_ADDR", address)
        monkeypatch.setenv("SKILLMESH_CONSUL_TIMEOUT", "10")
        assert (await findings(capsys))["services"]["level"] == "warning"
        variables = {"SKILLMESH_REGISTER": "true", "CONSUL_HTTP_ADDR": address, "DEMO_FLAG": str(flag)}
        async with demo_service(**variables) as service:
            await service.says("Registered in Consul")
            found: dict[str, Finding] = {}

            async def seen() -> bool:
                found.update(await findings(capsys))
                return "service demo" in found

            await eventually(seen, 20)
    assert found["service demo"]["level"] == "ok"
    assert found["skill flagged"]["seen"] == "the flag is up"
