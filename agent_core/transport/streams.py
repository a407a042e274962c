"""Reading an InvokeStream: progress leaves as events, the last message is the result."""

from collections.abc import Callable
from typing import Final

import grpc

from agent_core.domain.call import TextPart
from agent_core.domain.events import CallProgressed
from agent_core.domain.ports import Emit
from agent_core.transport.wire import ReplyError, part_from_pb
from skillmesh.errors import ErrorKind
from skillmesh.v1.result_pb2 import Result
from skillmesh.v1.skill_service_pb2 import InvokeStreamRequest, InvokeStreamResponse

MAX_EVENTS: Final = 10_000
_MAX_PROGRESS_CHARS: Final = 2_000

Stream = grpc.aio.UnaryStreamCall[InvokeStreamRequest, InvokeStreamResponse]
Progressed = Callable[[float | None, str], CallProgressed]


async def read_to_end(stream: Stream, emit: Emit, progressed: Progressed) -> Result:
    """The result; the RPC is cancelled where the reading ends early. Raises ReplyError and AioRpcError.

    Text parts that come ahead of the result are progress to whoever listens; other parts are in the result again.
    """
    try:
        return await _read(stream, emit, progressed)
    except BaseException:
        stream.cancel()
        raise


async def _read(stream: Stream, emit: Emit, progressed: Progressed) -> Result:
    result: Result | None = None
    seen = 0
    while isinstance(message := await stream.read(), InvokeStreamResponse):
        if result is not None:
            raise ReplyError(ErrorKind.BAD_REPLY, "it sent more after its result")
        if message.HasField("result"):
            result = message.result  # read on: the end of the stream comes with it, a cancellation costs more
            continue
        seen += 1
        if seen > MAX_EVENTS:
            raise ReplyError(ErrorKind.BAD_REPLY, f"it sent more than {MAX_EVENTS} events before its result")
        event = _event(message, progressed)
        if event is not None:
            emit(event)
    if result is None:
        raise ReplyError(ErrorKind.BAD_REPLY, "its stream ended without a result")
    return result


def _event(message: InvokeStreamResponse, progressed: Progressed) -> CallProgressed | None:
    if message.HasField("progress"):
        progress = message.progress
        fraction = min(max(progress.fraction, 0.0), 1.0) if progress.HasField("fraction") else None
        return progressed(fraction, progress.message[:_MAX_PROGRESS_CHARS])
    if message.HasField("part"):
        part = part_from_pb(message.part)
        return progressed(None, part.text[:_MAX_PROGRESS_CHARS]) if isinstance(part, TextPart) else None
    return None
