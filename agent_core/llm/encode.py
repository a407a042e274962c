"""Messages and tools as the plain dictionaries of the Chat Completions API."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

import orjson

from agent_core.domain.model import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolMessage,
    ToolRequest,
    ToolSpec,
    UserMessage,
)

NO_REPLY: Final = "No result: the call was interrupted."


@lru_cache(maxsize=2_048)
def encode_tool(spec: ToolSpec) -> dict[str, object]:
    """One entry of `tools`, built once per spec and shared between requests: never changed."""
    return {
        "type": "function",
        "function": {
            "name": spec.name,
            "description": spec.description,
            "parameters": orjson.loads(spec.parameters or b'{"type":"object","properties":{}}'),
        },
    }


def encode_messages(messages: Sequence[Message], *, empty_content: str | None) -> list[dict[str, object]]:
    """The conversation, with every tool call answered exactly once and in order, whatever the caller kept.

    A call without a reply gets one that says so, and a reply without a call is left out: endpoints answer 400 to
    either. `empty_content` stands where an assistant message has calls and no text.
    """
    return list(_encoded(messages, empty_content))


def _encoded(messages: Sequence[Message], empty_content: str | None) -> Iterator[dict[str, object]]:
    for position, message in enumerate(messages):
        match message:
            case SystemMessage():
                yield {"role": "system", "content": message.text}
            case UserMessage():
                yield {"role": "user", "content": message.text}
            case AssistantMessage(text, ()):
                if text:
                    yield {"role": "assistant", "content": text}
            case AssistantMessage(text, requests):
                calls = [_encode_request(request) for request in requests]
                yield {"role": "assistant", "content": text or empty_content, "tool_calls": calls}
                replies = _replies(messages, position + 1)
                for request in requests:
                    content = replies.get(request.id) or NO_REPLY
                    yield {"role": "tool", "tool_call_id": request.id, "content": content}
            case ToolMessage():
                pass  # went out behind its call


def _encode_request(request: ToolRequest) -> dict[str, object]:
    return {
        "id": request.id,
        "type": "function",
        "function": {"name": request.name, "arguments": request.arguments or "{}"},
    }


def _replies(messages: Sequence[Message], start: int) -> dict[str, str]:
    """Texts of the tool messages that stand from `start` on, by the id they answer; the first of each counts."""
    found: dict[str, str] = {}
    for message in messages[start:]:
        if not isinstance(message, ToolMessage):
            break
        found.setdefault(message.request_id, message.text)
    return found
