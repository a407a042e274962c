"""Reads an OTLP export request. opentelemetry/proto/collector/trace/v1 and opentelemetry/proto/trace/v1."""

from collections.abc import Iterable, Iterator
from typing import Final

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span, Status

from agent_core.dev.collector.record import AttributeValue, Kind, SpanEvent, SpanRecord, SpanStatus

MAX_DEPTH: Final = 8
MAX_TEXT_CHARS: Final = 16_384
_KINDS: Final = {
    Span.SPAN_KIND_SERVER: Kind.SERVER,
    Span.SPAN_KIND_CLIENT: Kind.CLIENT,
    Span.SPAN_KIND_PRODUCER: Kind.PRODUCER,
    Span.SPAN_KIND_CONSUMER: Kind.CONSUMER,
}
_STATUSES: Final = {Status.STATUS_CODE_OK: SpanStatus.OK, Status.STATUS_CODE_ERROR: SpanStatus.ERROR}
_TRACE_ID_BYTES: Final = 16
_SPAN_ID_BYTES: Final = 8


def decode(data: bytes) -> Iterator[tuple[SpanRecord | None, int]]:
    """Each span with its size in bytes; None for one with an id that is none. Raises DecodeError before the first."""
    request = ExportTraceServiceRequest.FromString(data)
    return (pair for resource in request.resource_spans for pair in _of_resource(resource))


def _of_resource(resource_spans: ResourceSpans) -> Iterator[tuple[SpanRecord | None, int]]:
    resource = _attributes(resource_spans.resource.attributes)
    service = str(resource.get("service.name", ""))
    instance = str(resource.get("service.instance.id", ""))
    pid = resource.get("process.pid", 0)
    pid = pid if isinstance(pid, int) else 0
    for scope in resource_spans.scope_spans:
        for span in scope.spans:
            valid = len(span.trace_id) == _TRACE_ID_BYTES and len(span.span_id) == _SPAN_ID_BYTES
            yield (_record(span, service, instance, pid) if valid else None), span.ByteSize()


def _record(span: Span, service: str, instance: str, pid: int) -> SpanRecord:
    return SpanRecord(
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex(),
        name=span.name[:MAX_TEXT_CHARS],
        kind=_KINDS.get(span.kind, Kind.INTERNAL),
        start_ns=span.start_time_unix_nano,
        end_ns=span.end_time_unix_nano,
        status=_STATUSES.get(span.status.code, SpanStatus.UNSET),
        status_message=span.status.message[:MAX_TEXT_CHARS],
        attributes=_attributes(span.attributes),
        service=service,
        instance=instance,
        pid=pid,
        events=tuple(
            SpanEvent(event.name, event.time_unix_nano, _attributes(event.attributes)) for event in span.events
        ),
    )


def _attributes(pairs: Iterable[KeyValue], depth: int = 0) -> dict[str, AttributeValue]:
    return {pair.key: _value(pair.value, depth) for pair in pairs}


def _value(value: AnyValue, depth: int) -> AttributeValue:
    match value.WhichOneof("value"):
        case "string_value":
            return value.string_value[:MAX_TEXT_CHARS]
        case "bool_value":
            return value.bool_value
        case "int_value":
            return value.int_value
        case "double_value":
            return value.double_value
        case "bytes_value":
            return value.bytes_value[: MAX_TEXT_CHARS // 2].hex()
        case "array_value" if depth < MAX_DEPTH:
            return tuple(_value(item, depth + 1) for item in value.array_value.values)
        case "kvlist_value" if depth < MAX_DEPTH:
            return _attributes(value.kvlist_value.values, depth + 1)
        case _:
            return None
