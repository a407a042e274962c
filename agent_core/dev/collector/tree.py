"""The tree that a trace's spans make, and whether all of it has come. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from agent_core.dev.collector.record import Kind, SpanRecord
from skillmesh.conventions import ATTR_ERROR_KIND, ATTR_INSTANCE, SKILL_SERVICE
from skillmesh.errors import ErrorKind

# An attempt that ended so may never have reached a skill process, or was turned away before it made a span.
_NEVER_SERVED: Final = frozenset(
    {
        ErrorKind.CONNECT_FAILED,
        ErrorKind.NO_INSTANCE,
        ErrorKind.BREAKER_OPEN,
        ErrorKind.OVERLOADED,
        ErrorKind.DRAINING,
        ErrorKind.MESSAGE_TOO_LARGE,
    }
)


@dataclass(frozen=True, slots=True)
class TraceNode:
    """A span, its children by start, and its start after the trace's (`offset_ns`; clocks may make it negative)."""

    span: SpanRecord
    children: tuple["TraceNode", ...]
    offset_ns: int

    def walk(self) -> Iterator["TraceNode"]:
        """This node, then all below it, depth first."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceTree:
    """A trace as far as it has come.

    `roots` are the spans without a parent here: the root first, then those whose parent is missing. `missing` has a
    sentence for each thing that should still come. `dropped` counts spans that the collector had no room for.
    """

    trace_id: str
    roots: tuple[TraceNode, ...]
    missing: tuple[str, ...]
    span_count: int
    dropped: int = 0

    @property
    def complete(self) -> bool:
        """One root, every parent there, and every attempt that was served has its server span."""
        return self.span_count > 0 and not self.missing

    @property
    def root(self) -> TraceNode | None:
        return self.roots[0] if self.roots else None

    def walk(self) -> Iterator[TraceNode]:
        for root in self.roots:
            yield from root.walk()


def build_tree(trace_id: str, spans: Iterable[SpanRecord], dropped: int = 0) -> TraceTree:
    """The tree of one trace's spans, in whatever order they come. Never raises: what does not fit is named."""
    by_id = {span.span_id: span for span in spans}
    children: defaultdict[str, list[SpanRecord]] = defaultdict(list)
    tops = []
    for span in by_id.values():
        if span.parent_id in by_id and span.parent_id != span.span_id:
            children[span.parent_id].append(span)
        else:
            tops.append(span)
    tops.sort(key=lambda span: (bool(span.parent_id), span.start_ns, span.span_id))
    origin = tops[0].start_ns if tops else 0
    seen: set[str] = set()
    roots = [_node(top, children, origin, seen) for top in tops]
    while left := [span for span in by_id.values() if span.span_id not in seen]:  # spans that are parents in a circle
        tops.append(min(left, key=lambda span: (span.start_ns, span.span_id)))
        roots.append(_node(tops[-1], children, origin or tops[-1].start_ns, seen))
    return TraceTree(
        trace_id=trace_id,
        roots=tuple(roots),
        missing=tuple(_missing(trace_id, tops, by_id.values(), children)),
        span_count=len(by_id),
        dropped=dropped,
    )


def is_attempt(span: SpanRecord) -> bool:
    """Whether this is one attempt of a call, seen from the core."""
    return span.kind is Kind.CLIENT and span.name.startswith(f"{SKILL_SERVICE}/Invoke")


def _node(top: SpanRecord, children: defaultdict[str, list[SpanRecord]], origin: int, seen: set[str]) -> TraceNode:
    """Built from the leaves up, without recursion: a trace may be deeper than Python's stack. Adds to `seen`."""
    order = [top]
    seen.add(top.span_id)
    for span in order:
        below = [child for child in children.get(span.span_id, ()) if child.span_id not in seen]
        seen.update(child.span_id for child in below)
        order.extend(below)
    nodes: dict[str, TraceNode] = {}
    for span in reversed(order):
        below = sorted(children.get(span.span_id, ()), key=lambda child: (child.start_ns, child.span_id))
        built = tuple(nodes.pop(child.span_id) for child in below if child.span_id in nodes)
        nodes[span.span_id] = TraceNode(span, built, span.start_ns - origin)
    return nodes[top.span_id]


def _missing(
    trace_id: str,
    tops: list[SpanRecord],
    spans: Iterable[SpanRecord],
    children: defaultdict[str, list[SpanRecord]],
) -> Iterator[str]:
    roots = [span for span in tops if not span.parent_id]
    if not roots:
        yield f"the root of trace {trace_id}"
    for extra in roots[1:]:
        yield f"what {extra.name} of {extra.service or 'an unnamed process'} belongs to: it is a second root"
    for span in tops:
        if span.parent_id:
            yield f"span {span.parent_id}, the parent of {span.name} of {span.service or 'an unnamed process'}"
    for span in spans:
        served = any(child.kind is Kind.SERVER for child in children.get(span.span_id, ()))
        if is_attempt(span) and not served and _should_be_served(span):
            where = span.attributes.get(ATTR_INSTANCE) or "its instance"
            yield f"the server span of {span.name} from {where}"


def _should_be_served(span: SpanRecord) -> bool:
    return span.attributes.get(ATTR_ERROR_KIND) not in _NEVER_SERVED
