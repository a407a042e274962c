"""A chat completion request as the stand-in understands it, read from OpenAI's JSON with OpenAI's refusals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NoReturn

import jsonschema_rs
import orjson

from agent_core.dev.model.schema import Parameter, parameters_of
from skillmesh.conventions import SKILL_NAME

MAX_TOOLS = 128
_KEPT_TOOLS = 512
_ROLES = ("system", "developer", "user", "assistant", "tool", "function")


class BadRequestError(Exception):
    """What the endpoint refuses; the fields are those of OpenAI's error object."""

    def __init__(self, message: str, *, param: str | None = None, code: str | None = None, status: int = 400) -> None:
        super().__init__(message)
        self.param = param
        self.code = code
        self.status = status


@dataclass(frozen=True, slots=True, eq=False)
class Tool:
    """A tool offered, equal only to itself: the same text in two requests gives the same object."""

    name: str
    description: str
    schema: Mapping[str, object]
    parameters: tuple[Parameter, ...]
    validator: jsonschema_rs.Validator = field(repr=False)


@dataclass(frozen=True, slots=True)
class Called:
    """A tool call as the history tells it; `arguments` is its text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """`text` is empty where there is none; `replies_to` is a tool message's call id."""

    role: str
    text: str
    calls: tuple[Called, ...] = ()
    replies_to: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """`choice`: `auto`, `none` or `required`; `forced` names the one tool that must be called, if any."""

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    choice: str = "auto"
    forced: str = ""
    parallel: bool = True
    stream: bool = False
    include_usage: bool = False

    @property
    def question(self) -> str:
        """The last user message; empty where there is none."""
        return next((m.text for m in reversed(self.messages) if m.role == "user"), "")

    @property
    def since_question(self) -> tuple[Message, ...]:
        """What followed the last user message."""
        last = max((i for i, m in enumerate(self.messages) if m.role == "user"), default=-1)
        return self.messages[last + 1 :]


def read_request(body: object) -> ChatRequest:
    """A parsed request body; raises BadRequestError as OpenAI refuses it."""
    if not isinstance(body, dict):
        _refuse("The request body must be a JSON object.")
    if not isinstance(body.get("model"), str) or not body["model"]:
        _refuse("You must provide a model parameter.", "model")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        _refuse("'messages' must be a non-empty array.", "messages")
    stream, options = body.get("stream") or False, body.get("stream_options") or {}
    if not isinstance(stream, bool):
        _refuse("'stream' must be a boolean.", "stream")
    if not isinstance(options, dict) or (options and not stream):
        _refuse("'stream_options' must be an object and is only allowed when 'stream' is true.", "stream_options")
    tools = _tools(body.get("tools"))
    choice, forced = _choice(body.get("tool_choice"), tools)
    return ChatRequest(
        messages=_messages(messages),
        tools=tools,
        choice=choice,
        forced=forced,
        parallel=body.get("parallel_tool_calls") is not False,
        stream=stream,
        include_usage=options.get("include_usage") is True,
    )


def _refuse(message: str, param: str | None = None, code: str | None = None) -> NoReturn:
    raise BadRequestError(message, param=param, code=code)


def _messages(raw: Sequence[object]) -> tuple[Message, ...]:
    """Every tool call must be answered, and every tool message must answer one: OpenAI refuses anything else."""
    messages: list[Message] = []
    open_calls: set[str] = set()
    for index, item in enumerate(raw):
        message = _message(item, f"messages.[{index}]")
        if message.role == "tool":
            if message.replies_to not in open_calls:
                _refuse(
                    "Invalid parameter: messages with role 'tool' must be a response to a preceding message with "
                    "'tool_calls'.",
                    f"messages.[{index}].role",
                )
            open_calls.discard(message.replies_to)
        elif open_calls:
            _refuse(_unanswered(open_calls), f"messages.[{index}].role")
        open_calls |= {c.id for c in message.calls}
        messages.append(message)
    if open_calls:
        _refuse(_unanswered(open_calls), "messages")
    return tuple(messages)


def _unanswered(ids: set[str]) -> str:
    return (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        f"The following tool_call_ids did not have response messages: {', '.join(sorted(ids))}"
    )


def _message(item: object, where: str) -> Message:
    if not isinstance(item, dict) or item.get("role") not in _ROLES:
        _refuse(f"Each message must be an object whose 'role' is one of {', '.join(_ROLES)}.", f"{where}.role")
    calls = item.get("tool_calls") or []
    if not isinstance(calls, list):
        _refuse("'tool_calls' must be an array.", f"{where}.tool_calls")
    text = _content(item.get("content"), where)
    replies_to = item.get("tool_call_id")
    if item["role"] == "tool" and not isinstance(replies_to, str):
        _refuse("Missing parameter 'tool_call_id'.", f"{where}.tool_call_id")
    return Message(
        item["role"], text, tuple(_called(c, where) for c in calls), replies_to if isinstance(replies_to, str) else ""
    )


def _called(item: object, where: str) -> Called:
    function = item.get("function") if isinstance(item, dict) else None
    identity = item.get("id") if isinstance(item, dict) else None
    if not isinstance(function, dict) or not isinstance(identity, str):
        _refuse("Each tool call must be an object with 'id' and 'function'.", f"{where}.tool_calls")
    name, arguments = function.get("name"), function.get("arguments")
    if not isinstance(name, str) or not isinstance(arguments, str):
        _refuse("A tool call's 'name' and 'arguments' must be strings.", f"{where}.tool_calls")
    return Called(identity, name, arguments)


def _content(content: object, where: str) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        _refuse("'content' must be a string or an array of parts.", f"{where}.content")
    texts = [p.get("text") for p in content if isinstance(p, dict) and p.get("type") == "text"]
    return "\n".join(t for t in texts if isinstance(t, str))


def _tools(raw: object) -> tuple[Tool, ...]:
    if raw is None:
        return ()
    if not isinstance(raw, list) or len(raw) > MAX_TOOLS:
        _refuse(f"'tools' must be an array of at most {MAX_TOOLS} tools.", "tools", "array_above_max_length")
    return tuple(_tool(item, f"tools[{index}]") for index, item in enumerate(raw))


def _tool(item: object, where: str) -> Tool:
    function = item.get("function") if isinstance(item, dict) else None
    if not isinstance(function, dict):
        _refuse("Each tool must be an object with 'type': 'function' and 'function'.", f"{where}.function")
    name, description = function.get("name"), function.get("description") or ""
    if not isinstance(name, str) or not SKILL_NAME.fullmatch(name):
        _refuse("A function's name must match '^[a-zA-Z0-9_-]{1,64}$'.", f"{where}.function.name", "invalid_value")
    if not isinstance(description, str):
        _refuse("A function's description must be a string.", f"{where}.function.description")
    schema = function.get("parameters")
    try:
        return _built(orjson.dumps([name, description, {"type": "object"} if schema is None else schema]))
    except (ValueError, RecursionError) as error:
        reason = str(error).partition("\n")[0]
        raise BadRequestError(
            f"Invalid schema for function '{name}': {reason}",
            param=f"{where}.function.parameters",
            code="invalid_function_parameters",
        ) from error


@lru_cache(maxsize=_KEPT_TOOLS)
def _built(text: bytes) -> Tool:
    """A tool from its text, once: a conversation sends the same tools with every request. Raises ValueError."""
    name, description, schema = orjson.loads(text)
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        raise ValueError("schema must be of type 'object'.")
    validator = jsonschema_rs.validator_for(schema, validate_formats=True, retriever=_no_remote)
    return Tool(name, description, schema, parameters_of(schema), validator)


def _no_remote(uri: str, /) -> NoReturn:
    raise ValueError(f"schemas are not fetched: {uri}")


def _choice(raw: object, tools: Sequence[Tool]) -> tuple[str, str]:
    if raw is None:
        return "auto", ""
    if isinstance(raw, str) and raw in ("auto", "none", "required"):
        if raw == "required" and not tools:
            _refuse("'tool_choice' is only allowed when 'tools' are specified.", "tool_choice")
        return raw, ""
    function = raw.get("function") if isinstance(raw, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(name, str) or name not in {t.name for t in tools}:
        _refuse("'tool_choice' must be 'none', 'auto', 'required' or name a tool of 'tools'.", "tool_choice")
    return "required", name
