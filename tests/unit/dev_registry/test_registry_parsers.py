from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.dev.registry.blocking import MAX_WAIT_SECONDS, read_wait
from agent_core.dev.registry.deadlines import Deadlines
from agent_core.dev.registry.definitions import read_check, read_service
from agent_core.dev.registry.durations import parse_duration, read_duration
from agent_core.dev.registry.filters import parse_filter
from agent_core.dev.registry.refusals import RefusedError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10s", 10), ("1m30s", 90), ("500ms", 0.5), ("1.5h", 5_400), ("0", 0), ("-2s", -2), ("+2s", 2), ("3us", 3e-6)],
)
def test_durations_are_read_as_go_reads_them(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "10", "s", "1x", "1s2", "1 s", "." * 70, "1s" * 40])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="invalid duration"):
        parse_duration(text)


def test_a_number_is_a_duration_in_nanoseconds() -> None:
    assert read_duration(2_000_000_000) == 2.0
    assert read_duration(None) == 0.0
    with pytest.raises(ValueError, match="invalid duration"):
        read_duration(True)
    with pytest.raises(ValueError, match="invalid duration"):
        read_duration(["1s"])


def refusal(read: Callable[..., object], *arguments: object) -> int | None:
    """The status with which it is refused; None where it is read."""
    try:
        read(*arguments)
    except RefusedError as refused:
        return refused.status
    return None


@given(st.text(max_size=20))
def test_any_text_is_a_duration_or_a_value_error(text: str) -> None:
    with suppress(ValueError):
        assert isinstance(parse_duration(text), float)


SERVICE_KEYS = ("Name", "ID", "Tags", "Meta", "Port", "Weights", "Check", "Checks", "TaggedAddresses")


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(SERVICE_KEYS, JSON)))
def test_any_json_is_a_registration_or_refused(body: object) -> None:
    assert refusal(read_service, body) in (None, 400)


@given(JSON)
def test_any_json_is_a_check_or_refused(body: object) -> None:
    assert refusal(read_check, body) in (None, 400)


def test_keys_come_in_any_spelling() -> None:
    modern = {"GRPC": "h:1/s", "Interval": "2s", "DeregisterCriticalServiceAfter": "5m", "GRPCUseTLS": True}
    snake = {"grpc": "h:1/s", "interval": "2s", "deregister_critical_service_after": "5m", "grpc_use_tls": True}
    for body in ({"Name": "a", "Check": modern}, {"name": "a", "checks": [snake]}):
        _, (check,) = read_service(body)
        assert (check.id, check.grpc, check.interval, check.deregister_after, check.tls) == (
            "service:a", "h:1/s", 2.0, 300.0, True,
        )  # fmt: skip


def test_times_below_the_floors_are_raised_to_them() -> None:
    _, (check,) = read_service(
        {"Name": "a", "Check": {"GRPC": "h:1", "Interval": "10ms", "DeregisterCriticalServiceAfter": "5s"}}
    )
    assert (check.interval, check.deregister_after, check.timeout) == (1.0, 60.0, 10.0)


@pytest.mark.parametrize(
    "body",
    [
        {"Name": "a", "Check": {"HTTP": "http://x", "Interval": "1s"}},
        {"Name": "a", "Check": {"TCP": "x:1", "Interval": "1s"}},
        {"Name": "a", "Check": {"GRPC": "x:1", "Interval": "1s", "TLSSkipVerify": True}},
        {"Name": "a", "Checks": [{"TTL": "1s"}] * 17},
        {"Name": "a", "Port": 70_000},
        {"Name": "a", "Tags": "t"},
        {"Name": "a", "Meta": {"k": 1}},
        {"Name": "a", "Meta": {"k": "x" * 513}},
        {"Name": "a", "Meta": {"": "x"}},
        {"Name": "a", "Meta": {str(n): "" for n in range(65)}},
        {"Name": "a" * 513},
        [],
    ],
)
def test_what_the_development_registry_does_not_take_is_said(body: object) -> None:
    with pytest.raises(RefusedError) as caught:
        read_service(body)
    assert caught.value.status == 400


@pytest.mark.parametrize(
    ("query", "index", "least", "most"),
    [
        ({}, 0, 0.0, 0.0),
        ({"index": "7"}, 7, 300.0, 319.0),
        ({"index": "7", "wait": "16s"}, 7, 16.0, 17.0),
        ({"index": "7", "wait": "0s"}, 7, 300.0, 319.0),
        ({"index": "7", "wait": "-1s"}, 7, 0.0, 0.0),
        ({"index": "7", "wait": "99h"}, 7, 600.0, 637.5),
    ],
)
def test_waits_have_bounds_and_jitter(query: dict[str, str], index: int, least: float, most: float) -> None:
    asked, seconds = read_wait(query)
    assert asked == index
    assert least <= seconds <= most <= MAX_WAIT_SECONDS * 17 / 16


@given(st.text(max_size=12), st.text(max_size=8))
def test_any_query_is_a_wait_or_refused(index: str, wait: str) -> None:
    query = {"index": index, "wait": wait}
    assert refusal(read_wait, query) in (None, 400)
    with suppress(RefusedError):
        since, seconds = read_wait(query)
        assert since >= 0
        assert 0.0 <= seconds <= MAX_WAIT_SECONDS * 17 / 16


ENTRY = {"Service": {"ID": "a", "Port": 7, "Tags": ["skillmesh"], "Meta": {"v": "1", "skillmesh_protocol": "1"}}}


@pytest.mark.parametrize(
    ("expression", "matches"),
    [
        ('Service.Meta.v == "1"', True),
        ('Service.Meta.v=="2"', False),
        ('Service.Meta.v != "2"', True),
        ('Service.Meta.other == "1"', False),
        ('Service.Port == "7"', True),
        ('"skillmesh" in Service.Tags', True),
        ('"gpu" not in Service.Tags', True),
        ('"v" in Service.Meta', True),
        ('"x" in Service.Meta.none', False),
        ('Service.ID == "a" and "skillmesh" in Service.Tags', True),
        ('Service.ID == "a" and Service.Meta.v == "2"', False),
    ],
)
def test_filters_choose_entries(expression: str, matches: bool) -> None:
    assert parse_filter(expression)(ENTRY) is matches


@given(st.text(max_size=30))
def test_any_text_is_a_filter_or_refused(expression: str) -> None:
    assert refusal(lambda: parse_filter(expression)(ENTRY)) in (None, 400)


@pytest.mark.parametrize("expression", ["bad", 'a == "b" or c == "d"', 'a == "b" and', "x" * 2_000, ""])
def test_filters_that_ask_for_more_are_refused(expression: str) -> None:
    with pytest.raises(RefusedError):
        parse_filter(expression)


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.one_of(st.none(), st.integers(0, 50))), max_size=60))
def test_deadlines_come_due_in_order_once_and_as_last_set(changes: list[tuple[str, int | None]]) -> None:
    deadlines: Deadlines[str] = Deadlines()
    known: dict[str, int] = {}
    for key, at in changes:
        if at is None:
            deadlines.discard(key)
            known.pop(key, None)
        else:
            deadlines.set(key, at)
            known[key] = at
        assert deadlines.next() == min(known.values(), default=None)
        assert (key in deadlines) == (key in known)
    due = deadlines.due(25)
    assert sorted(due) == sorted(key for key, at in known.items() if at <= 25)
    assert [known[key] for key in due] == sorted(known[key] for key in due)
    assert deadlines.due(25) == []


def test_deadlines_that_are_set_again_and_again_take_no_more_room() -> None:
    deadlines: Deadlines[str] = Deadlines()
    for at in range(10_000):
        deadlines.set("a", at)
    assert len(deadlines._heap) < 100
    assert deadlines.next() == 9_999
