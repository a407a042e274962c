import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.dev.collector.record import Kind
from agent_core.dev.collector.tree import build_tree
from skillmesh.conventions import ATTR_ERROR_KIND, ATTR_INSTANCE
from tests.support.otlp import TRACE, record

INVOKE = "skillmesh.v1.SkillService/Invoke"


def test_children_stand_under_their_parent_by_start() -> None:
    tree = build_tree(TRACE, [record("3", "1", start=300), record("2", "1", start=200), record("1", start=100)])
    assert tree.complete
    assert tree.root is not None
    assert [child.span.span_id[-1] for child in tree.root.children] == ["2", "3"]
    assert [child.offset_ns for child in tree.root.children] == [100, 200]
    assert [node.span.span_id[-1] for node in tree.walk()] == ["1", "2", "3"]


def test_nothing_is_not_complete() -> None:
    tree = build_tree(TRACE, [])
    assert not tree.complete
    assert tree.root is None
    assert tree.missing == (f"the root of trace {TRACE}",)


def test_a_missing_parent_is_named_and_its_child_still_shown() -> None:
    tree = build_tree(TRACE, [record("1"), record("3", "2", name="lost")])
    assert not tree.complete
    assert [root.span.name for root in tree.roots] == ["work", "lost"]
    assert tree.missing == ("span 0000000000000002, the parent of lost of svc",)


def test_a_second_root_is_named() -> None:
    tree = build_tree(TRACE, [record("1", start=1), record("2", name="other", start=2)])
    assert tree.missing == ("what other of svc belongs to: it is a second root",)


def test_an_attempt_wants_the_span_of_the_process_that_served_it() -> None:
    attempt = record("2", "1", INVOKE, Kind.CLIENT, attributes={ATTR_INSTANCE: "clock-1"})
    tree = build_tree(TRACE, [record("1"), attempt])
    assert tree.missing == (f"the server span of {INVOKE} from clock-1",)
    served = build_tree(TRACE, [record("1"), attempt, record("3", "2", INVOKE, Kind.SERVER)])
    assert served.complete


def test_a_streamed_attempt_wants_it_too_and_another_client_span_does_not() -> None:
    streamed = build_tree(TRACE, [record("1"), record("2", "1", f"{INVOKE}Stream", Kind.CLIENT)])
    assert streamed.missing == (f"the server span of {INVOKE}Stream from its instance",)
    assert build_tree(TRACE, [record("1"), record("2", "1", "chat gpt", Kind.CLIENT)]).complete


@pytest.mark.parametrize(
    ("kind", "complete"),
    [
        ("connect_failed", True),
        ("no_instance", True),
        ("overloaded", True),
        ("deadline_exceeded", False),
        ("crashed", False),
    ],
)
def test_an_attempt_that_never_reached_a_process_wants_nothing(kind: str, complete: bool) -> None:
    attempt = record("2", "1", INVOKE, Kind.CLIENT, attributes={ATTR_ERROR_KIND: kind})
    assert build_tree(TRACE, [record("1"), attempt]).complete is complete


def test_a_trace_deeper_than_the_stack_is_built() -> None:
    depth = sys.getrecursionlimit() * 3
    tree = build_tree(TRACE, [record("1"), *(record(f"{n:x}", f"{n - 1:x}") for n in range(2, depth))])
    assert sum(1 for _ in tree.walk()) == depth - 1
    assert tree.complete


def test_spans_that_are_each_other_s_parents_are_shown_and_not_complete() -> None:
    tree = build_tree(TRACE, [record("1"), record("2", "3", start=5), record("3", "2", start=6), record("4", "4")])
    assert sorted(node.span.span_id[-1] for node in tree.walk()) == ["1", "2", "3", "4"]
    assert not tree.complete


IDS = st.sampled_from("123456")


@given(st.lists(st.tuples(IDS, st.one_of(st.just(""), IDS), st.integers(0, 9)), max_size=12))
def test_every_span_is_shown_once_whatever_the_parents(spans: list[tuple[str, str, int]]) -> None:
    records = [record(span_id, parent, start=start) for span_id, parent, start in spans]
    tree = build_tree(TRACE, records)
    shown = [node.span.span_id for node in tree.walk()]
    assert sorted(shown) == sorted({span.span_id for span in records})
    assert tree.span_count == len(shown)
    for node in tree.walk():
        assert [child.span.start_ns for child in node.children] == sorted(
            child.span.start_ns for child in node.children
        )
