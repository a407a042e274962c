import asyncio

from agent_core.dev.collector.store import SpanStore
from skillmesh.conventions import ATTR_RUN_ID
from tests.support.otlp import TRACE, record


def trace_id(number: int) -> str:
    return f"{number:032x}"


def test_spans_are_found_by_trace_and_by_run() -> None:
    store = SpanStore()
    assert store.latest() is None
    assert store.latest_run() is None
    store.add(record("1", attributes={ATTR_RUN_ID: "run-1"}), 10)
    store.add(record("2", trace_id=trace_id(2)), 10)
    assert [span.span_id[-1] for span in store.spans(TRACE)] == ["1"]
    assert store.trace_of_run("run-1") == TRACE
    assert store.trace_of_run("run-2") is None
    assert store.latest() == trace_id(2)
    assert store.latest_run() == TRACE
    assert store.trace_ids() == (trace_id(2), TRACE)
    assert store.run_ids(TRACE) == ("run-1",)
    assert store.run_ids("other") == ()
    assert store.spans("other") == ()


def test_a_span_that_comes_twice_is_kept_once() -> None:
    store = SpanStore()
    assert store.add(record("1"), 10)
    assert store.add(record("1"), 10)
    assert (len(store.spans(TRACE)), store.size) == (1, 10)


def test_the_trace_heard_of_longest_ago_makes_room_for_a_new_one() -> None:
    store = SpanStore(max_traces=2)
    store.add(record("1", trace_id=trace_id(1), attributes={ATTR_RUN_ID: "run-1"}), 10)
    store.add(record("1", trace_id=trace_id(2)), 10)
    store.add(record("2", trace_id=trace_id(1)), 10)
    store.add(record("1", trace_id=trace_id(3)), 10)
    assert store.trace_ids() == (trace_id(3), trace_id(1))
    store.add(record("1", trace_id=trace_id(4)), 10)
    assert store.trace_of_run("run-1") is None
    assert (store.dropped, store.size) == (3, 20)


def test_bytes_are_bounded_and_the_newest_trace_stays() -> None:
    store = SpanStore(max_bytes=100)
    for number in range(1, 6):
        store.add(record("1", trace_id=trace_id(number)), 60)
    assert store.trace_ids() == (trace_id(5),)
    assert store.size == 60
    assert not store.add(record("2", trace_id=trace_id(5)), 101)
    assert not store.add(record("1", trace_id=trace_id(6)), 101)
    assert store.trace_ids() == (trace_id(5),)


def test_the_bytes_of_one_trace_alone_are_bounded_and_what_was_refused_is_counted() -> None:
    store = SpanStore(max_bytes=100)
    assert [store.add(record(str(number)), 40) for number in range(1, 5)] == [True, True, False, False]
    assert (store.size, store.dropped_of(TRACE), store.dropped) == (80, 2, 2)


def test_the_spans_of_one_trace_are_bounded_and_what_was_refused_is_counted() -> None:
    store = SpanStore(max_spans_per_trace=2)
    assert [store.add(record(str(number)), 1) for number in range(1, 5)] == [True, True, False, False]
    assert (store.dropped_of(TRACE), store.dropped) == (2, 2)
    assert store.dropped_of("other") == 0


async def test_who_waits_for_a_trace_or_for_any_hears_of_a_span() -> None:
    store = SpanStore()
    waits = [asyncio.create_task(store.changed(key)) for key in (TRACE, TRACE, "")]
    other = asyncio.create_task(store.changed(trace_id(9)))
    await asyncio.sleep(0)
    store.add(record("1"), 1)
    await asyncio.wait_for(asyncio.gather(*waits), 5)
    assert not other.done()
    other.cancel()
    await asyncio.gather(other, return_exceptions=True)
    assert store._changed == {}
