"""The collector: an OTLP/HTTP receiver and the questions one may ask it, in this process and over HTTP."""

import asyncio
import math
import zlib
from collections.abc import Callable
from typing import Final

import orjson
from aiohttp import web
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)

from agent_core.dev.collector.decode import decode
from agent_core.dev.collector.store import SpanStore
from agent_core.dev.collector.tree import TraceTree, build_tree
from agent_core.dev.loopback import LoopbackServer, refuse_foreign_names

MAX_BODY_BYTES: Final = 16 * 1024 * 1024
DEFAULT_WAIT_SECONDS: Final = 2.0
MAX_WAIT_SECONDS: Final = 30.0
LATEST: Final = "latest"
_PROTOBUF: Final = "application/x-protobuf"


class Collector:
    """Receives spans on loopback. Use as an async context manager; `url` is for SKILLMESH_TRACE_COLLECTOR."""

    def __init__(self, *, port: int = 0, store: SpanStore | None = None) -> None:
        self.store = store or SpanStore()
        self._wanted_port = port
        app = web.Application(middlewares=[refuse_foreign_names], client_max_size=MAX_BODY_BYTES)
        app.add_routes(
            [
                web.post("/v1/traces", self._receive),
                web.get("/traces", self._list),
                web.get("/traces/{trace_id}", self._trace),
                web.get("/runs/{run_id}", self._run),
            ]
        )
        self._server = LoopbackServer(app)

    async def __aenter__(self) -> "Collector":
        await self._server.start("127.0.0.1", self._wanted_port)
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self._server.stop()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.port}"

    @property
    def url(self) -> str:
        """Where exporters send to."""
        return f"{self.base_url}/v1/traces"

    def tree(self, trace_id: str) -> TraceTree:
        """As far as it has come; empty for a trace that is not known."""
        return build_tree(trace_id, self.store.spans(trace_id), self.store.dropped_of(trace_id))

    async def wait_complete(self, trace_id: str, timeout: float = DEFAULT_WAIT_SECONDS) -> TraceTree:
        """The tree once it is complete, or as it is after `timeout` seconds; `missing` says what had not come."""
        return await self._complete(lambda: trace_id, timeout)

    async def wait_run(self, run_id: str, timeout: float = DEFAULT_WAIT_SECONDS) -> TraceTree | None:
        """The same for a run, or the run heard of last (`latest`); None where none of its spans came in time."""
        latest = run_id == LATEST
        tree = await self._complete(
            lambda: self.store.latest_run() if latest else self.store.trace_of_run(run_id), timeout
        )
        return tree if tree.span_count else None

    async def _complete(self, find: Callable[[], str | None], timeout: float) -> TraceTree:
        try:
            async with asyncio.timeout(timeout):
                while True:
                    trace_id = find()
                    if trace_id and (tree := self.tree(trace_id)).complete:
                        return tree
                    await self.store.changed(trace_id or "")
        except TimeoutError:
            return self.tree(find() or "")

    async def _receive(self, request: web.Request) -> web.Response:
        if request.content_type != _PROTOBUF:
            return web.Response(
                status=415, text=f"Send OTLP as {_PROTOBUF} (OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf)."
            )
        try:
            spans = decode(_unpacked(request, await request.read()))
        except (DecodeError, zlib.error):
            return web.Response(status=400, text="The body is no ExportTraceServiceRequest.")
        refused = 0
        for span, size in spans:
            if span is None or not self.store.add(span, size):
                refused += 1
        reply = ExportTraceServiceResponse()
        if refused:
            partial = ExportTracePartialSuccess(
                rejected_spans=refused, error_message="The spans' trace is full, or their ids are none."
            )
            reply.partial_success.CopyFrom(partial)
        return web.Response(body=reply.SerializeToString(), content_type=_PROTOBUF)

    async def _list(self, _request: web.Request) -> web.Response:
        store = self.store
        traces = [
            {"trace_id": trace_id, "runs": store.run_ids(trace_id), "spans": len(store.spans(trace_id))}
            for trace_id in store.trace_ids()
        ]
        return _json({"traces": traces, "dropped": store.dropped, "bytes": store.size})

    async def _trace(self, request: web.Request) -> web.Response:
        return _json(_shown(await self.wait_complete(request.match_info["trace_id"], _wait(request))))

    async def _run(self, request: web.Request) -> web.Response:
        tree = await self.wait_run(request.match_info["run_id"], _wait(request))
        if tree is None:
            return web.Response(status=404, text="No span of this run has come.")
        return _json(_shown(tree))


def _shown(tree: TraceTree) -> dict[str, object]:
    return {
        "trace_id": tree.trace_id,
        "complete": tree.complete,
        "missing": tree.missing,
        "dropped": tree.dropped,
        "spans": [node.span.to_dict() for node in tree.walk()],
    }


def _json(body: object) -> web.Response:
    return web.Response(body=orjson.dumps(body), content_type="application/json")


def _unpacked(request: web.Request, body: bytes) -> bytes:
    """The body without its gzip. Raises zlib.error, or HTTPRequestEntityTooLarge where it unpacks to too much."""
    if request.headers.get("Content-Encoding", "identity") != "gzip":
        return body
    gzip = zlib.decompressobj(wbits=31)
    unpacked = gzip.decompress(body, MAX_BODY_BYTES + 1)
    if len(unpacked) > MAX_BODY_BYTES:
        raise web.HTTPRequestEntityTooLarge(MAX_BODY_BYTES, len(unpacked))
    return unpacked


def _wait(request: web.Request) -> float:
    """Seconds to wait for a complete trace: `?wait=2.0`, none by default."""
    try:
        seconds = float(request.query.get("wait", "0"))
    except ValueError:
        return 0.0
    return min(max(seconds, 0.0), MAX_WAIT_SECONDS) if math.isfinite(seconds) else 0.0
