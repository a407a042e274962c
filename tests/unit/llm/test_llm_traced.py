"""One span per model call, whatever ends it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest
from opentelemetry import trace
from opentelemetry.trace import SpanKind, StatusCode

from agent_core.domain.errors import ModelError
from agent_core.domain.events import Usage
from agent_core.domain.model import (
    AssistantMessage,
    ModelChunk,
    ModelRequest,
    SystemMessage,
    TextChunk,
    ToolMessage,
    ToolRequest,
    UserMessage,
)
from agent_core.llm.client import OpenAIChatModel
from agent_core.llm.config import ModelConfig
from agent_core.llm.traced import TracedChatModel
from tests.support.recorded_spans import attribute, recorded_spans
from tests.support.scripted_endpoint import says, scripted_endpoint
from tests.support.scripted_model import ScriptedModel, model_request, reply

CONFIG = ModelConfig(model="m-1", base_url="http://127.0.0.1:9/v1")
SPAN = "chat m-1"
CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
CONTENT = ("gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions")


class Silent:
    """A model that says one thing and then nothing."""

    name = "m-1"

    async def stream(self, _request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        yield TextChunk("hi")
        await asyncio.Event().wait()


async def test_the_span_says_what_was_asked_and_answered() -> None:
    whole = reply("hi", usage=Usage(7, 3), id="r-1", note="a stand-in")
    model = TracedChatModel(ScriptedModel([TextChunk("hi"), whole]), CONFIG)
    assert model.name == "scripted-1"
    with recorded_spans() as spans:
        assert [chunk async for chunk in model.stream(model_request())] == [TextChunk("hi"), whole]
    span = spans.one(SPAN)
    assert span.kind is SpanKind.CLIENT
    expected = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m-1",
        "gen_ai.request.max_tokens": 2048,
        "gen_ai.response.model": "scripted-1",
        "gen_ai.response.id": "r-1",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 7,
        "gen_ai.usage.output_tokens": 3,
        "server.address": "127.0.0.1",
        "server.port": 9,
        "skillmesh.model.note": "a stand-in",
    }
    assert {name: attribute(span, name) for name in expected} == expected
    assert attribute(span, "gen_ai.response.time_to_first_chunk") is not None
    assert not [name for name in CONTENT if attribute(span, name)]
    assert span.status.status_code is StatusCode.UNSET


async def test_the_endpoint_gets_the_spans_context_and_the_caller_keeps_its_own() -> None:
    async with scripted_endpoint(says("hi")) as endpoint:
        config = ModelConfig(model="m-1", base_url=endpoint.url)
        client = OpenAIChatModel(config)
        with recorded_spans() as spans:
            before = trace.get_current_span()
            async for _ in TracedChatModel(client, config).stream(model_request()):
                assert trace.get_current_span() is before
        await client.close()
    context = spans.one(SPAN).get_span_context()
    assert context is not None
    assert endpoint.asked[0].headers["traceparent"] == (
        f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"
    )


@pytest.mark.parametrize(
    ("error", "kind"),
    [(ModelError("It failed.", status=503), "503"), (ModelError("It broke."), "ModelError")],
)
async def test_an_error_ends_the_span_with_its_sentence(error: ModelError, kind: str) -> None:
    model = TracedChatModel(ScriptedModel([error]), CONFIG)
    with recorded_spans() as spans, pytest.raises(ModelError):
        [chunk async for chunk in model.stream(model_request())]
    span = spans.one(SPAN)
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, str(error))
    assert attribute(span, "error.type") == kind


async def test_a_fault_of_our_own_ends_the_span_too() -> None:
    model = TracedChatModel(ScriptedModel([ZeroDivisionError()]), CONFIG)
    with recorded_spans() as spans, pytest.raises(ZeroDivisionError):
        [chunk async for chunk in model.stream(model_request())]
    assert attribute(spans.one(SPAN), "error.type") == "ZeroDivisionError"


async def test_an_abandoned_stream_ends_its_span() -> None:
    with recorded_spans() as spans:
        async with aclosing(TracedChatModel(Silent(), CONFIG).stream(model_request())) as chunks:
            await anext(chunks)
    assert attribute(spans.one(SPAN), "error.type") == "cancelled"


async def test_a_cancelled_stream_ends_its_span() -> None:
    started = asyncio.Event()

    async def read() -> None:
        async for _ in TracedChatModel(Silent(), CONFIG).stream(model_request()):
            started.set()

    with recorded_spans() as spans:
        task = asyncio.create_task(read())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert attribute(spans.one(SPAN), "error.type") == "cancelled"


async def test_content_is_recorded_only_where_capture_is_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CAPTURE, "SPAN_ONLY")
    request = ToolRequest("a", "f", '{"x":1}')
    model = TracedChatModel(ScriptedModel([reply("out", requests=(request,))]), CONFIG)
    messages = (
        SystemMessage("sys"),
        UserMessage("ask"),
        AssistantMessage("", (request,)),
        ToolMessage("a", "result"),
    )
    with recorded_spans() as spans:
        [chunk async for chunk in model.stream(model_request(*messages))]
    shown = {name: str(attribute(spans.one(SPAN), name)) for name in CONTENT}
    assert "sys" in shown["gen_ai.system_instructions"]
    assert all(text in shown["gen_ai.input.messages"] for text in ("ask", "tool_call", "result"))
    assert "out" in shown["gen_ai.output.messages"]
    assert "sys" not in shown["gen_ai.input.messages"]
