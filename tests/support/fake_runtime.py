"""A runtime whose one skill does what the test says, and a skill server around it on a loopback port."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import grpc
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from skill_services.sdk.runtime import Incoming
from skill_services.sdk.server import SkillServer
from skill_services.sdk.servicer import SkillServicer
from skill_services.sdk.tracing import ServerTracing
from skillmesh.stubs import SkillServiceStub
from skillmesh.v1.result_pb2 import Result, ResultStatus
from skillmesh.v1.skill_pb2 import SkillDescriptor
from skillmesh.v1.skill_service_pb2 import DescribeResponse
from tests.support.eventually import eventually

Behaviour = Callable[[Incoming], Awaitable[Result]]


def success(structured: bytes = b'{"ok":true}') -> Result:
    return Result(status=ResultStatus.RESULT_STATUS_SUCCESS, structured=structured)


class FakeRuntime:
    """`behaviour` is the skill; `cancelled` is set where it was cancelled."""

    def __init__(self, behaviour: Behaviour) -> None:
        self._behaviour = behaviour
        self.started = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.description: DescribeResponse | None = DescribeResponse(
            skills=[SkillDescriptor(name="echo", version="1.2.3")], fingerprint="f"
        )

    def describe(self) -> DescribeResponse:
        if self.description is None:
            raise LookupError("no description")
        return self.description

    async def invoke(self, incoming: Incoming) -> Result:
        self.started.set()
        try:
            return await self._behaviour(incoming)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


@dataclass(slots=True)
class Served:
    """A running server and what it has traced."""

    stub: SkillServiceStub
    channel: grpc.aio.Channel
    runtime: FakeRuntime
    server: SkillServer
    provider: TracerProvider
    exporter: InMemorySpanExporter = field(default_factory=InMemorySpanExporter)
    reader: InMemoryMetricReader = field(default_factory=InMemoryMetricReader)

    async def spans(self, count: int = 1) -> tuple[ReadableSpan, ...]:
        """Ended spans, waited for: the server ends its span after the caller has its answer."""
        await eventually(lambda: len(self.exporter.get_finished_spans()) >= count)
        return self.exporter.get_finished_spans()


@asynccontextmanager
async def served(behaviour: Behaviour) -> AsyncIterator[Served]:
    provider, exporter, reader = TracerProvider(), InMemorySpanExporter(), InMemoryMetricReader()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    meters = MeterProvider([reader])
    runtime = FakeRuntime(behaviour)
    server = SkillServer(4 * 1024 * 1024)
    port = server.bind("127.0.0.1", 0)
    await server.start(SkillServicer(runtime, ServerTracing("echo-1", {"echo": "1.2.3"}, provider, meters)))
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield Served(SkillServiceStub(channel), channel, runtime, server, provider, exporter, reader)
    finally:
        await server.stop(0)
        provider.shutdown()
        meters.shutdown()
