"""One completion request with what its response needs, and how an event stream is written."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import orjson
from aiohttp import web

from agent_core.dev.model.chat import ChatRequest
from agent_core.dev.model.shapes import Json, envelope

STREAM_HEADERS = {"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Exchange:
    """`size` is the request's in bytes; `identity` and `created` (Unix seconds) go into every chunk."""

    http: web.Request
    request: ChatRequest
    size: int
    identity: str
    created: int

    def completion(self, **fields: object) -> Json:
        return {**envelope(self.identity, "chat.completion", self.created), **fields}

    def chunk(self, **fields: object) -> bytes:
        return event({**envelope(self.identity, "chat.completion.chunk", self.created), **fields})


Play = Callable[[Exchange], Awaitable[web.StreamResponse | None]]


def event(data: object) -> bytes:
    """One `data:` line of an event stream."""
    return b"data: " + orjson.dumps(data) + b"\n\n"
