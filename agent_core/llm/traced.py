"""One span per model call, by OpenTelemetry's GenAI conventions: `chat {model}`, with usage and time to first chunk."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Final

from opentelemetry.util.genai.handler import TelemetryHandler
from opentelemetry.util.genai.invocation import InferenceInvocation
from opentelemetry.util.genai.types import (
    Error,
    InputMessage,
    MessagePart,
    OutputMessage,
    TextPart,
    ToolCallRequestPart,
    ToolCallResponsePart,
)

from agent_core.domain.errors import ModelError
from agent_core.domain.model import (
    AssistantMessage,
    Message,
    ModelChunk,
    ModelReply,
    ModelRequest,
    SystemMessage,
    ToolMessage,
    ToolRequest,
    UserMessage,
)
from agent_core.domain.ports import ChatModel
from agent_core.llm.config import ModelConfig
from skillmesh.conventions import ATTR_MODEL_NOTE

_SCOPE: Final = "skillmesh.agent_core"


class TracedChatModel:
    """A ChatModel around another; the span is current where the request is sent, and never in the caller's code."""

    def __init__(self, model: ChatModel, config: ModelConfig) -> None:
        self._model = model
        self._config = config
        self._handler = TelemetryHandler(instrumentation_scope_name=_SCOPE)

    @property
    def name(self) -> str:
        return self._model.name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """As ChatModel; reply, error, cancellation and abandonment all end the span. Raises ModelError."""
        host, port = self._config.server
        span = self._handler.inference(
            self._config.provider,
            request_model=self._config.model,
            server_address=host,
            server_port=port,
            conversation_id=request.conversation_id or None,
        )
        span.suspend()
        self._describe(span, request)
        try:
            async with aclosing(self._model.stream(request)) as chunks:
                with span.activate():  # the request goes out in the first step; later ones only read
                    chunk = await anext(chunks, None)
                while chunk is not None:
                    if isinstance(chunk, ModelReply):
                        _record(span, chunk)
                        span.stop()
                    else:
                        span.record_stream_chunk()
                    yield chunk
                    chunk = await anext(chunks, None)
        except (asyncio.CancelledError, GeneratorExit):
            span.fail(Error(message="cancelled", type="cancelled"))  # does nothing to a span that has ended
            raise
        except ModelError as error:
            span.fail(Error(message=str(error), type=str(error.status or type(error).__name__)))
            raise
        except BaseException as error:
            span.fail(error)
            raise
        finally:
            span.stop()

    def _describe(self, span: InferenceInvocation, request: ModelRequest) -> None:
        span.request_stream = True
        span.max_tokens = self._config.max_tokens
        span.temperature = self._config.temperature
        if span.should_capture_content:
            system = [TextPart(m.text) for m in request.messages if isinstance(m, SystemMessage)]
            span.system_instruction = system
            span.input_messages = _input(request.messages)


def _record(span: InferenceInvocation, reply: ModelReply) -> None:
    span.response_model_name = reply.model
    span.response_id = reply.id or None
    span.finish_reasons = [reply.finish_reason]
    if reply.note:
        span.attributes[ATTR_MODEL_NOTE] = reply.note
    if reply.usage.input_tokens or reply.usage.output_tokens:
        span.input_tokens = reply.usage.input_tokens
        span.output_tokens = reply.usage.output_tokens
    if span.should_capture_content:
        span.output_messages = [OutputMessage("assistant", _parts(reply.text, reply.requests))]


def _input(messages: Sequence[Message]) -> list[InputMessage]:
    found = []
    for message in messages:
        match message:
            case UserMessage(text):
                found.append(InputMessage("user", [TextPart(text)]))
            case AssistantMessage(text, requests):
                found.append(InputMessage("assistant", _parts(text, requests)))
            case ToolMessage(request_id, text):
                found.append(InputMessage("tool", [ToolCallResponsePart(text, request_id)]))
            case SystemMessage():
                pass  # goes into an attribute of its own
    return found


def _parts(text: str, requests: Sequence[ToolRequest]) -> list[MessagePart]:
    parts: list[MessagePart] = [TextPart(text)] if text else []
    parts.extend(ToolCallRequestPart(request.arguments, request.name, request.id) for request in requests)
    return parts
