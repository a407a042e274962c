"""OpenTelemetry set-up as every process of the mesh does it, from the standard OTEL_* variables.

`SKILLMESH_TRACE_COLLECTOR` (an OTLP/HTTP traces URL) adds the development collector beside the user's exporter.
Exporters are imported here and nowhere else, so a process that traces nowhere never pays for them.
"""

import os
from collections.abc import Mapping
from typing import Final

from opentelemetry import trace
from opentelemetry.sdk.resources import PROCESS_PID, SERVICE_INSTANCE_ID, SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.util.types import AttributeValue

COLLECTOR_VARIABLE: Final = "SKILLMESH_TRACE_COLLECTOR"
_ENDPOINT_VARIABLES: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOL_VARIABLES: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_EXPORT_TIMEOUT_SECONDS: Final = 2  # inside the stop limit of 5 s
_COLLECTOR_DELAY_MS: Final = 100


class Tracing:
    """The tracer provider of this process and how to end it; exporters join by `start_exporting`."""

    def __init__(self, service: str, version: str, instance: str) -> None:
        described: dict[str, AttributeValue] = {
            SERVICE_VERSION: version,
            SERVICE_INSTANCE_ID: instance,
            PROCESS_PID: os.getpid(),
        }
        if not os.environ.get("OTEL_SERVICE_NAME"):
            described[SERVICE_NAME] = service
        self.provider = TracerProvider(resource=Resource.create(described), shutdown_on_exit=False)
        trace.set_tracer_provider(self.provider)

    def start_exporting(self, environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
        """Add the exporters that the environment asks for; returns their endpoints. Slow: imports them."""
        added = []
        collector = environ.get(COLLECTOR_VARIABLE)
        endpoint = _first(environ, _ENDPOINT_VARIABLES)
        if endpoint and environ.get("OTEL_TRACES_EXPORTER", "otlp") != "none":
            self.provider.add_span_processor(BatchSpanProcessor(_user_exporter(environ)))
            added.append(endpoint)
        if collector:
            self.add_collector(collector)
            added.append(collector)
        return tuple(added)

    def add_collector(self, url: str) -> None:
        """Send spans to a development collector as well."""
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        exporter = OTLPSpanExporter(endpoint=url, timeout=_EXPORT_TIMEOUT_SECONDS)
        self.provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=_COLLECTOR_DELAY_MS))

    def stop(self) -> None:
        """Flush what is left and stop; blocks for up to a few seconds where a collector does not answer."""
        self.provider.shutdown()


def _user_exporter(environ: Mapping[str, str]) -> SpanExporter:
    if _first(environ, _PROTOCOL_VARIABLES) == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter

        return GrpcExporter(timeout=_EXPORT_TIMEOUT_SECONDS)
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter

    return HttpExporter(timeout=_EXPORT_TIMEOUT_SECONDS)


def _first(environ: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    return next((environ[name] for name in names if environ.get(name)), None)
