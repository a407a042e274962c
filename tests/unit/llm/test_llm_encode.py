"""Requests that every compatible endpoint accepts."""

import pytest

from agent_core.domain.errors import ModelError, PromptTooLongError
from agent_core.domain.model import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolMessage,
    ToolRequest,
    ToolSpec,
    UserMessage,
)
from agent_core.llm.dialect import Dialect, adapted
from agent_core.llm.encode import NO_REPLY, encode_messages, encode_tool

ONLY_CALLS = AssistantMessage("", (ToolRequest("a", "f", '{"x":1}'), ToolRequest("b", "g", "")))


def encoded(*messages: Message, empty: str | None = None) -> list[dict[str, object]]:
    return encode_messages(messages, empty_content=empty)


def test_a_conversation_keeps_its_roles_and_order() -> None:
    messages = encoded(SystemMessage("s"), UserMessage("u"), AssistantMessage("a"), UserMessage("v"))
    assert [(message["role"], message["content"]) for message in messages] == [
        ("system", "s"),
        ("user", "u"),
        ("assistant", "a"),
        ("user", "v"),
    ]


def test_each_call_is_followed_by_its_reply_in_call_order() -> None:
    messages = encoded(UserMessage("u"), ONLY_CALLS, ToolMessage("b", "2"), ToolMessage("a", "1"))
    assert messages[2:] == [
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "tool", "tool_call_id": "b", "content": "2"},
    ]
    assert messages[1]["tool_calls"] == [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}},
        {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}},
    ]


def test_a_call_without_reply_gets_one_and_a_reply_without_call_is_left_out() -> None:
    messages = encoded(
        ToolMessage("z", "orphan"), ONLY_CALLS, ToolMessage("a", ""), ToolMessage("q", "orphan"), UserMessage("u")
    )
    assert [message["role"] for message in messages] == ["assistant", "tool", "tool", "user"]
    assert [message["content"] for message in messages[1:3]] == [NO_REPLY, NO_REPLY]


@pytest.mark.parametrize("empty", [None, ""])
def test_the_content_of_a_message_with_only_calls_is_what_the_endpoint_accepts(empty: str | None) -> None:
    assert encoded(ONLY_CALLS, empty=empty)[0]["content"] == empty
    assert encoded(AssistantMessage("t", ONLY_CALLS.requests), empty=empty)[0]["content"] == "t"


def test_an_assistant_message_of_nothing_is_left_out() -> None:
    assert encoded(UserMessage("u"), AssistantMessage("")) == [{"role": "user", "content": "u"}]


def test_a_tool_is_built_once_per_spec() -> None:
    first = encode_tool(ToolSpec("f", "does f", b'{"type":"object"}'))
    assert first["function"] == {"name": "f", "description": "does f", "parameters": {"type": "object"}}
    assert encode_tool(ToolSpec("f", "does f", b'{"type":"object"}')) is first
    bare = encode_tool(ToolSpec("g", "", b""))["function"]
    assert bare == {"name": "g", "description": "", "parameters": {"type": "object", "properties": {}}}


def refused(text: str, status: int = 400) -> ModelError:
    return ModelError(text, status=status)


def test_a_refusal_is_answered_by_the_wording_that_it_names() -> None:
    plain = Dialect()
    limit = adapted(plain, refused("use 'max_completion_tokens' instead"), [])
    assert limit == Dialect(limit_field="max_completion_tokens")
    assert adapted(plain, refused("unknown field stream_options", 422), []) == Dialect(usage=False)
    assert adapted(plain, refused("content may not be null"), [ONLY_CALLS]) == Dialect(empty_content="")


def test_other_errors_change_no_wording() -> None:
    plain = Dialect()
    assert adapted(plain, refused("bad"), [UserMessage("u"), AssistantMessage("t", ONLY_CALLS.requests)]) is None
    assert adapted(plain, refused("max_completion_tokens", 500), [ONLY_CALLS]) is None
    assert adapted(plain, PromptTooLongError("stream_options", status=400), [ONLY_CALLS]) is None
    assert adapted(Dialect(empty_content=""), refused("bad"), [ONLY_CALLS]) is None
