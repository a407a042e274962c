"""skillmesh.v1.SkillService over a Runtime: each RPC in its server span, each failure as a status with details."""

import asyncio
import logging
from typing import Protocol

import grpc

from skill_services.sdk.errors import CallFailedError
from skill_services.sdk.outbox import Outbox
from skill_services.sdk.runtime import Incoming
from skill_services.sdk.tracing import ServerTracing, deadline_of
from skillmesh.errors import ErrorKind
from skillmesh.status import WireError, to_status
from skillmesh.v1.result_pb2 import Result
from skillmesh.v1.skill_service_pb2 import (
    DescribeRequest,
    DescribeResponse,
    InvokeRequest,
    InvokeResponse,
    InvokeStreamRequest,
    InvokeStreamResponse,
)

_logger = logging.getLogger("skillmesh.sdk")
_CRASHED = WireError(ErrorKind.CRASHED, "The skill service failed inside; its log says why.")


class Runs(Protocol):
    """The part of Runtime that an RPC needs."""

    def describe(self) -> DescribeResponse: ...

    async def invoke(self, incoming: Incoming) -> Result: ...


class SkillServicer:
    """The methods bear the wire's names."""

    def __init__(self, runtime: Runs, tracing: ServerTracing) -> None:
        self._runtime = runtime
        self._tracing = tracing

    async def Describe(  # noqa: N802  # the wire's name
        self, _request: DescribeRequest, context: grpc.aio.ServicerContext[DescribeRequest, DescribeResponse]
    ) -> DescribeResponse:
        with self._tracing.rpc("Describe", context) as span:
            try:
                return self._runtime.describe()
            except Exception:
                _logger.exception("Describing the skills failed inside the SDK.")
                span.failed(_CRASHED)
                await context.abort_with_status(to_status(_CRASHED))

    async def Invoke(  # noqa: N802  # the wire's name
        self, request: InvokeRequest, context: grpc.aio.ServicerContext[InvokeRequest, InvokeResponse]
    ) -> InvokeResponse:
        deadline = deadline_of(context)
        with self._tracing.call("Invoke", context, request, deadline) as span:
            outcome = await self._run(Incoming(request, deadline))
            if isinstance(outcome, WireError):
                span.failed(outcome)
                await context.abort_with_status(to_status(outcome))
            span.result(outcome.status)
            return InvokeResponse(result=outcome)

    # A coroutine that writes, not an async generator: gRPC cancels only the task that reads a generator, and one
    # that is suspended while its reader writes ends some time later, in another context.
    async def InvokeStream(  # noqa: N802  # the wire's name
        self,
        request: InvokeStreamRequest,
        context: grpc.aio.ServicerContext[InvokeStreamRequest, InvokeStreamResponse],
    ) -> None:
        deadline = deadline_of(context)
        with self._tracing.call("InvokeStream", context, request.request, deadline) as span:
            outbox = Outbox()
            writing = asyncio.create_task(_write_all(outbox, context))
            try:
                outcome = await self._run(Incoming(request.request, deadline, outbox.put))
                outbox.close()
                await writing
            finally:
                if not writing.done():
                    writing.cancel()
                    await asyncio.wait((writing,))
            if isinstance(outcome, WireError):
                span.failed(outcome)
                await context.abort_with_status(to_status(outcome))
            span.result(outcome.status)
            await context.write(InvokeStreamResponse(result=outcome))

    async def _run(self, incoming: Incoming) -> Result | WireError:
        try:
            return await self._runtime.invoke(incoming)
        except CallFailedError as error:
            return error.error
        except Exception:
            _logger.exception("The call of skill %r failed inside the SDK.", incoming.request.skill[:64])
            return _CRASHED


async def _write_all(
    outbox: Outbox, context: grpc.aio.ServicerContext[InvokeStreamRequest, InvokeStreamResponse]
) -> None:
    while (event := await outbox.get()) is not None:
        await context.write(event)
