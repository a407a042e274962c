"""A skill service that misbehaves to order, on the contract alone: `python -m tests.support.scripted_skill --help`.

It prints its port as the first line. What a call does is said by the skill's name; see `_ANSWERS`. `stats` tells what
has happened so far. It does not register anywhere.
"""

import argparse
import asyncio
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc
import orjson
from google.protobuf.duration_pb2 import Duration
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as health_aio

from skillmesh import conventions, status
from skillmesh.digests import result_digest
from skillmesh.errors import ErrorKind
from skillmesh.stubs import add_skill_service
from skillmesh.v1 import result_pb2 as results
from skillmesh.v1 import skill_pb2 as skills
from skillmesh.v1 import skill_service_pb2 as pb
from tests.support.fast_loop import fast_loop

Context = Any
"""grpc.aio.ServicerContext of whichever method was called."""


def success(structured: bytes) -> results.Result:
    result = results.Result(status=results.RESULT_STATUS_SUCCESS, structured=structured)
    result.digest = result_digest(result)
    return result


class Script:
    """The answers, and what has happened: calls and cancellations by skill, commits by idempotency key."""

    def __init__(self, commits: Path | None) -> None:
        self.calls: Counter[str] = Counter()
        self.cancelled: Counter[str] = Counter()
        self._commits = commits

    async def answer(self, request: pb.InvokeRequest, context: Context) -> results.Result:
        self.calls[request.skill] += 1
        answer: Callable[..., Awaitable[results.Result]] | None = getattr(self, f"do_{request.skill}", None)
        if answer is None:
            await abort(context, ErrorKind.UNKNOWN_SKILL, f"no skill {request.skill}")
            raise AssertionError
        try:
            return await answer(request, context)
        except asyncio.CancelledError:
            self.cancelled[request.skill] += 1
            raise

    async def do_echo(self, request: pb.InvokeRequest, _context: Context) -> results.Result:
        return success(request.arguments)

    async def do_stats(self, _request: pb.InvokeRequest, _context: Context) -> results.Result:
        return success(orjson.dumps({"calls": self.calls, "cancelled": self.cancelled, "pid": os.getpid()}))

    async def do_show(self, request: pb.InvokeRequest, context: Context) -> results.Result:
        """The request as it came, with the seconds left and the metadata."""
        shown = {
            "call_id": request.call_id,
            "run_id": request.run_id,
            "session_id": request.session_id,
            "fingerprint": request.fingerprint,
            "arguments": request.arguments.decode(),
            "digest": request.arguments_digest.hex(),
            "subject": request.principal.subject,
            "roles": list(request.principal.roles),
            "idempotency_key": request.idempotency_key,
            "attempt": request.attempt,
            "depth": request.depth,
            "mesh_endpoint": request.mesh_endpoint,
            "time_zone": request.time_zone,
            "locale": request.locale,
            "hidden": request.hidden_arguments.decode(),
            "left": context.time_remaining(),
            "metadata": {key: value for key, value in context.invocation_metadata() if isinstance(value, str)},
        }
        return success(orjson.dumps(shown))

    async def do_hang(self, _request: pb.InvokeRequest, _context: Context) -> results.Result:
        await asyncio.Event().wait()
        raise AssertionError

    async def do_slow(self, request: pb.InvokeRequest, _context: Context) -> results.Result:
        await asyncio.sleep(float(orjson.loads(request.arguments)["seconds"]))
        return success(b'"done"')

    async def do_raise(self, _request: pb.InvokeRequest, _context: Context) -> results.Result:
        raise ValueError("a secret of the skill's")

    async def do_big(self, request: pb.InvokeRequest, _context: Context) -> results.Result:
        size = int(orjson.loads(request.arguments).get("bytes", 10 * 1024 * 1024))
        return success(b'"' + b"x" * (size - 2) + b'"')

    async def do_nan(self, _request: pb.InvokeRequest, _context: Context) -> results.Result:
        return success(b'{"value": NaN}')

    async def do_wrong_digest(self, _request: pb.InvokeRequest, _context: Context) -> results.Result:
        result = success(b"1")
        result.structured = b"2"
        return result

    async def do_unknown_status(self, _request: pb.InvokeRequest, _context: Context) -> results.Result:
        result = success(b'"odd"')
        result.status = 99  # type: ignore[assignment]  # a value of a later version
        return result

    async def do_unspecified(self, _request: pb.InvokeRequest, _context: Context) -> results.Result:
        return results.Result(structured=b'"odd"')

    async def do_parts(self, _request: pb.InvokeRequest, _context: Context) -> results.Result:
        result = results.Result(status=results.RESULT_STATUS_SUCCESS, truncated=True, replayed=True)
        result.parts.add(text="text")
        result.parts.add(json=b"[1]")
        result.parts.add(blob=b"123", mime_type="image/png")
        result.parts.add(link=results.ResourceLink(uri="file:///a", name="a"))
        result.digest = result_digest(result)
        return result

    async def do_abort(self, request: pb.InvokeRequest, context: Context) -> results.Result:
        """Arguments: `kind`, and `retry_after` in seconds."""
        asked = orjson.loads(request.arguments)
        await abort(context, ErrorKind(asked["kind"]), "as asked", asked.get("retry_after"))
        raise AssertionError

    async def do_bare(self, request: pb.InvokeRequest, context: Context) -> results.Result:
        """Arguments: `status`, the name of a gRPC status that comes without details."""
        await context.abort(getattr(grpc.StatusCode, orjson.loads(request.arguments)["status"]), "bare")
        raise AssertionError

    async def do_down(self, _request: pb.InvokeRequest, _context: Context) -> results.Result:
        return results.Result(status=results.RESULT_STATUS_RETRYABLE, structured=b'"my database is down"')

    async def do_commit(self, request: pb.InvokeRequest, _context: Context) -> results.Result:
        self._commit(request)
        return success(b'"committed"')

    async def do_commit_then_die(self, request: pb.InvokeRequest, _context: Context) -> results.Result:
        """The effect happens and its answer is lost: the process is gone, and with it the connection."""
        self._commit(request)
        os._exit(1)

    def _commit(self, request: pb.InvokeRequest) -> None:
        if self._commits is not None:
            with self._commits.open("a") as file:
                file.write(request.idempotency_key + "\n")


async def abort(context: Context, kind: ErrorKind, message: str, retry_after: float | None = None) -> None:
    violations = [status.Violation("a", "is wrong")] if kind is ErrorKind.INVALID_ARGUMENTS else []
    await context.abort_with_status(status.to_status(status.WireError(kind, message, retry_after, violations)))


class Servicer:
    def __init__(self, script: Script, *, streams: bool) -> None:
        self._script = script
        self._streams = streams

    async def Describe(self, _request: pb.DescribeRequest, _context: Context) -> pb.DescribeResponse:  # noqa: N802
        names = [name.removeprefix("do_") for name in dir(Script) if name.startswith("do_")]
        return pb.DescribeResponse(skills=[_descriptor(name) for name in names], fingerprint="scripted")

    async def Invoke(self, request: pb.InvokeRequest, context: Context) -> pb.InvokeResponse:  # noqa: N802
        if request.skill == "no_result":
            return pb.InvokeResponse()
        return pb.InvokeResponse(result=await self._script.answer(request, context))

    async def InvokeStream(  # noqa: N802
        self, request: pb.InvokeStreamRequest, context: Context
    ) -> AsyncIterator[pb.InvokeStreamResponse]:
        if not self._streams:
            await context.abort(grpc.StatusCode.UNIMPLEMENTED, "Method not found!")
        asked = request.request
        if asked.skill.startswith("stream_"):
            async for message in _stream(asked):
                yield message
        else:
            yield pb.InvokeStreamResponse(result=await self._script.answer(asked, context))


async def _stream(request: pb.InvokeRequest) -> AsyncIterator[pb.InvokeStreamResponse]:
    """Arguments: `count` and `seconds` between messages; `stream_cut` leaves its result out."""
    asked = orjson.loads(request.arguments or b"{}")
    count = int(asked.get("count", 3))
    for number in range(count):
        await asyncio.sleep(float(asked.get("seconds", 0)))
        yield pb.InvokeStreamResponse(progress=pb.Progress(fraction=(number + 1) / count, message=f"step {number + 1}"))
    yield pb.InvokeStreamResponse(part=results.ContentPart(text="partial"))
    yield pb.InvokeStreamResponse(part=results.ContentPart(blob=b"1"))
    yield pb.InvokeStreamResponse()
    yield pb.InvokeStreamResponse(progress=pb.Progress(message="of unknown length"))
    if request.skill != "stream_cut":
        yield pb.InvokeStreamResponse(result=success(b'"streamed"'))


def _descriptor(name: str) -> skills.SkillDescriptor:
    return skills.SkillDescriptor(
        name=name,
        version="1.0.0",
        description=f"Use when {name} is wanted.",
        parameters_schema=b'{"type":"object"}',
        access_level=skills.ACCESS_LEVEL_OBSERVER,
        effect=skills.EFFECT_WRITE if name.startswith("commit") else skills.EFFECT_READ,
        timeout=Duration(seconds=2),
        fingerprint=f"scripted-{name}",
    )


async def _serve(options: argparse.Namespace) -> None:
    script = Script(Path(options.commits) if options.commits else None)
    server = grpc.aio.server(options=conventions.server_options(options.max_message_bytes))
    add_skill_service(server, Servicer(script, streams=not options.no_stream))
    health = health_aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    for name in ("", conventions.SKILL_SERVICE):
        await health.set(name, health_pb2.HealthCheckResponse.SERVING)
    port = server.add_insecure_port(f"{options.host}:{options.port}")
    await server.start()
    _announce(port)
    await _until_told_to_stop()
    await server.stop(0)


async def _raw(options: argparse.Namespace) -> None:
    """A port that speaks no gRPC: `garbage` answers with noise, `silent` accepts and never answers."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if options.mode == "garbage":
            await reader.read(1)
            writer.write(bytes(range(256)) * 8)
            await writer.drain()
            writer.close()
        else:
            await asyncio.Event().wait()

    server = await asyncio.start_server(answer, options.host, options.port)
    _announce(server.sockets[0].getsockname()[1])
    await _until_told_to_stop()
    os._exit(0)


def _announce(port: int) -> None:
    sys.stdout.write(json.dumps({"port": port, "pid": os.getpid()}) + "\n")
    sys.stdout.flush()


async def _until_told_to_stop() -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for one in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(one, stop.set)
    await stop.wait()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--mode", choices=["grpc", "garbage", "silent"], default="grpc")
    parser.add_argument("--max-message-bytes", type=int, default=conventions.MAX_MESSAGE_BYTES)
    parser.add_argument("--no-stream", action="store_true", help="answer InvokeStream with UNIMPLEMENTED")
    parser.add_argument("--commits", help="file that gets one line, the idempotency key, for each effect")
    parser.add_argument("--uvloop", action="store_true", help="as in production, where it is installed")
    options = parser.parse_args()
    with asyncio.Runner(loop_factory=fast_loop() if options.uvloop else None) as runner:
        runner.run(_serve(options) if options.mode == "grpc" else _raw(options))


if __name__ == "__main__":
    main()
