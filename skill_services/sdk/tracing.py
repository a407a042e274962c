"""The server span and duration of each RPC of skillmesh.v1.SkillService; health and reflection have none.

OpenTelemetry's gRPC instrumentation is not used: its server span of a failed or late call says OK, and that of an
abandoned stream never ends.
"""

import asyncio
import time
from collections.abc import Mapping
from contextvars import Token
from types import TracebackType
from typing import Any, Final, Self

import grpc
from opentelemetry import context as otel_context
from opentelemetry import metrics, propagate, trace
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.util.types import AttributeValue

from skillmesh.conventions import (
    ATTR_ATTEMPT,
    ATTR_CALL_ID,
    ATTR_ERROR_KIND,
    ATTR_INSTANCE,
    ATTR_RUN_ID,
    ATTR_SKILL,
    ATTR_SKILL_VERSION,
    ATTR_STATUS,
    ERROR_TYPE,
    METRIC_RPC_SERVER,
    RPC_METHOD,
    RPC_STATUS,
    RPC_SYSTEM,
    SKILL_SERVICE,
)
from skillmesh.errors import RULES, Fault
from skillmesh.status import WireError
from skillmesh.v1.result_pb2 import ResultStatus
from skillmesh.v1.skill_service_pb2 import InvokeRequest

# A server answers with these where the caller, not the server, is wrong: semantic conventions for gRPC leave the
# server span's status unset.
_CALLERS_OWN: Final = frozenset(
    {
        "INVALID_ARGUMENT",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "PERMISSION_DENIED",
        "UNAUTHENTICATED",
        "RESOURCE_EXHAUSTED",
        "FAILED_PRECONDITION",
        "ABORTED",
        "OUT_OF_RANGE",
    }
)
_RESULT_STATUS: Final[dict[int, str]] = {
    ResultStatus.RESULT_STATUS_SUCCESS: "success",
    ResultStatus.RESULT_STATUS_RETRYABLE: "retryable",
}
_MAX_ID_CHARS: Final = 128
_DEADLINE_SLACK_SECONDS: Final = 0.02  # gRPC's timer and ours agree to within a few ms

ServicerContext = grpc.aio.ServicerContext[Any, Any]


def deadline_of(context: ServicerContext) -> float | None:
    """The call's deadline in monotonic seconds; None where the caller set none."""
    remaining: Any = context.time_remaining()  # typed as float; None where there is no deadline
    return None if remaining is None else time.monotonic() + remaining


class ServerTracing:
    """Makes the spans of one service's RPCs. The providers are the global ones unless given."""

    def __init__(
        self,
        instance: str,
        versions: Mapping[str, str],
        tracer_provider: trace.TracerProvider | None = None,
        meter_provider: metrics.MeterProvider | None = None,
    ) -> None:
        self._instance = instance
        self._versions = versions
        self._tracer = trace.get_tracer("skillmesh.sdk", tracer_provider=tracer_provider)
        self._duration = metrics.get_meter("skillmesh.sdk", meter_provider=meter_provider).create_histogram(
            METRIC_RPC_SERVER, unit="s", description="One RPC of the skill service."
        )

    def rpc(self, method: str, context: ServicerContext) -> "RpcSpan":
        """For an RPC that is no call of a skill."""
        return self._span(f"{SKILL_SERVICE}/{method}", context, {}, None)

    def call(self, method: str, context: ServicerContext, request: InvokeRequest, deadline: float | None) -> "RpcSpan":
        """For an RPC that runs a skill."""
        skill = request.skill
        attributes: dict[str, AttributeValue] = {
            ATTR_SKILL: skill[:_MAX_ID_CHARS],
            ATTR_ATTEMPT: request.attempt,
            ATTR_CALL_ID: request.call_id[:_MAX_ID_CHARS],
            ATTR_RUN_ID: request.run_id[:_MAX_ID_CHARS],
        }
        version = self._versions.get(skill)
        if version is not None:
            attributes[ATTR_SKILL_VERSION] = version
        return self._span(f"{SKILL_SERVICE}/{method}", context, attributes, deadline)

    def record(self, method: str, status: str, error_type: str, seconds: float) -> None:
        attributes: dict[str, AttributeValue] = {RPC_SYSTEM: "grpc", RPC_METHOD: method, RPC_STATUS: status}
        if error_type:
            attributes[ERROR_TYPE] = error_type
        self._duration.record(seconds, attributes)

    def _span(
        self, method: str, context: ServicerContext, attributes: dict[str, AttributeValue], deadline: float | None
    ) -> "RpcSpan":
        attributes[RPC_SYSTEM] = "grpc"
        attributes[RPC_METHOD] = method
        attributes[ATTR_INSTANCE] = self._instance
        parent = propagate.extract(dict(context.invocation_metadata() or ()))
        span = self._tracer.start_span(method, context=parent, kind=SpanKind.SERVER, attributes=attributes)
        return RpcSpan(self, method, span, parent, deadline)


class RpcSpan:
    """A server span around a `with` block, current within it, ended however the block ends."""

    __slots__ = ("_deadline", "_failure", "_method", "_parent", "_span", "_started", "_token", "_tracing")

    def __init__(
        self, tracing: ServerTracing, method: str, span: Span, parent: Context, deadline: float | None
    ) -> None:
        self._tracing = tracing
        self._method = method
        self._span = span
        self._parent = parent
        self._deadline = deadline
        self._failure: WireError | None = None
        self._started = time.monotonic()
        self._token: Token[Context] | None = None

    def result(self, status: int) -> None:
        """The skill answered; a failure of its own is no failure of the RPC."""
        self._span.set_attribute(ATTR_STATUS, _RESULT_STATUS.get(status, "failed"))

    def failed(self, error: WireError) -> None:
        """The RPC is about to be answered with this error."""
        self._failure = error

    def __enter__(self) -> Self:
        self._token = otel_context.attach(trace.set_span_in_context(self._span, self._parent))
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        status = error_type = ""
        try:
            status, error_type = self._outcome(error)
        finally:
            if self._token is not None:
                otel_context.detach(self._token)
            self._span.end()
            self._tracing.record(self._method, status, error_type, time.monotonic() - self._started)

    def _outcome(self, error: BaseException | None) -> tuple[str, str]:
        """Write on the span how the RPC ended; returns gRPC status and error type."""
        if self._failure is not None:
            return self._known_failure(self._failure)
        if error is None:
            self._span.set_attribute(RPC_STATUS, "OK")
            return "OK", ""
        if isinstance(error, asyncio.CancelledError | GeneratorExit):
            late = self._deadline is not None and time.monotonic() >= self._deadline - _DEADLINE_SLACK_SECONDS
            status, error_type = ("DEADLINE_EXCEEDED", "deadline_exceeded") if late else ("CANCELLED", "cancelled")
            self._mark(status, error_type, error_type)
            return status, error_type
        self._span.record_exception(error)
        self._mark("UNKNOWN", type(error).__qualname__, type(error).__qualname__)
        return "UNKNOWN", type(error).__qualname__

    def _known_failure(self, failure: WireError) -> tuple[str, str]:
        rule, kind = RULES[failure.kind], failure.kind.value
        self._span.set_attribute(ATTR_ERROR_KIND, kind)
        if rule.status in _CALLERS_OWN:
            self._span.set_attribute(RPC_STATUS, rule.status)
            return rule.status, ""
        # What a caller sent may stand in the sentence about it, and is not for the trace.
        self._mark(rule.status, kind, kind if rule.fault is Fault.CALLER else failure.message)
        return rule.status, kind

    def _mark(self, status: str, error_type: str, sentence: str) -> None:
        self._span.set_attribute(RPC_STATUS, status)
        self._span.set_attribute(ERROR_TYPE, error_type)
        self._span.set_status(Status(StatusCode.ERROR, sentence))
