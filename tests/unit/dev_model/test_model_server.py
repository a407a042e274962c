"""The HTTP side of the stand-in, in this process."""

import asyncio
import io
import json
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from agent_core.dev.model.__main__ import main
from agent_core.dev.model.sentences import MODEL, NOTE
from agent_core.dev.model.server import MAX_BODY_BYTES, build_app, running
from tests.support.offered_tools import MESH

NOW = datetime(2026, 11, 30, 20, 30, tzinfo=UTC)
Asked = tuple[aiohttp.ClientSession, str]


@pytest.fixture
async def server() -> AsyncIterator[Asked]:
    async with running(build_app(now=lambda: NOW)) as url, aiohttp.ClientSession() as session:
        yield session, url


def body(question: str, **fields: Any) -> dict[str, Any]:
    return {"model": "gpt-x", "messages": [{"role": "user", "content": question}], "tools": MESH, **fields}


async def post(server: Asked, data: Any) -> tuple[int, Any]:
    session, url = server
    async with session.post(f"{url}/chat/completions", data=data) as response:
        return response.status, await response.json()


async def test_models_are_listed_as_openai_lists_them(server: Asked) -> None:
    session, url = server
    async with session.get(f"{url}/models") as response:
        listed = await response.json()
    assert listed["object"] == "list"
    assert [(m["id"], m["object"], m["owned_by"]) for m in listed["data"]] == [(MODEL, "model", "skillmesh")]
    async with session.get(f"{url}/models/{MODEL}") as response:
        assert (await response.json())["id"] == MODEL
    async with session.get(f"{url}/models/other") as response:
        assert response.status == 404
        assert (await response.json())["error"]["code"] == "model_not_found"


async def test_a_whole_reply_bears_the_stand_ins_name_and_note(server: Asked) -> None:
    status, reply = await post(server, json.dumps(body("What is 2357 * 4821?")))
    assert status == 200
    assert reply["object"] == "chat.completion"
    assert reply["model"] == reply["system_fingerprint"] == MODEL
    assert reply["x_skillmesh_stand_in"] == NOTE
    assert reply["created"] == int(NOW.timestamp())
    (choice,) = reply["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] is None
    assert choice["message"]["tool_calls"][0]["function"] == {
        "name": "calculate",
        "arguments": '{"expression": "2357 * 4821"}',
    }
    assert reply["usage"]["total_tokens"] == reply["usage"]["prompt_tokens"] + reply["usage"]["completion_tokens"]


async def test_a_stream_has_role_pieces_finish_usage_and_done(server: Asked) -> None:
    session, url = server
    asked = body("Who wrote Hamlet?", stream=True, stream_options={"include_usage": True})
    async with session.post(f"{url}/chat/completions", json=asked) as response:
        assert response.headers["Content-Type"] == "text/event-stream"
        assert response.headers["Cache-Control"] == "no-cache"
        lines = [line for line in (await response.text()).split("\n\n") if line]
    assert lines[-1] == "data: [DONE]"
    parts = [json.loads(line.removeprefix("data: ")) for line in lines[:-1]]
    assert {p["object"] for p in parts} == {"chat.completion.chunk"}
    assert len({p["id"] for p in parts}) == 1
    assert parts[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert len(parts) > 8
    assert parts[-2]["choices"][0] == {"index": 0, "delta": {}, "logprobs": None, "finish_reason": "stop"}
    assert parts[-1]["choices"] == []
    assert parts[-1]["usage"]["completion_tokens"] > 0
    assert all(p["x_skillmesh_stand_in"] == NOTE for p in parts)


@pytest.mark.parametrize(
    ("data", "status", "says"),
    [
        ("{", 400, "no valid JSON"),
        ('"\\ud800"', 400, "no valid JSON"),
        ("[]", 400, "JSON object"),
        ("{}", 400, "model parameter"),
        (io.BytesIO(b" " * (MAX_BODY_BYTES + 1)), 413, "exceeds"),
    ],
    ids=["broken", "surrogate", "list", "empty", "large"],
)
async def test_bad_requests_are_refused_in_openais_shape(server: Asked, data: Any, status: int, says: str) -> None:
    got, reply = await post(server, data)
    assert got == status
    assert says in reply["error"]["message"]
    assert set(reply["error"]) == {"message", "type", "param", "code"}
    assert reply["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize(("method", "path"), [("GET", "/nowhere"), ("GET", "/chat/completions"), ("POST", "/models")])
async def test_other_paths_and_methods_are_refused_in_openais_shape(server: Asked, method: str, path: str) -> None:
    session, url = server
    async with session.request(method, url + path) as response:
        assert response.status in (404, 405)
        assert (await response.json())["error"]["message"].startswith("Invalid URL")


async def test_an_address_in_use_ends_the_process_with_a_sentence(server: Asked) -> None:
    port = server[1].rpartition(":")[2].removesuffix("/v1")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "agent_core.dev.model", "--port", port, stderr=asyncio.subprocess.PIPE
    )
    _, said = await asyncio.wait_for(process.communicate(), 20)
    assert process.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}" in said.decode()
    assert "Traceback" not in said.decode()


def test_a_wrong_script_or_port_is_refused_with_a_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["--script", str(tmp_path / "none.json")]) == 2
    assert "cannot be read" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main(["--port", "70000"])
    assert ended.value.code == 2
    assert "no port" in capsys.readouterr().err
