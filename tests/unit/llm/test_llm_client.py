"""The client against an endpoint that behaves, and against every way of not behaving."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from agent_core.domain.errors import ModelError, PromptTooLongError
from agent_core.domain.events import Usage
from agent_core.domain.model import (
    AssistantMessage,
    ModelChunk,
    ModelReply,
    ModelRequest,
    TextChunk,
    ToolMessage,
    ToolRequest,
    ToolSpec,
    UserMessage,
)
from agent_core.llm.client import OpenAIChatModel
from agent_core.llm.config import ModelConfig
from agent_core.llm.endpoint import MAX_BODY_BYTES
from agent_core.llm.traced import TracedChatModel
from tests.support.scripted_endpoint import (
    DONE,
    Answer,
    Asked,
    Reply,
    ScriptedEndpoint,
    calls,
    chunk,
    data,
    refuses,
    says,
    scripted_endpoint,
    stream,
    whole,
)
from tests.support.scripted_model import model_request

KEY = "sk-secret-123"
TOOL = ToolSpec("f", "does f", b'{"type":"object"}')


@asynccontextmanager
async def client_of(*script: Answer, **settings: Any) -> AsyncIterator[tuple[OpenAIChatModel, ScriptedEndpoint]]:
    async with scripted_endpoint(*script) as endpoint:
        config = ModelConfig(model="m-1", base_url=endpoint.url, api_key=KEY)
        model = OpenAIChatModel(replace(config, **settings))
        try:
            yield model, endpoint
        finally:
            await model.close()


async def answer(model: OpenAIChatModel, request: ModelRequest | None = None) -> list[ModelChunk]:
    return [chunk async for chunk in model.stream(request or model_request())]


async def failure(*script: Answer, seconds: float = 20.0, **settings: Any) -> ModelError:
    async with client_of(*script, **settings) as (model, _):
        with pytest.raises(ModelError) as caught:
            await answer(model, model_request(seconds=seconds))
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None
    return caught.value


async def test_a_reply_comes_in_chunks_and_then_whole() -> None:
    async with client_of(says("Hel", "lo")) as (model, endpoint):
        chunks = await answer(model, model_request(UserMessage("hi"), tools=(TOOL,)))
    assert chunks == [
        TextChunk("Hel"),
        TextChunk("lo"),
        ModelReply(
            text="Hello",
            requests=(),
            finish_reason="stop",
            model="scripted-1",
            usage=Usage(7, 3),
            id="chatcmpl-1",
        ),
    ]
    (asked,) = endpoint.asked
    assert asked.body == {
        "model": "m-1",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 2048,
        "tools": [
            {"type": "function", "function": {"name": "f", "description": "does f", "parameters": {"type": "object"}}}
        ],
    }
    assert asked.headers["Authorization"] == f"Bearer {KEY}"


async def test_settings_go_along_and_a_key_is_optional() -> None:
    async with client_of(says("hi"), temperature=0.0, max_tokens=9, api_key="") as (model, endpoint):
        await model.warm_up()
        await answer(model)
    assert (endpoint.asked[0].body["temperature"], endpoint.asked[0].body["max_tokens"]) == (0.0, 9)
    assert "tools" not in endpoint.asked[0].body


async def test_one_client_serves_calls_side_by_side() -> None:
    async with client_of(says("a"), says("b")) as (model, endpoint):
        replies = await asyncio.gather(answer(model), answer(model))
    assert {str(reply[0]) for reply in replies} == {"TextChunk(text='a')", "TextChunk(text='b')"}
    assert len(endpoint.asked) == 2


async def test_native_calls_come_whole() -> None:
    async with client_of(calls(("c1", "f", '{"a":1}'), ("c2", "f", ""))) as (model, _):
        (reply,) = await answer(model)
    assert isinstance(reply, ModelReply)
    assert reply.requests == (ToolRequest("c1", "f", '{"a":1}'), ToolRequest("c2", "f", ""))


async def test_a_reply_that_is_no_stream_is_read_as_a_whole() -> None:
    body = {"choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]}
    async with client_of(whole(body)) as (model, _):
        assert [type(chunk) for chunk in await answer(model)] == [TextChunk, ModelReply]


@pytest.mark.parametrize(
    ("reply", "says_what", "retryable"),
    [
        (whole({"error": {"message": "out of memory", "type": "server_error"}}), "out of memory", True),
        (Reply(content_type="application/json", pieces=(b"{broken",)), "not JSON", True),
        (Reply(content_type="text/html", pieces=(b"<html>",)), "OPENAI_BASE_URL", False),
        (Reply(), "was empty", True),
        (Reply(pieces=(DONE,)), "was empty", True),
        (stream({"content": "half"}, finish=None, done=False), "broke off", True),
        (replace(stream({"content": "half"}, finish=None, done=False), cut=True), "broke the connection", True),
        (Reply(pieces=(data("{broken"),)), "not JSON", True),
        (Reply(pieces=(b"data: \xff\xfe\n\n",)), "not JSON", True),
        (Reply(pieces=(data({"error": {"message": "overloaded", "code": 503}}),)), "(503): overloaded", True),
        (Reply(pieces=(data("[" * 200_000 + "]" * 200_000),)), "not JSON", True),
        (Reply(content_type="application/json", pieces=(b'{"choi',), cut=True), "broke the connection", True),
        (refuses(401), "OPENAI_API_KEY", False),
        (refuses(404), "SKILLMESH_MODEL", False),
        (refuses(429, retry_after="7"), "asks to wait 7 s", True),
        (refuses(503), "(503): scripted", True),
    ],
)
async def test_a_reply_that_is_none_is_one_clear_error(reply: Reply, says_what: str, retryable: bool) -> None:
    error = await failure(reply)
    assert says_what in str(error)
    assert error.retryable is retryable


async def test_a_context_window_that_is_too_small_is_told_apart() -> None:
    error = await failure(refuses(400, {"code": "context_length_exceeded", "message": "8192 tokens"}))
    assert isinstance(error, PromptTooLongError)


async def test_an_endpoint_that_is_not_there_is_named() -> None:
    async with scripted_endpoint() as endpoint:
        url = endpoint.url
    model = OpenAIChatModel(ModelConfig(model="m", base_url=url))
    with pytest.raises(ModelError, match=f"{url} cannot be reached"):
        await answer(model)
    await model.close()


@pytest.mark.parametrize(
    "url", ["http://[bad", "http://[::1", "http://", "http://127.0.0.1:99999/v1", "https://exa mple/v1", "http://\0/"]
)
async def test_an_address_that_is_none_is_a_clear_error(url: str) -> None:
    config = ModelConfig(model="m", base_url=url)
    client = OpenAIChatModel(config)
    with pytest.raises(ModelError, match="OPENAI_BASE_URL"):
        [chunk async for chunk in TracedChatModel(client, config).stream(model_request())]
    await client.close()


@pytest.mark.parametrize("key", ["sk-1\n", "sk-\u00fc", "sk-\0"])
async def test_a_key_that_cannot_be_sent_is_a_clear_error_that_does_not_repeat_it(key: str) -> None:
    error = await failure(says("hi"), api_key=key)
    assert "OPENAI_API_KEY" in str(error)
    assert not error.retryable
    assert "sk-" not in str(error)


async def test_a_stall_ends_at_the_deadline() -> None:
    never = asyncio.Event()
    for pieces in ((never,), (data(chunk({"content": "hi"})), never)):
        began = time.monotonic()
        error = await failure(Reply(pieces=pieces), seconds=0.2)
        assert "within the time of the run" in str(error)
        assert not error.retryable
        assert time.monotonic() - began < 2
    error = await failure(Reply(content_type="application/json", pieces=(b'{"a":', never)), seconds=0.2)
    assert "within the time of the run" in str(error)
    assert "within the time of the run" in str(await failure(says("hi"), seconds=0))


async def test_silence_within_a_reply_is_bounded_on_its_own() -> None:
    error = await failure(Reply(pieces=(data(chunk({"content": "hi"})), asyncio.Event())), idle_timeout=0.1)
    assert "silent for too long" in str(error)
    assert error.retryable


async def test_a_connection_that_stays_open_after_the_finish_reason_is_not_waited_for() -> None:
    pieces = (data(chunk({"content": "hi"})), data(chunk({}, "stop")), asyncio.Event())
    async with client_of(Reply(pieces=pieces), linger=0.05) as (model, _):
        assert len(await answer(model)) == 2


async def test_what_breaks_after_the_finish_reason_does_no_harm() -> None:
    pieces = (data(chunk({"content": "hi"})), data(chunk({}, "stop")), data("{broken"))
    async with client_of(Reply(pieces=pieces)) as (model, _):
        assert len(await answer(model)) == 2


async def test_a_whole_reply_that_is_too_large_is_not_read_on() -> None:
    assert "16 MiB" in str(await failure(whole({"text": "x" * MAX_BODY_BYTES})))


async def test_closing_the_stream_ends_the_request() -> None:
    pieces = (data(chunk({"content": "hi"})), asyncio.Event())
    async with client_of(Reply(pieces=pieces)) as (model, endpoint):
        async with aclosing(model.stream(model_request())) as chunks:
            assert await anext(chunks) == TextChunk("hi")
        async with asyncio.timeout(5):
            await endpoint.abandoned.wait()


async def test_a_cancelled_call_ends_the_request_and_stays_a_cancellation() -> None:
    async with client_of(Reply(pieces=(asyncio.Event(),))) as (model, endpoint):
        task = asyncio.create_task(answer(model))
        async with asyncio.timeout(5):
            await endpoint.arrived.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(5):
            await endpoint.abandoned.wait()


ONLY_CALLS = (UserMessage("u"), AssistantMessage("", (ToolRequest("a", "f", "{}"),)), ToolMessage("a", "1"))


def no_null(asked: Asked) -> Reply:
    return refuses(400) if asked.messages[1]["content"] is None else says("ok")


async def test_a_server_that_refuses_null_content_gets_an_empty_text_and_is_remembered() -> None:
    async with client_of(no_null, no_null, no_null) as (model, endpoint):
        for _ in range(2):
            assert await answer(model, model_request(*ONLY_CALLS))
    assert [asked.messages[1]["content"] for asked in endpoint.asked] == [None, "", ""]


async def test_a_refusal_that_no_wording_helps_is_told_as_it_first_came() -> None:
    async with client_of(refuses(400, {"message": "first"}), refuses(400, {"message": "second"})) as (model, endpoint):
        with pytest.raises(ModelError, match="first"):
            await answer(model, model_request(*ONLY_CALLS))
    assert len(endpoint.asked) == 2


async def test_another_failure_of_the_second_wording_is_told_itself() -> None:
    async with client_of(refuses(400), refuses(429)) as (model, _):
        with pytest.raises(ModelError, match="429"):
            await answer(model, model_request(*ONLY_CALLS))


async def test_the_limits_other_name_is_used_where_the_first_is_refused() -> None:
    message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    async with client_of(refuses(400, {"message": message}), says("ok")) as (model, endpoint):
        await answer(model)
    assert "max_tokens" not in endpoint.asked[1].body
    assert endpoint.asked[1].body["max_completion_tokens"] == 2048


async def test_token_counts_are_not_asked_for_where_that_is_refused() -> None:
    refusal = refuses(422, {"detail": "extra field stream_options"})
    async with client_of(refusal, says("ok")) as (model, endpoint):
        await answer(model)
    assert "stream_options" not in endpoint.asked[1].body


async def test_a_missing_package_is_named_and_looked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async with client_of(says("hi")) as (model, _):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, "agent_core.llm.endpoint", None)
            with pytest.raises(ModelError, match=r"pip install 'skillmesh-core\[agent\]'"):
                await answer(model)
        assert len(await answer(model)) == 2


async def test_a_client_that_was_never_used_closes() -> None:
    await OpenAIChatModel(ModelConfig(model="m")).close()


def test_openai_is_imported_only_where_a_model_is_asked() -> None:
    code = (
        "import sys, agent_core.llm.client, agent_core.llm.retrying, agent_core.llm.traced, agent_core.agent.loop;"
        "print(json.dumps([m for m in ('openai', 'httpx2') if m in sys.modules]))"
    )
    found = subprocess.run([sys.executable, "-c", "import json;" + code], capture_output=True, check=True, timeout=60)
    assert json.loads(found.stdout) == []
