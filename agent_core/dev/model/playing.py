"""Puts one scripted reply on the wire, faults and all."""

import asyncio
from collections.abc import AsyncIterator

import orjson
from aiohttp import web

from agent_core.dev.model.chat import Called
from agent_core.dev.model.exchange import DONE, STREAM_HEADERS, Exchange, Play, event
from agent_core.dev.model.player import Player
from agent_core.dev.model.script import Script, ScriptedReply
from agent_core.dev.model.shapes import Json, choice, deltas, error, message, usage
from agent_core.dev.model.stand_in import Reply

_BROKEN = b'data: {"choices": [{"delta": {"content": "br\n\n'


def player_for(script: Script) -> Play:
    """What `build_app(play=...)` takes."""
    player = Player(script)

    async def play_next(exchange: Exchange) -> web.StreamResponse | None:
        scripted = player.next_reply(exchange.request)
        return None if scripted is None else await play(scripted, exchange)

    return play_next


async def play(scripted: ScriptedReply, exchange: Exchange) -> web.StreamResponse:
    """The response to a request; ends early, or never in time, where the script says so."""
    if scripted.stall and scripted.stall_after is None:
        await asyncio.sleep(scripted.stall)
    if scripted.status != 200 or scripted.error is not None or scripted.body is not None:
        return _whole(scripted, scripted.body if scripted.body is not None else _error(scripted))
    if not exchange.request.stream and not (scripted.raw or scripted.deltas or scripted.chunk_objects):
        return _whole(scripted, b"" if scripted.empty else _completion(scripted, exchange))
    return await _stream(scripted, exchange)


def _whole(scripted: ScriptedReply, body: object) -> web.Response:
    data = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else orjson.dumps(body)
    kind = scripted.content_type or "application/json"
    return web.Response(body=data, status=scripted.status, headers={"Content-Type": kind, **scripted.headers})


def _error(scripted: ScriptedReply) -> Json:
    if isinstance(scripted.error, dict):
        return {"error": scripted.error}
    return error(scripted.error or f"Scripted answer {scripted.status}.", scripted.status)


def _reply(scripted: ScriptedReply) -> Reply:
    calls = [
        Called(c.id or f"call_scripted_{index}", c.name, c.arguments_text())
        for index, c in enumerate(scripted.calls or [])
    ]
    return Reply(scripted.text or "".join(scripted.chunks or []), tuple(calls))


def _completion(scripted: ScriptedReply, exchange: Exchange) -> Json:
    reply = _reply(scripted)
    finish = scripted.finish_reason or reply.finish_reason
    whole = {"index": 0, "message": message(reply), "logprobs": None, "finish_reason": finish}
    counted = _usage(scripted, exchange, reply)
    body = exchange.completion(choices=[whole])
    return {**body, "usage": counted} if counted else body


def _usage(scripted: ScriptedReply, exchange: Exchange, reply: Reply) -> object:
    return (
        scripted.usage if isinstance(scripted.usage, dict) else usage(exchange.size, reply) if scripted.usage else None
    )


async def _stream(scripted: ScriptedReply, exchange: Exchange) -> web.StreamResponse:
    kind = {"Content-Type": scripted.content_type} if scripted.content_type else {}
    response = web.StreamResponse(headers={**STREAM_HEADERS, **kind, **scripted.headers})
    await response.prepare(exchange.http)
    sent = 0
    async for data in _lines(scripted, exchange):
        if scripted.cut_after is not None and sent >= scripted.cut_after:
            break
        if scripted.stall_after == sent:
            await asyncio.sleep(scripted.stall)
        if scripted.delay:
            await asyncio.sleep(scripted.delay)
        await response.write(data)
        sent += 1
    if scripted.abort and exchange.http.transport is not None:
        exchange.http.transport.abort()
    else:
        await response.write_eof()
    return response


async def _lines(scripted: ScriptedReply, exchange: Exchange) -> AsyncIterator[bytes]:
    if scripted.empty:
        return
    if scripted.raw is not None:
        for line in scripted.raw:
            yield line.encode() + b"\n"
        return
    if scripted.chunk_objects is not None:
        for whole in scripted.chunk_objects:
            yield event(whole)
    else:
        for delta in _deltas(scripted):
            yield exchange.chunk(choices=[choice(delta, None)])
    if scripted.broken_line:
        yield _BROKEN
    if scripted.error_chunk is not None:
        said = scripted.error_chunk
        yield event({"error": said} if isinstance(said, dict) else error(said, 500))
    if scripted.cut or scripted.cut_after is not None or scripted.error_chunk is not None:
        return
    for ending in _endings(scripted, exchange):
        yield ending


def _deltas(scripted: ScriptedReply) -> list[Json]:
    if scripted.deltas is not None:
        return list(scripted.deltas)
    first: Json = {"role": "assistant", "content": ""}
    if scripted.chunks is not None:
        texts: list[Json] = [{"content": piece} for piece in scripted.chunks]
        return [first, *texts]
    reply = _reply(scripted)
    return [first, *deltas(reply)]


def _endings(scripted: ScriptedReply, exchange: Exchange) -> list[bytes]:
    endings: list[bytes] = []
    reply = _reply(scripted)
    if scripted.chunk_objects is None:
        has_calls = bool(reply.calls) or any("tool_calls" in d for d in scripted.deltas or [])
        finish = scripted.finish_reason or ("tool_calls" if has_calls else "stop")
        endings.append(exchange.chunk(choices=[choice({}, finish)]))
        counted = _usage(scripted, exchange, reply)
        if counted and (exchange.request.include_usage or isinstance(scripted.usage, dict)):
            endings.append(exchange.chunk(choices=[], usage=counted))
    if scripted.done:
        endings.append(DONE)
    return endings
