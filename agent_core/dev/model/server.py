"""The HTTP side: `GET /v1/models`, `GET /v1/models/{id}` and `POST /v1/chat/completions` as OpenAI speaks them."""

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Protocol

import orjson
from aiohttp import web

from agent_core.dev.model import shapes
from agent_core.dev.model.chat import BadRequestError, read_request
from agent_core.dev.model.exchange import DONE, STREAM_HEADERS, Exchange, Play
from agent_core.dev.model.sentences import MODEL
from agent_core.dev.model.stand_in import Reply, reply

MAX_BODY_BYTES = 16 * 1024 * 1024
STOP_SECONDS = 0.5  # how long a reply under way may take to end once the server stops

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Seen(Protocol):
    """Told of every request that reaches the completions endpoint: its parsed body and its headers."""

    def __call__(self, body: object, headers: Mapping[str, str], /) -> None: ...


def _now() -> datetime:
    return datetime.now(UTC)


def build_app(
    *, play: Play | None = None, now: Callable[[], datetime] = _now, seen: Seen | None = None
) -> web.Application:
    """The server. `play` answers first, where it has an answer (a script); `now` resolves relative times."""
    app = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=[_openai_errors])
    endpoint = _Completions(play, now, seen)
    app.router.add_get("/v1/models", _models)
    app.router.add_get("/v1/models/{id}", _model)
    app.router.add_post("/v1/chat/completions", endpoint.handle)
    return app


@asynccontextmanager
async def running(app: web.Application, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
    """Serves `app` within the block and gives its base URL, `http://host:port/v1`. Port 0: a free one."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=STOP_SECONDS, handler_cancellation=True)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        bound = runner.addresses[0][1]
        yield f"http://{f'[{host}]' if ':' in host else host}:{bound}/v1"
    finally:
        await runner.cleanup()


@web.middleware
async def _openai_errors(request: web.Request, handler: _Handler) -> web.StreamResponse:
    """Every refusal in OpenAI's shape, those of the HTTP layer too."""
    try:
        return await handler(request)
    except BadRequestError as error:
        body = shapes.error(str(error), error.status, param=error.param, code=error.code)
        return web.json_response(body, status=error.status)
    except web.HTTPRequestEntityTooLarge:
        return web.json_response(shapes.error(f"The body exceeds {MAX_BODY_BYTES} bytes.", 413), status=413)
    except web.HTTPException as error:
        message = f"Invalid URL ({request.method} {request.path})" if error.status in (404, 405) else error.reason
        return web.json_response(shapes.error(message, error.status), status=error.status)


async def _models(_: web.Request) -> web.Response:
    return web.json_response(shapes.models())


async def _model(request: web.Request) -> web.Response:
    if request.match_info["id"] == MODEL:
        return web.json_response(shapes.model())
    name = request.match_info["id"][:100]
    raise BadRequestError(f"The model '{name}' does not exist.", param="model", code="model_not_found", status=404)


class _Completions:
    def __init__(self, play: Play | None, now: Callable[[], datetime], seen: Seen | None) -> None:
        self._play = play
        self._now = now
        self._seen = seen

    async def handle(self, http: web.Request) -> web.StreamResponse:
        data = await http.read()
        try:
            body = orjson.loads(data)
        except orjson.JSONDecodeError as error:
            raise BadRequestError(f"The request body is no valid JSON: {error}.") from error
        if self._seen:
            self._seen(body, http.headers)
        request = read_request(body)
        moment = self._now()
        identity = f"chatcmpl-{hashlib.sha256(data).hexdigest()[:24]}"
        exchange = Exchange(http, request, len(data), identity, int(moment.timestamp()))
        played = await self._play(exchange) if self._play else None
        return played if played is not None else await _answer(exchange, reply(request, moment))


async def _answer(exchange: Exchange, answer: Reply) -> web.StreamResponse:
    if exchange.request.stream:
        return await _stream(exchange, answer)
    whole = {"index": 0, "message": shapes.message(answer), "logprobs": None, "finish_reason": answer.finish_reason}
    body = exchange.completion(choices=[whole], usage=shapes.usage(exchange.size, answer))
    return web.Response(body=orjson.dumps(body), content_type="application/json")


async def _stream(exchange: Exchange, answer: Reply) -> web.StreamResponse:
    response = web.StreamResponse(headers=STREAM_HEADERS)
    await response.prepare(exchange.http)
    counts = exchange.request.include_usage
    usage: shapes.Json = {"usage": None} if counts else {}  # as OpenAI: null until the last chunk
    first: shapes.Json = {"role": "assistant", "content": "" if answer.text else None}
    for delta in (first, *shapes.deltas(answer)):
        await response.write(exchange.chunk(choices=[shapes.choice(delta, None)], **usage))
    await response.write(exchange.chunk(choices=[shapes.choice({}, answer.finish_reason)], **usage))
    if counts:
        await response.write(exchange.chunk(choices=[], usage=shapes.usage(exchange.size, answer)))
    await response.write(DONE)
    await response.write_eof()
    return response
