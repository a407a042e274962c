"""Scripts: how they are read, which reply is next, and what goes over the wire."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest

from agent_core.dev.model import script as script_module
from agent_core.dev.model.chat import ChatRequest, read_request
from agent_core.dev.model.player import Player
from agent_core.dev.model.playing import player_for
from agent_core.dev.model.script import MAX_SCRIPT_BYTES, Script, ScriptError, load_script, parse_script
from agent_core.dev.model.server import build_app, running
from tests.support.offered_tools import CALCULATE


def script(*replies: dict[str, Any], **fields: Any) -> Script:
    return parse_script(orjson.dumps({"replies": replies, **fields}))


def request(question: str = "Hi", *, results: bool = False) -> ChatRequest:
    messages: list[dict[str, Any]] = [{"role": "user", "content": question}]
    if results:
        asked = {"id": "a", "type": "function", "function": {"name": "x", "arguments": "{}"}}
        messages += [
            {"role": "assistant", "tool_calls": [asked]},
            {"role": "tool", "tool_call_id": "a", "content": "1"},
        ]
    return read_request({"model": "x", "messages": messages})


def texts(player: Player, *requests: ChatRequest) -> list[str | None]:
    replies = [player.next_reply(r) for r in requests]
    return [None if r is None else r.text for r in replies]


@asynccontextmanager
async def playing(*replies: dict[str, Any], **fields: Any) -> AsyncIterator["Client"]:
    seen: list[Any] = []
    app = build_app(play=player_for(script(*replies, **fields)), seen=lambda body, _: seen.append(body))
    async with running(app) as url, aiohttp.ClientSession() as session:
        yield Client(session, url, seen)


class Client:
    def __init__(self, session: aiohttp.ClientSession, url: str, seen: list[Any]) -> None:
        self._session = session
        self._url = url
        self.seen = seen

    async def ask(
        self, question: str = "Hi", *, stream: bool = True, usage: bool = False, timeout: float = 10
    ) -> tuple[int, dict[str, str], str]:
        body: dict[str, Any] = {"model": "x", "stream": stream, "messages": [{"role": "user", "content": question}]}
        if usage:
            body["stream_options"] = {"include_usage": True}
        limit = aiohttp.ClientTimeout(total=timeout)
        async with self._session.post(f"{self._url}/chat/completions", json=body, timeout=limit) as response:
            return response.status, dict(response.headers), await response.text()


def chunks(text: str) -> list[Any]:
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def content(text: str) -> str:
    return "".join(c["choices"][0]["delta"].get("content") or "" for c in chunks(text) if c.get("choices"))


def test_replies_without_a_rule_are_played_in_order_and_then_the_stand_in_answers() -> None:
    player = Player(script({"text": "one"}, {"text": "two", "times": 2}))
    assert texts(player, *[request()] * 4) == ["one", "two", "two", None]
    assert player.served == 3


def test_a_rule_goes_before_the_order_and_may_run_out() -> None:
    player = Player(
        script(
            {"text": "first"},
            {"text": "rain", "when": {"contains": "WEATHER"}, "times": 1},
            {"text": "match", "when": {"matches": r"\d{3}"}},
            {"text": "after", "when": {"after_results": True}},
        )
    )
    asked = [request("weather 123"), request("weather 123"), request("x", results=True), request("y"), request("z")]
    assert texts(player, *asked) == ["rain", "match", "after", "first", None]


def test_what_happens_at_the_end_is_chosen() -> None:
    assert texts(Player(script({"text": "one"}, otherwise="repeat")), *[request()] * 3) == ["one"] * 3
    spent = Player(script(otherwise="error")).next_reply(request())
    assert spent is not None
    assert spent.status == 500


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"{", "no valid JSON"),
        (b"3", "valid dictionary"),
        (b'{"replies": [{"txt": "x"}]}', r"replies\.0\.txt"),
        (b'[{"text": "x", "calls": [], "chunks": []}]', "give one of"),
        (b"[{}]", "says nothing"),
        (b'[{"text": "x", "when": {"matches": "("}}]', "no regular expression"),
        (b'[{"text": "x", "status": 99}]', r"replies\.0\.status"),
        (b'[{"text": "x", "delay": -1}]', r"replies\.0\.delay"),
    ],
)
def test_a_wrong_script_is_refused_with_the_place_and_the_reason(text: bytes, says: str) -> None:
    with pytest.raises(ScriptError, match=says):
        parse_script(text)


def test_a_script_is_a_json_jsonl_or_toml_file(tmp_path: Path) -> None:
    files = {
        "a.json": '[{"text": "x"}]',
        "b.jsonl": '{"text": "x"}\n\n{"text": "y"}\n',
        "c.toml": 'otherwise = "repeat"\n[[replies]]\ntext = "x"\n[replies.when]\ncontains = "a"\n',
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert [len(load_script(tmp_path / name).replies) for name in files] == [1, 2, 1]
    with pytest.raises(ScriptError, match="cannot be read"):
        load_script(tmp_path / "none.json")
    (tmp_path / "bad.toml").write_text("= 3")
    with pytest.raises(ScriptError, match=r"bad\.toml: is no valid TOML"):
        load_script(tmp_path / "bad.toml")
    (tmp_path / "huge.json").write_bytes(b" " * (MAX_SCRIPT_BYTES + 1))
    with pytest.raises(ScriptError, match="larger than"):
        load_script(tmp_path / "huge.json")


def test_the_documented_example_can_be_played() -> None:
    example = (script_module.__doc__ or "").split("\n\n")[2]
    assert len(parse_script(example.encode()).replies) == 5


async def test_text_is_played_chunk_by_chunk_with_a_finish_and_usage() -> None:
    async with playing({"chunks": ["Hel", "lo"], "usage": {"total_tokens": 7}}) as client:
        status, headers, text = await client.ask()
    assert status == 200
    assert headers["Content-Type"] == "text/event-stream"
    assert [c["choices"][0]["delta"].get("content") for c in chunks(text)[:3]] == ["", "Hel", "lo"]
    assert chunks(text)[-2]["choices"][0]["finish_reason"] == "stop"
    assert chunks(text)[-1]["usage"] == {"total_tokens": 7}
    assert chunks(text)[-1]["choices"] == []
    assert text.endswith("data: [DONE]\n\n")


async def test_calls_are_played_with_their_arguments_as_written() -> None:
    calls = [{"name": "a", "arguments": {"x": 1}}, {"name": "b", "arguments": "{broken", "id": "mine"}]
    async with playing({"calls": calls, "text": "Well:", "times": 2}) as client:
        _, _, streamed = await client.ask(usage=True)
        _, _, whole = await client.ask(stream=False)
    assert content(streamed) == "Well:"
    assert chunks(streamed)[-2]["choices"][0]["finish_reason"] == "tool_calls"
    assert chunks(streamed)[-1]["usage"]["completion_tokens"] > 0
    message = json.loads(whole)["choices"][0]["message"]
    assert [c["function"]["arguments"] for c in message["tool_calls"]] == ['{"x":1}', "{broken"]
    assert [c["id"] for c in message["tool_calls"]] == ["call_scripted_0", "mine"]


async def test_deltas_whole_chunks_and_raw_lines_are_played_as_written() -> None:
    delta = {"tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": ""}}]}
    async with playing(
        {"deltas": [delta], "finish_reason": "length", "usage": False},
        {"chunk_objects": [{"choices": [], "x": 1}], "done": False},
        {"raw": ["data: {broken", "", ": comment"]},
    ) as client:
        first, second, third = [(await client.ask(usage=True))[2] for _ in range(3)]
    assert [c["choices"][0]["delta"] for c in chunks(first)] == [delta, {}]
    assert chunks(first)[-1]["choices"][0]["finish_reason"] == "length"
    assert second == 'data: {"choices":[],"x":1}\n\n'
    assert third == "data: {broken\n\n: comment\n"


async def test_refusals_are_played_with_status_headers_and_error() -> None:
    async with playing(
        {"status": 429, "headers": {"Retry-After": "2"}, "error": "slow down"},
        {"status": 401, "error": {"message": "no", "code": "invalid_api_key"}},
        {"status": 500},
        {"status": 503, "body": "<html>", "content_type": "text/html"},
        {"body": {"whole": True}, "content_type": "application/json"},
    ) as client:
        replies = [await client.ask() for _ in range(5)]
    assert [r[0] for r in replies] == [429, 401, 500, 503, 200]
    assert replies[0][1]["Retry-After"] == "2"
    assert json.loads(replies[0][2])["error"]["type"] == "rate_limit_error"
    assert json.loads(replies[1][2]) == {"error": {"message": "no", "code": "invalid_api_key"}}
    assert json.loads(replies[2][2])["error"]["type"] == "server_error"
    assert (replies[3][1]["Content-Type"], replies[3][2]) == ("text/html", "<html>")
    assert json.loads(replies[4][2]) == {"whole": True}


async def test_streams_break_as_the_script_says() -> None:
    async with playing(
        {"empty": True},
        {"text": "half an answer", "cut": True},
        {"chunks": ["a", "b", "c"], "cut_after": 2},
        {"text": "x", "broken_line": True},
        {"text": "x", "error_chunk": "overloaded"},
        {"text": "x", "error_chunk": {"message": "m"}},
        {"empty": True},
    ) as client:
        empty, cut, after, broken, failed, failed_too = [(await client.ask())[2] for _ in range(6)]
        nothing = await client.ask(stream=False)
    assert empty == ""
    assert content(cut) == "half an answer"
    assert 'finish_reason":"stop' not in cut
    assert "[DONE]" not in cut
    assert content(after) == "a"
    assert 'data: {"choices": [{"delta": {"content": "br\n' in broken
    assert chunks(failed)[-1]["error"]["message"] == "overloaded"
    assert chunks(failed_too)[-1] == {"error": {"message": "m"}}
    assert nothing[2] == ""


async def test_an_aborted_stream_breaks_the_connection() -> None:
    async with playing({"text": "half", "cut": True, "abort": True}) as client:
        with pytest.raises(aiohttp.ClientError):
            await client.ask()


async def test_a_stall_outlasts_the_callers_patience_and_does_not_hold_up_others() -> None:
    async with playing(
        {"text": "late", "stall": 60}, {"text": "late", "stall": 60, "stall_after": 1}, {"text": "b", "delay": 0.001}
    ) as client:
        for _ in range(2):
            with pytest.raises(TimeoutError):
                await client.ask(timeout=0.2)
        assert content((await client.ask())[2]) == "b"


async def test_the_stand_in_answers_what_the_script_leaves() -> None:
    async with playing({"text": "scripted"}) as client:
        assert content((await client.ask())[2]) == "scripted"
        assert "stand-in" in content((await client.ask())[2])
        assert [b["messages"][0]["content"] for b in client.seen] == ["Hi", "Hi"]


def test_a_scripted_tool_is_not_checked_against_the_tools_offered() -> None:
    offered = read_request({"model": "x", "messages": [{"role": "user", "content": "q"}], "tools": [CALCULATE]})
    reply = Player(script({"calls": [{"name": "unknown"}]})).next_reply(offered)
    assert reply is not None
    assert reply.calls is not None
    assert reply.calls[0].arguments_text() == "{}"
