"""A service process and a trace collector, real, silent or absent."""

import asyncio
import json
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from skillmesh.v1.skill_service_pb2 import InvokeRequest
from tests.support.consul_agent import consul_agent, find_consul
from tests.support.eventually import eventually
from tests.support.service_process import demo_service, stub_of

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
TRACEPARENT = (("traceparent", f"00-{TRACE_ID}-b7ad6b7169203331-01"),)
ECHO = InvokeRequest(skill="echo", arguments=b'{"text":"hi"}', call_id="c1", run_id="r1", attempt=1)


@asynccontextmanager
async def collector() -> AsyncIterator[tuple[str, list[Span]]]:
    spans: list[Span] = []

    async def take(request: web.Request) -> web.Response:
        assert request.headers.get("Content-Encoding") in {None, "gzip"}
        message = ExportTraceServiceRequest.FromString(await request.read())
        for resource in message.resource_spans:
            names = {item.key: item.value.string_value for item in resource.resource.attributes}
            assert names["service.name"] == "demo"
            assert names["service.version"] == "1.2.3"
            assert names["service.instance.id"].startswith("demo-127-0-0-1-")
            spans.extend(span for scope in resource.scope_spans for span in scope.spans)
        return web.Response(content_type="application/x-protobuf")

    application = web.Application()
    application.router.add_post("/v1/traces", take)
    runner = web.AppRunner(application, shutdown_timeout=0.1, handle_signals=False)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1/traces", spans
    finally:
        await runner.cleanup()


@pytest.mark.consul
@pytest.mark.skipif(find_consul() is None, reason="no consul binary: set SKILLMESH_CONSUL_BIN")
async def test_the_first_call_after_the_registration_is_in_the_trace() -> None:
    async with (
        collector() as (url, spans),
        consul_agent() as agent,
        demo_service(
            SKILLMESH_TRACE_COLLECTOR=url, SKILLMESH_REGISTER="true", CONSUL_HTTP_ADDR=agent.http_addr
        ) as service,
        stub_of(service.address) as stub,
    ):

        async def routable() -> bool:
            return bool(await agent.get("/v1/health/service/demo?passing"))

        await eventually(routable, 10)
        await stub.invoke(ECHO, timeout=5, metadata=TRACEPARENT)
        await eventually(lambda: len(spans) == 1)
    assert spans[0].trace_id.hex() == TRACE_ID
    assert spans[0].parent_span_id.hex() == "b7ad6b7169203331"


async def test_a_call_that_ends_with_the_process_is_in_the_trace_too() -> None:
    async with (
        collector() as (url, spans),
        demo_service(SKILLMESH_TRACE_COLLECTOR=url, SKILLMESH_GRACE_SECONDS="0.5") as service,
        stub_of(service.address) as stub,
    ):
        nap = InvokeRequest(skill="nap", arguments=json.dumps({"seconds": 30}).encode())
        running = asyncio.ensure_future(stub.invoke(nap, timeout=40, metadata=TRACEPARENT))
        await service.says("nap begins")
        assert f"trace={TRACE_ID}" in service.stderr or TRACE_ID in service.stderr
        service.send(signal.SIGTERM)
        assert await service.ended() == 0
        await asyncio.wait((running,))
        assert running.exception() is not None
    (span,) = spans
    assert span.status.code == Status.STATUS_CODE_ERROR
    assert {item.key: item.value.string_value for item in span.attributes}["error.type"] == "cancelled"


async def test_a_silent_collector_slows_neither_calls_nor_the_end() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(1_024):
            pass
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1/traces"
    async with (
        demo_service(SKILLMESH_TRACE_COLLECTOR=url, SKILLMESH_GRACE_SECONDS="1") as service,
        stub_of(service.address) as stub,
    ):
        await stub.invoke(ECHO, timeout=2)
        await asyncio.sleep(0.3)  # the exporter is now waiting for an answer
        await stub.invoke(ECHO, timeout=2)
        started = time.monotonic()
        service.send(signal.SIGTERM)
        assert await service.ended() == 0
        assert time.monotonic() - started < 3.1
    server.close()
    assert "Traceback" not in service.stderr
