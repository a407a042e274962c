"""A trace as a tree of lines: what ran where, when, for how long, and what was decided."""

from collections.abc import Iterator, Mapping

from rich.console import Console
from rich.markup import escape
from rich.tree import Tree

from agent_core.app.text import one_line
from agent_core.dev.collector.record import Kind, SpanRecord, SpanStatus
from agent_core.dev.collector.tree import TraceNode, TraceTree
from skillmesh import conventions

_DECISIONS = {
    conventions.ATTR_SHORTLIST_SIZE: "offered",
    conventions.ATTR_ATTEMPT: "attempt",
    conventions.ATTR_PICK: "picked",
    conventions.ATTR_BREAKER: "breaker",
    conventions.ATTR_CACHE: "cache",
    conventions.ATTR_DECISION: "policy",
    conventions.ATTR_STATUS: "result",
    conventions.ERROR_TYPE: "error",
    conventions.ATTR_MODEL_NOTE: "note",
    "gen_ai.usage.input_tokens": "tokens in",
    "gen_ai.usage.output_tokens": "tokens out",
}
_LIMIT = 100


def print_tree(tree: TraceTree, console: Console) -> None:
    """Print the tree; then, where something has not come, what is missing."""
    shown = Tree(f"[bold]trace {tree.trace_id}[/] · {_span_count(tree)} · {_process_count(tree)}", guide_style="dim")
    waiting = [(root, shown) for root in reversed(tree.roots)]
    while waiting:  # without recursion: a trace may be deeper than the stack
        node, parent = waiting.pop()
        branch = parent.add(_line(node))
        waiting.extend((child, branch) for child in reversed(node.children))
    console.print(shown, highlight=False)
    for sentence in tree.missing:
        console.print(f"missing: {one_line(sentence)}", style="yellow", markup=False, highlight=False)
    if tree.dropped:
        console.print(f"{tree.dropped} more spans did not fit the collector", style="yellow", highlight=False)


def tree_to_dict(tree: TraceTree) -> dict[str, object]:
    """JSON-able: the spans nested in `children`."""
    return {
        "trace_id": tree.trace_id,
        "complete": tree.complete,
        "missing": list(tree.missing),
        "roots": [_node_to_dict(root) for root in tree.roots],
    }


def _node_to_dict(top: TraceNode) -> dict[str, object]:
    built: dict[int, dict[str, object]] = {}
    for node in reversed(list(top.walk())):
        children = [built.pop(id(child)) for child in node.children]
        built[id(node)] = {**node.span.to_dict(), "offset_ns": node.offset_ns, "children": children}
    return built[id(top)]


def _line(node: TraceNode) -> str:
    span = node.span
    mark = "[red]✗[/] " if span.status is SpanStatus.ERROR else ""
    name = escape(one_line(span.name, _LIMIT))
    styled = f"[bold]{name}[/]" if span.kind in (Kind.CLIENT, Kind.SERVER) else name
    timing = f"[cyan]+{node.offset_ns / 1e6:.1f} ms, {span.seconds * 1000:.1f} ms[/]"
    decided = " · ".join(_decisions(span))
    return f"{mark}{styled}  {timing}  [green]{escape(_process(span))}[/]" + (f"  {decided}" if decided else "")


def _decisions(span: SpanRecord) -> Iterator[str]:
    attributes: Mapping[str, object] = span.attributes
    for key, word in _DECISIONS.items():
        if key in attributes and (key != conventions.ATTR_ATTEMPT or span.kind is Kind.CLIENT):
            yield escape(one_line(f"{word}: {attributes[key]}", _LIMIT))
    if span.status is SpanStatus.ERROR and span.status_message:
        yield f"[red]{escape(one_line(span.status_message, _LIMIT))}[/]"


def _process(span: SpanRecord) -> str:
    return f"{span.service or 'unnamed'}" + (f"[{span.pid}]" if span.pid else "")


def _span_count(tree: TraceTree) -> str:
    return f"{tree.span_count} span{'s' if tree.span_count != 1 else ''}"


def _process_count(tree: TraceTree) -> str:
    count = len({(node.span.service, node.span.instance, node.span.pid) for node in tree.walk()})
    return f"{count} process{'es' if count != 1 else ''}"
