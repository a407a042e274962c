import asyncio
import gzip
import io
import threading
from collections.abc import AsyncIterator

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode

from agent_core.dev.collector.decode import MAX_DEPTH, decode
from agent_core.dev.collector.record import Kind, SpanRecord, SpanStatus
from agent_core.dev.collector.remote import CollectorGoneError, fetch_tree
from agent_core.dev.collector.server import Collector
from agent_core.dev.collector.store import SpanStore
from skillmesh.conventions import ATTR_RUN_ID
from tests.support.otlp import TRACE, export, record

PROTOBUF = {"Content-Type": "application/x-protobuf"}
INVOKE = "skillmesh.v1.SkillService/Invoke"


@pytest.fixture
async def collector() -> AsyncIterator[Collector]:
    async with Collector(store=SpanStore(max_spans_per_trace=10)) as collector:
        yield collector


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def send(http: aiohttp.ClientSession, collector: Collector, *spans: SpanRecord) -> ExportTraceServiceResponse:
    async with http.post(collector.url, data=export(*spans), headers=PROTOBUF) as reply:
        assert reply.status == 200
        return ExportTraceServiceResponse.FromString(await reply.read())


@pytest.mark.parametrize("compression", [Compression.NoCompression, Compression.Gzip])
async def test_spans_of_the_real_exporter_arrive_whole(collector: Collector, compression: Compression) -> None:
    def work() -> str:
        provider = TracerProvider(
            resource=Resource({"service.name": "clock", "service.instance.id": "clock-1", "process.pid": 42}),
            shutdown_on_exit=False,
        )
        provider.add_span_processor(
            SimpleSpanProcessor(OTLPSpanExporter(endpoint=collector.url, compression=compression))
        )
        with provider.get_tracer("t").start_as_current_span("outer", kind=SpanKind.SERVER) as span:
            span.set_attributes({"text": "zeit", "whole": 7, "half": 0.5, "yes": True, "list": ["a", "b"]})
            span.add_event("seen", {"at": "noon"})
            span.set_status(Status(StatusCode.ERROR, "went wrong"))
        provider.shutdown()
        return format(span.get_span_context().trace_id, "032x")

    trace_id = await asyncio.to_thread(work)
    (span,) = collector.store.spans(trace_id)
    assert (span.name, span.kind, span.parent_id) == ("outer", Kind.SERVER, "")
    assert (span.service, span.instance, span.pid) == ("clock", "clock-1", 42)
    assert span.attributes == {"text": "zeit", "whole": 7, "half": 0.5, "yes": True, "list": ("a", "b")}
    assert (span.status, span.status_message) == (SpanStatus.ERROR, "went wrong")
    assert [(event.name, event.attributes) for event in span.events] == [("seen", {"at": "noon"})]
    assert 0 < span.seconds < 60


async def test_what_is_no_otlp_is_refused(collector: Collector, http: aiohttp.ClientSession) -> None:
    for body, headers, status in (
        (b"\xff\xff", PROTOBUF, 400),
        (b"{}", {"Content-Type": "application/json"}, 415),
        (b"not gzip", {**PROTOBUF, "Content-Encoding": "gzip"}, 400),
    ):
        async with http.post(collector.url, data=body, headers=headers) as reply:
            assert reply.status == status
    async with http.post(collector.url, headers={**PROTOBUF, "Host": "evil.example"}) as reply:
        assert reply.status == 403


async def test_a_small_body_that_unpacks_to_a_huge_one_is_refused(
    collector: Collector, http: aiohttp.ClientSession
) -> None:
    bomb = await asyncio.to_thread(gzip.compress, b"\0" * 17_000_000)
    headers = {**PROTOBUF, "Content-Encoding": "gzip"}
    async with http.post(collector.url, data=io.BytesIO(bomb), headers=headers) as reply:
        assert reply.status == 413
    assert collector.store.size == 0


async def test_spans_that_are_refused_are_counted_in_the_reply(
    collector: Collector, http: aiohttp.ClientSession
) -> None:
    reply = await send(http, collector, *(record(str(number)) for number in range(1, 13)))
    assert reply.partial_success.rejected_spans == 2
    bad = ExportTraceServiceRequest.FromString(export(record("1")))
    bad.resource_spans[0].scope_spans[0].spans[0].trace_id = b"short"
    async with http.post(collector.url, data=bad.SerializeToString(), headers=PROTOBUF) as answer:
        told = ExportTraceServiceResponse.FromString(await answer.read())
    assert told.partial_success.rejected_spans == 1


async def test_waiting_ends_once_the_trace_is_complete(collector: Collector, http: aiohttp.ClientSession) -> None:
    waiting = asyncio.create_task(collector.wait_complete(TRACE, timeout=30.0))
    await send(http, collector, record("2", "1", INVOKE, Kind.CLIENT))
    await send(http, collector, record("1"))
    assert not waiting.done()
    await send(http, collector, record("3", "2", INVOKE, Kind.SERVER))
    tree = await asyncio.wait_for(waiting, 5)
    assert tree.complete
    assert tree.span_count == 3


async def test_waiting_ends_in_time_and_names_what_is_missing(
    collector: Collector, http: aiohttp.ClientSession
) -> None:
    await send(http, collector, record("1"), record("2", "1", INVOKE, Kind.CLIENT))
    tree = await collector.wait_complete(TRACE, timeout=0.05)
    assert tree.missing == (f"the server span of {INVOKE} from its instance",)


async def test_a_run_is_found_once_its_first_span_came(collector: Collector, http: aiohttp.ClientSession) -> None:
    waiting = asyncio.create_task(collector.wait_run("run-1", timeout=30.0))
    await asyncio.sleep(0)
    await send(http, collector, record("9", trace_id="f" * 32))
    await send(http, collector, record("1", attributes={ATTR_RUN_ID: "run-1"}))
    tree = await asyncio.wait_for(waiting, 5)
    assert tree is not None
    assert tree.trace_id == TRACE
    latest = await collector.wait_run("latest", timeout=0.0)
    assert latest == tree
    assert await collector.wait_run("run-2", timeout=0.01) is None


async def test_another_process_gets_the_same_tree(collector: Collector, http: aiohttp.ClientSession) -> None:
    spans = [
        record("1", attributes={ATTR_RUN_ID: "run/1 ü", "n": "1"}),
        record("2", "1", INVOKE, Kind.CLIENT),
        record("3", "2", INVOKE, Kind.SERVER),
    ]
    await send(http, collector, *spans)
    expected = collector.tree(TRACE)
    for key in (TRACE, "run/1 ü", "latest"):
        assert await fetch_tree(collector.url, key, timeout=0.0) == expected
    assert await fetch_tree(collector.base_url, "run-2", timeout=0.0) is None
    assert await fetch_tree(collector.base_url, "e" * 32, timeout=0.0) is None


async def test_what_is_held_is_listed(collector: Collector, http: aiohttp.ClientSession) -> None:
    await send(http, collector, record("1", attributes={ATTR_RUN_ID: "run-1"}))
    async with http.get(f"{collector.base_url}/traces") as reply:
        listed = await reply.json()
    assert listed["traces"] == [{"trace_id": TRACE, "runs": ["run-1"], "spans": 1}]
    assert (listed["dropped"], listed["bytes"]) == (0, collector.store.size)
    for wait in ("soon", "nan", "inf", "-1"):
        async with http.get(f"{collector.base_url}/traces/{TRACE}?wait={wait}") as reply:
            assert (await reply.json())["complete"]


async def test_a_wait_that_is_no_number_is_no_wait(collector: Collector, http: aiohttp.ClientSession) -> None:
    async with asyncio.timeout(5), http.get(f"{collector.base_url}/runs/unknown?wait=nan") as reply:
        assert reply.status == 404


async def test_a_collector_that_is_gone_or_something_else_is_said() -> None:
    async with Collector() as collector:
        url = collector.base_url
    with pytest.raises(CollectorGoneError, match="does not answer"):
        await fetch_tree(url, timeout=0.1)
    async with other_server() as other:
        with pytest.raises(CollectorGoneError, match="no span collector"):
            await fetch_tree(other, timeout=0.1)


def other_server() -> "OtherServer":
    return OtherServer()


class OtherServer:
    async def __aenter__(self) -> str:
        from aiohttp import web

        async def answer(_request: web.Request) -> web.Response:
            return web.json_response({"spans": [{"name": "x"}]})

        app = web.Application()
        app.router.add_get("/{path:.*}", answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def __aexit__(self, *_exc: object) -> None:
        await self._runner.cleanup()


async def test_leaving_leaves_no_thread_behind() -> None:
    before = threading.active_count()
    async with Collector():
        pass
    assert threading.active_count() == before


@given(st.binary(max_size=200))
def test_any_bytes_are_spans_or_a_decode_error(data: bytes) -> None:
    from google.protobuf.message import DecodeError

    try:
        for span, size in decode(data):
            assert size >= 0
            assert span is None or len(span.trace_id) == 32
    except DecodeError:
        pass


def test_values_nested_deeper_than_the_limit_are_cut() -> None:
    value = AnyValue(string_value="deep")
    for number in range(MAX_DEPTH + 2):
        value = (
            AnyValue(array_value=ArrayValue(values=[value]))
            if number % 2
            else AnyValue(kvlist_value=KeyValueList(values=[KeyValue(key="k", value=value)]))
        )
    request = ExportTraceServiceRequest.FromString(export(record("1")))
    span = request.resource_spans[0].scope_spans[0].spans[0]
    span.attributes.append(KeyValue(key="a", value=value))
    span.attributes.append(KeyValue(key="b", value=AnyValue(bytes_value=b"\xff")))
    ((decoded, _),) = decode(request.SerializeToString())
    assert decoded is not None
    assert "deep" not in str(decoded.attributes["a"])
    assert decoded.attributes["b"] == "ff"


def test_a_dictionary_that_is_no_span_is_refused() -> None:
    assert SpanRecord.from_dict(record("1").to_dict()) == record("1")
    with pytest.raises(ValueError, match="not a span"):
        SpanRecord.from_dict({"name": "x"})
