"""Sending one attempt of a call to one instance."""

import asyncio
import time
from functools import partial
from typing import Final

import grpc

from agent_core.domain.call import CallContext, SkillCall, SkillResult, nobody_listens
from agent_core.domain.events import CallProgressed
from agent_core.domain.skill import Instance
from agent_core.telemetry.spans import trace_headers
from agent_core.transport import errors
from agent_core.transport.channels import Channels, Line
from agent_core.transport.streams import read_to_end
from agent_core.transport.wire import ReplyError, request_of, result_from_pb
from skillmesh.conventions import MAX_MESSAGE_BYTES, SKILL_SERVICE
from skillmesh.errors import ErrorKind
from skillmesh.v1.result_pb2 import Result
from skillmesh.v1.skill_service_pb2 import InvokeRequest, InvokeStreamRequest

STREAM_FROM_SECONDS: Final = 5.0
_UNARY: Final = f"{SKILL_SERVICE}/Invoke"
_STREAM: Final = f"{SKILL_SERVICE}/InvokeStream"


class GrpcTransport:
    """Implements ports.Transport.

    A call is unary unless somebody listens for events and its skill may take `stream_from` seconds or more: then
    InvokeStream brings progress on the way, for 1.4 to 1.9 times the cost of a unary call. An instance without
    InvokeStream is remembered and called unary.
    `mesh_endpoint` is the host:port of this core's MeshService that skills may call back; set it once it is known.
    """

    def __init__(
        self,
        channels: Channels,
        *,
        mesh_endpoint: str = "",
        max_message_bytes: int = MAX_MESSAGE_BYTES,
        stream_from: float = STREAM_FROM_SECONDS,
    ) -> None:
        self.mesh_endpoint = mesh_endpoint
        self._channels = channels
        self._max_message_bytes = max_message_bytes
        self._stream_from = stream_from

    def method(self, call: SkillCall, instance: Instance, context: CallContext) -> str:
        streams = self._listened_to(call, context) and not self._channels.unary_only(instance)
        return _STREAM if streams else _UNARY

    async def send(self, call: SkillCall, instance: Instance, context: CallContext, timeout: float) -> SkillResult:
        request = request_of(call, context, self.mesh_endpoint)
        size = request.ByteSize()
        if size > self._max_message_bytes:
            raise errors.too_large(call, size, self._max_message_bytes)
        line = self._channels.line(instance)
        try:
            result = await self._ask(line, request, call, context, timeout)
            return result_from_pb(result, instance.id, call.attempt)
        except grpc.aio.AioRpcError as error:
            raise errors.from_rpc(error, call, instance, timeout) from error
        except ReplyError as error:
            raise errors.failed(error.kind, call, instance, str(error)) from error
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # Nobody cancelled us: the channel was closed under the call.
            raise errors.failed(ErrorKind.UNAVAILABLE, call, instance, "its channel was closed") from None
        finally:
            line.release()

    def _listened_to(self, call: SkillCall, context: CallContext) -> bool:
        return context.emit is not nobody_listens and call.skill.descriptor.timeout >= self._stream_from

    async def _ask(
        self, line: Line, request: InvokeRequest, call: SkillCall, context: CallContext, timeout: float
    ) -> Result:
        metadata = tuple(trace_headers().items())
        if self._listened_to(call, context) and not line.unary_only:
            deadline = time.monotonic() + timeout
            stream = line.stub.invoke_stream(InvokeStreamRequest(request=request), timeout=timeout, metadata=metadata)
            try:
                return await read_to_end(stream, context.emit, partial(_progressed, context.run_id, call.id))
            except grpc.aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.UNIMPLEMENTED:
                    raise
            line.unary_only = True  # a service of another make that serves Invoke alone; nothing has run
            timeout = max(deadline - time.monotonic(), 0.0)
        response = await line.stub.invoke(request, timeout=timeout, metadata=metadata)
        if not response.HasField("result"):
            raise ReplyError(ErrorKind.BAD_REPLY, "it holds no result")
        return response.result


def _progressed(run_id: str, call_id: str, fraction: float | None, message: str) -> CallProgressed:
    return CallProgressed(run_id=run_id, call_id=call_id, fraction=fraction, message=message)
