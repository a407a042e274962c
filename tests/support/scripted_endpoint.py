"""An OpenAI-compatible endpoint that answers each request with the next reply of a script: exact chunks, and faults."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass(frozen=True)
class Reply:
    """One HTTP answer. `pieces` are written one by one; an asyncio.Event among them is waited for.

    `cut` aborts the connection after the last piece instead of ending the body.
    """

    status: int = 200
    content_type: str = "text/event-stream"
    headers: Mapping[str, str] = field(default_factory=dict)
    pieces: tuple[bytes | asyncio.Event, ...] = ()
    cut: bool = False


@dataclass
class Asked:
    """One request as the endpoint saw it."""

    body: dict[str, Any]
    headers: Mapping[str, str]

    @property
    def messages(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.body["messages"]
        return found

    @property
    def tool_replies(self) -> list[dict[str, Any]]:
        return [message for message in self.messages if message["role"] == "tool"]


Answer = Reply | Callable[[Asked], Reply]


class ScriptedEndpoint:
    def __init__(self, script: Iterable[Answer]) -> None:
        self._script = deque(script)
        self.asked: list[Asked] = []
        self.arrived = asyncio.Event()  # a request is there
        self.abandoned = asyncio.Event()  # its client has left before its end
        self.url = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        asked = Asked(await request.json(), dict(request.headers))
        self.asked.append(asked)
        self.arrived.set()
        if not self._script:
            return web.json_response({"error": {"message": "the script is over"}}, status=418)
        answer = self._script.popleft()
        reply = answer if isinstance(answer, Reply) else answer(asked)
        headers = {"Content-Type": reply.content_type, **reply.headers}
        response = web.StreamResponse(status=reply.status, headers=headers)
        await response.prepare(request)
        try:
            for piece in reply.pieces:
                if isinstance(piece, asyncio.Event):
                    await piece.wait()
                else:
                    await response.write(piece)
        except (asyncio.CancelledError, ConnectionError):
            self.abandoned.set()
            raise
        if reply.cut:
            assert request.transport is not None
            request.transport.abort()
        return response


@asynccontextmanager
async def scripted_endpoint(*script: Answer) -> AsyncIterator[ScriptedEndpoint]:
    endpoint = ScriptedEndpoint(script)
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_post("/v1/chat/completions", endpoint.answer)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        endpoint.url = f"http://{host}:{port}/v1"
        yield endpoint
    finally:
        await runner.cleanup()


def data(value: object) -> bytes:
    """One event of the stream; a string goes out as it is."""
    return f"data: {value if isinstance(value, str) else json.dumps(value)}\n\n".encode()


def chunk(delta: Mapping[str, object] | None = None, finish: str | None = None, **more: object) -> dict[str, object]:
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "scripted-1", "choices": [choice], **more}


DONE = data("[DONE]")
USAGE = data(chunk(usage={"prompt_tokens": 7, "completion_tokens": 3}) | {"choices": []})


def stream(*deltas: Mapping[str, object], finish: str | None = "stop", done: bool = True) -> Reply:
    """The deltas, the finish reason and usage as servers send them."""
    pieces = [data(chunk(delta)) for delta in deltas]
    if finish is not None:
        pieces += [data(chunk({}, finish)), USAGE]
    return Reply(pieces=(*pieces, DONE) if done else tuple(pieces))


def says(*texts: str, finish: str = "stop") -> Reply:
    return stream(*({"content": text} for text in texts), finish=finish)


def calls(*wanted: tuple[str, str, str], finish: str = "tool_calls") -> Reply:
    """Native tool calls, each as (id, name, arguments)."""
    return stream(
        {
            "tool_calls": [
                {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
                for index, (call_id, name, arguments) in enumerate(wanted)
            ]
        },
        finish=finish,
    )


def refuses(status: int, error: object = None, **headers: str) -> Reply:
    """An HTTP error; header names with underscores for hyphens."""
    body = json.dumps({"error": error or {"message": "scripted", "type": "scripted"}}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status=status, content_type="application/json", headers=named, pieces=(body,))


def whole(body: object) -> Reply:
    """A reply that is no stream."""
    return Reply(content_type="application/json", pieces=(json.dumps(body).encode(),))
