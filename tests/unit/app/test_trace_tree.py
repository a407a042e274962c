import io

from rich.console import Console

from agent_core.app.trace_tree import print_tree, tree_to_dict
from agent_core.dev.collector.record import Kind, SpanRecord, SpanStatus
from agent_core.dev.collector.tree import build_tree

TRACE = "ab" * 16
ATTEMPT = "skillmesh.v1.SkillService/Invoke"


def record(span_id: str, parent: str, name: str, kind: Kind = Kind.INTERNAL, **more: object) -> SpanRecord:
    fields: dict[str, object] = {
        "trace_id": TRACE, "span_id": span_id, "parent_id": parent, "name": name, "kind": kind,
        "start_ns": 1_000_000, "end_ns": 3_500_000, "service": "core", "pid": 7, **more,
    }  # fmt: skip
    return SpanRecord(**fields)  # type: ignore[arg-type]  # fields by name, as the dataclass checks itself


SPANS = [
    record("1", "", "invoke_agent skillmesh"),
    record("2", "1", "execute_tool [red]add", attributes={"skillmesh.cache": "miss"}),
    record("3", "2", ATTEMPT, Kind.CLIENT, attributes={"skillmesh.attempt": 1, "skillmesh.pick.reason": "only one"}),
]
SERVER = record(
    "4", "3", ATTEMPT, Kind.SERVER, service="calculator", pid=8, start_ns=2_000_000,
    status=SpanStatus.ERROR, status_message="boom\x1b[2J",
)  # fmt: skip


def printed(*spans: SpanRecord, dropped: int = 0) -> str:
    out = io.StringIO()
    print_tree(build_tree(TRACE, spans, dropped), Console(file=out, width=200, highlight=False))
    return out.getvalue()


def test_the_tree_shows_processes_durations_decisions_and_errors() -> None:
    shown = printed(*SPANS, SERVER)
    assert "4 spans · 2 processes" in shown
    assert "execute_tool [red]add  +0.0 ms, 2.5 ms  core[7]  cache: miss" in shown
    assert "attempt: 1 · picked: only one" in shown
    assert "✗ " + ATTEMPT + "  +1.0 ms, 1.5 ms  calculator[8]  boom[2J" in shown
    assert "missing" not in shown


def test_what_has_not_come_is_named() -> None:
    shown = printed(*SPANS, dropped=3)
    assert f"missing: the server span of {ATTEMPT}" in shown
    assert "3 more spans did not fit" in shown


def test_the_json_nests_children_in_order() -> None:
    tree = tree_to_dict(build_tree(TRACE, [*SPANS, SERVER]))
    assert tree["complete"] is True
    node = tree["roots"][0]  # type: ignore[index]  # known to be a list
    names = []
    while node["children"]:
        node = node["children"][0]
        names.append(node["name"])
    assert names == ["execute_tool [red]add", ATTEMPT, ATTEMPT]


def test_a_trace_deeper_than_the_stack_is_shown() -> None:
    deep = [record(str(n), str(n - 1) if n else "", "step") for n in range(3_000)]
    assert tree_to_dict(build_tree(TRACE, deep))["missing"] == []
