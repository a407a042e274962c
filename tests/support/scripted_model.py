"""A ChatModel that plays replies from a list, and small builders of what it needs."""

import time
from collections import deque
from collections.abc import AsyncGenerator, Iterable

from agent_core.domain.errors import ModelError
from agent_core.domain.events import Event, Usage
from agent_core.domain.model import (
    Message,
    ModelChunk,
    ModelReply,
    ModelRequest,
    TextChunk,
    ToolMessage,
    ToolRequest,
    ToolSpec,
    UserMessage,
)


class ScriptedModel:
    """Each call plays the next turn: its chunks in order; an exception among them is raised there."""

    def __init__(self, *turns: Iterable[ModelChunk | Exception]) -> None:
        self._turns = deque(turns)
        self.requests: list[ModelRequest] = []
        self.closed = 0

    @property
    def name(self) -> str:
        return "scripted-1"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        self.requests.append(request)
        if not self._turns:
            raise ModelError("the script is over")
        try:
            for chunk in self._turns.popleft():
                if isinstance(chunk, Exception):
                    raise chunk
                yield chunk
        finally:
            self.closed += 1


def reply(text: str = "", **fields: object) -> ModelReply:
    values: dict[str, object] = {"requests": (), "finish_reason": "stop", "model": "scripted-1", **fields}
    return ModelReply(text=text, **values)  # type: ignore[arg-type]  # a test names the fields it means


def model_request(
    *messages: Message, tools: tuple[ToolSpec, ...] = (), seconds: float = 20.0, events: list[Event] | None = None
) -> ModelRequest:
    """A request that must be answered within `seconds`; what it emits lands in `events`."""
    heard: list[Event] = [] if events is None else events
    return ModelRequest(
        messages=messages or (UserMessage("hello"),),
        tools=tools,
        deadline=time.monotonic() + seconds,
        run_id="run-1",
        turn=1,
        emit=heard.append,
    )


def asks(*requests: ToolRequest, text: str = "", finish: str = "tool_calls") -> list[ModelChunk | Exception]:
    return [reply(text, requests=requests, finish_reason=finish, usage=Usage(10, 1))]


def says(text: str, finish: str = "stop") -> list[ModelChunk | Exception]:
    return [TextChunk(text), reply(text, finish_reason=finish, usage=Usage(10, 2))]


def city(call_id: str = "a", arguments: str = '{"city":"Oslo"}') -> ToolRequest:
    return ToolRequest(call_id, "city_time", arguments)


def tool_texts(request: ModelRequest) -> dict[str, str]:
    return {message.request_id: message.text for message in request.messages if isinstance(message, ToolMessage)}
