"""The one way the core makes spans: ended in every case, with the error that ended them."""

import asyncio
from collections.abc import Mapping
from types import TracebackType
from typing import Final

from opentelemetry import context, propagate, trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.util.types import AttributeValue

from agent_core.domain.errors import CallError, SkillmeshError
from skillmesh.conventions import ATTR_ERROR_KIND, ERROR_TYPE
from skillmesh.errors import Fault

_tracer = trace.get_tracer("skillmesh.agent_core")
_MAX_HEADER_CHARS: Final = 4_096


class span:  # noqa: N801  # reads as the statement it is: `with span("name") as current:`
    """A span around the block, current within it; cancellation and abandonment end it with an error, too.

    A class, as OpenTelemetry's nested generators cost a skill call 18 us a span where nothing is exported.
    """

    __slots__ = ("_attributes", "_kind", "_name", "_span", "_token")

    def __init__(
        self,
        name: str,
        *,
        kind: SpanKind = SpanKind.INTERNAL,
        attributes: Mapping[str, AttributeValue] | None = None,
    ) -> None:
        self._name = name
        self._kind = kind
        self._attributes = attributes

    def __enter__(self) -> Span:
        self._span = _tracer.start_span(
            self._name,
            kind=self._kind,
            attributes=self._attributes,
            record_exception=False,
            set_status_on_exception=False,
        )
        self._token = context.attach(trace.set_span_in_context(self._span))
        return self._span

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        context.detach(self._token)
        if error is not None:
            mark_failed(self._span, error)
        self._span.end()


def mark_failed(current: Span, error: BaseException) -> None:
    """Say on the span what ended it; a caller's own words (arguments, prompts) stay out of it."""
    if not current.is_recording():
        return
    if isinstance(error, asyncio.CancelledError | GeneratorExit):
        current.set_attribute(ERROR_TYPE, "cancelled")
        current.set_status(Status(StatusCode.ERROR, "cancelled"))
    elif isinstance(error, CallError):
        current.set_attribute(ERROR_TYPE, error.kind.value)
        current.set_attribute(ATTR_ERROR_KIND, error.kind.value)
        sentence = error.kind.value if error.fault is Fault.CALLER else str(error)
        current.set_status(Status(StatusCode.ERROR, sentence))
    elif isinstance(error, SkillmeshError):
        current.set_attribute(ERROR_TYPE, type(error).__name__)
        current.set_status(Status(StatusCode.ERROR, str(error)))
    else:
        current.set_attribute(ERROR_TYPE, type(error).__qualname__)
        current.set_status(Status(StatusCode.ERROR, type(error).__qualname__))
        current.record_exception(error)


def trace_headers() -> dict[str, str]:
    """W3C traceparent, tracestate and baggage of the current span, for gRPC metadata or HTTP headers.

    Baggage, and then tracestate, is left out where it would be too long: a server refuses headers over its limit
    (gRPC's above 8 KiB), and what a caller of ours hands on must not fail our own calls.
    """
    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    if len(carrier) > 1:
        for name in ("baggage", "tracestate"):
            if sum(map(len, carrier.values())) > _MAX_HEADER_CHARS:
                carrier.pop(name, None)
    return carrier


def current_trace_id() -> str:
    """32 hex digits; empty where nothing is traced."""
    current = trace.get_current_span().get_span_context()
    return format(current.trace_id, "032x") if current.is_valid else ""
