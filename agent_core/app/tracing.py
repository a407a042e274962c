"""Where this process's spans go, and where a trace is read from."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import orjson
from rich.console import Console

from agent_core.app.console import wide_console
from agent_core.app.exits import Exit, complain
from agent_core.app.settings import CoreSettings
from agent_core.app.trace_tree import print_tree, tree_to_dict
from agent_core.dev.collector.remote import CollectorGoneError, fetch_tree
from agent_core.dev.collector.server import LATEST, Collector
from agent_core.dev.collector.tree import TraceTree
from agent_core.domain.errors import ConfigError
from skillmesh import __version__
from skillmesh.otel import COLLECTOR_VARIABLE, Tracing

CORE_NAME = "skillmesh-core"
_WAIT_SECONDS = 2.0
_FLUSH_MS = 3_000


@dataclass(frozen=True, slots=True)
class TraceReader:
    """Reads back the traces of this process; `read` takes a trace id and waits up to two seconds for all of it."""

    tracing: Tracing
    read: Callable[[str], Awaitable[TraceTree | None]]

    async def show(self, trace_id: str, console: Console) -> None:
        await asyncio.to_thread(self.tracing.provider.force_flush, _FLUSH_MS)
        try:
            tree = await self.read(trace_id)
        except CollectorGoneError as error:
            complain(str(error))
            return
        if tree is None:
            complain(f"no span of trace {trace_id} has reached the collector.")
        else:
            print_tree(tree, console)


@asynccontextmanager
async def traced_process(settings: CoreSettings, *, read_back: bool) -> AsyncIterator[TraceReader]:
    """Export spans as the environment says; with `read_back`, to a collector in this process where none is named."""
    environ = dict(os.environ)
    async with AsyncExitStack() as stack:
        read = _remote(settings.trace_collector)
        if settings.trace_collector:
            environ[COLLECTOR_VARIABLE] = settings.trace_collector
        elif read_back:
            collector = await stack.enter_async_context(Collector())  # left after the last spans were sent to it
            environ[COLLECTOR_VARIABLE] = collector.url
            read = _local(collector)
        tracing = Tracing(CORE_NAME, __version__, f"{CORE_NAME}-{os.getpid()}")
        stack.push_async_callback(asyncio.to_thread, tracing.stop)
        await asyncio.to_thread(tracing.start_exporting, environ)
        yield TraceReader(tracing, read)


async def print_trace(settings: CoreSettings, run_id: str, *, as_json: bool) -> Exit:
    """`skillmesh trace`. Raises ConfigError where there is no collector to ask."""
    if not settings.trace_collector:
        raise ConfigError(
            "There is no span collector to ask: start a mesh with `skillmesh up`, "
            f"or set {COLLECTOR_VARIABLE} to that of a running one."
        )
    try:
        tree = await fetch_tree(settings.trace_collector, run_id or LATEST, _WAIT_SECONDS)
    except CollectorGoneError as error:
        complain(str(error))
        return Exit.UNREACHABLE
    if tree is None:
        complain(f"the collector knows no run or trace {run_id}." if run_id else "no run has been traced yet.")
        return Exit.NO_RESULT
    if as_json:
        sys.stdout.write(orjson.dumps(tree_to_dict(tree), option=orjson.OPT_INDENT_2).decode() + "\n")
    else:
        print_tree(tree, wide_console())
    return Exit.OK


def _remote(url: str) -> Callable[[str], Awaitable[TraceTree | None]]:
    async def read(trace_id: str) -> TraceTree | None:
        return await fetch_tree(url, trace_id, _WAIT_SECONDS) if url else None

    return read


def _local(collector: Collector) -> Callable[[str], Awaitable[TraceTree | None]]:
    async def read(trace_id: str) -> TraceTree | None:
        tree = await collector.wait_complete(trace_id, _WAIT_SECONDS)
        return tree if tree.span_count else None

    return read
