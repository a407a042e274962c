"""OTLP spans for a test, as bytes on the wire and as the collector's own records."""

from collections.abc import Mapping

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from agent_core.dev.collector.record import AttributeValue, Kind, SpanRecord

TRACE = "0af7651916cd43dd8448eb211c80319c"


def record(
    span_id: str, parent_id: str = "", name: str = "work", kind: Kind = Kind.INTERNAL, start: int = 0,
    *, trace_id: str = TRACE, attributes: Mapping[str, AttributeValue] | None = None,
) -> SpanRecord:  # fmt: skip
    """Ids may be short: they are filled up with zeros."""
    return SpanRecord(
        trace_id=trace_id,
        span_id=span_id.zfill(16),
        parent_id=parent_id.zfill(16) if parent_id else "",
        name=name,
        kind=kind,
        start_ns=start,
        end_ns=start + 10,
        attributes=attributes or {},
        service="svc",
    )


def export(*records: SpanRecord) -> bytes:
    """An export request with these spans, their service as `service.name`."""
    request = ExportTraceServiceRequest()
    kinds = {Kind.SERVER: Span.SPAN_KIND_SERVER, Kind.CLIENT: Span.SPAN_KIND_CLIENT}
    for span in records:
        resource = request.resource_spans.add()
        resource.resource.attributes.append(text("service.name", span.service))
        resource.scope_spans.add().spans.append(
            Span(
                trace_id=bytes.fromhex(span.trace_id),
                span_id=bytes.fromhex(span.span_id),
                parent_span_id=bytes.fromhex(span.parent_id),
                name=span.name,
                kind=kinds.get(span.kind, Span.SPAN_KIND_INTERNAL),
                start_time_unix_nano=span.start_ns,
                end_time_unix_nano=span.end_ns,
                attributes=[text(key, str(value)) for key, value in span.attributes.items()],
            )
        )
    return request.SerializeToString()


def text(key: str, value: str) -> KeyValue:
    return KeyValue(key=key, value=AnyValue(string_value=value))
