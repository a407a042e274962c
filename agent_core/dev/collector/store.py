"""Spans by trace, in memory and bounded: where a bound is reached, the trace heard of longest ago goes."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from agent_core.dev.collector.record import SpanRecord
from skillmesh.conventions import ATTR_RUN_ID

DEFAULT_MAX_TRACES: Final = 1_000
DEFAULT_MAX_SPANS_PER_TRACE: Final = 10_000
DEFAULT_MAX_BYTES: Final = 64 * 1024 * 1024


@dataclass(slots=True)
class _Trace:
    spans: dict[str, SpanRecord] = field(default_factory=dict)
    size: int = 0
    dropped: int = 0
    run_ids: set[str] = field(default_factory=set)


class SpanStore:
    """All spans that came. `size` is their encoded bytes; `dropped` counts those that were refused or pushed out.

    For one event loop; not for threads.
    """

    def __init__(
        self,
        max_traces: int = DEFAULT_MAX_TRACES,
        max_spans_per_trace: int = DEFAULT_MAX_SPANS_PER_TRACE,
        max_bytes: int = DEFAULT_MAX_BYTES,
    ) -> None:
        self._max_traces = max_traces
        self._max_spans = max_spans_per_trace
        self._max_bytes = max_bytes
        self._traces: OrderedDict[str, _Trace] = OrderedDict()
        self._runs: dict[str, str] = {}
        self._changed: dict[str, asyncio.Event] = {}
        self.size = 0
        self.dropped = 0

    def add(self, span: SpanRecord, size: int) -> bool:
        """Keep a span (once, however often it comes); False where its trace is full."""
        trace = self._traces.get(span.trace_id)
        if trace is None:
            if size > self._max_bytes:
                self.dropped += 1
                return False
            trace = self._traces[span.trace_id] = _Trace()
        else:
            self._traces.move_to_end(span.trace_id)
        if span.span_id in trace.spans:
            return True
        if len(trace.spans) >= self._max_spans or trace.size + size > self._max_bytes:
            trace.dropped += 1
            self.dropped += 1
            return False
        trace.spans[span.span_id] = span
        trace.size += size
        self.size += size
        run_id = span.attributes.get(ATTR_RUN_ID)
        if isinstance(run_id, str) and run_id:
            trace.run_ids.add(run_id)
            self._runs[run_id] = span.trace_id
        while len(self._traces) > self._max_traces or (self.size > self._max_bytes and len(self._traces) > 1):
            self._forget_oldest()
        for key in (span.trace_id, ""):
            if (changed := self._changed.get(key)) is not None:
                changed.set()
        return True

    def spans(self, trace_id: str) -> Sequence[SpanRecord]:
        """In the order of their coming; empty for a trace that is not known."""
        trace = self._traces.get(trace_id)
        return tuple(trace.spans.values()) if trace else ()

    def dropped_of(self, trace_id: str) -> int:
        trace = self._traces.get(trace_id)
        return trace.dropped if trace else 0

    def trace_of_run(self, run_id: str) -> str | None:
        return self._runs.get(run_id)

    def latest(self) -> str | None:
        """The trace that a span came for last."""
        return next(reversed(self._traces), None)

    def latest_run(self) -> str | None:
        """The same among traces of runs."""
        return next((trace_id for trace_id in reversed(self._traces) if self._traces[trace_id].run_ids), None)

    def trace_ids(self) -> tuple[str, ...]:
        """Heard of last first."""
        return tuple(reversed(self._traces))

    def run_ids(self, trace_id: str) -> tuple[str, ...]:
        trace = self._traces.get(trace_id)
        return tuple(sorted(trace.run_ids)) if trace else ()

    async def changed(self, trace_id: str = "") -> None:
        """Wait for a span of this trace, or of any, to come."""
        event = self._changed.setdefault(trace_id, asyncio.Event())
        try:
            await event.wait()
        finally:
            if self._changed.get(trace_id) is event:
                del self._changed[trace_id]

    def _forget_oldest(self) -> None:
        trace_id, trace = self._traces.popitem(last=False)
        self.size -= trace.size
        self.dropped += len(trace.spans)
        for run_id in trace.run_ids:
            if self._runs.get(run_id) == trace_id:
                del self._runs[run_id]
