from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.discovery.instances import MAX_INSTANCES, Reading, read_instances
from tests.support.scripted_consul import entry


def read(*entries: object, include_warning: bool = False) -> Reading:
    return read_instances("s", list(entries), include_warning=include_warning)


def targets(reading: Reading) -> list[str]:
    return [instance.target for instance in reading.passing.values()]


def test_dsc_03_an_empty_service_address_means_the_nodes() -> None:
    node = {"Address": "127.0.0.1"}
    reading = read(
        {"Service": {"Address": "", "Port": 7}, "Node": node},
        {"Service": {"Address": None, "Port": 8}, "Node": node},
        {"Service": {"Port": 0}, "Node": {}},
    )
    assert targets(reading) == ["ipv4:127.0.0.1:7", "ipv4:127.0.0.1:8"]
    assert reading.problems == ("an instance of s is left out: it has no address.",)


def test_dsc_07_an_ipv6_address_gets_its_brackets() -> None:
    reading = read({"Service": {"Address": "::1", "Port": 7000}, "Node": {"Address": "127.0.0.1"}})
    assert targets(reading) == ["ipv6:[::1]:7000"]


def test_dsc_11_all_checks_decide_the_nodes_included() -> None:
    reading = read(
        entry("s", "a", 1, checks=("passing", "critical")),
        entry("s", "b", 2, checks=("passing", "passing")),
        entry("s", "c", 3, checks=("passing", "warning")),
    )
    assert list(reading.passing) == ["b"]
    assert reading.failing == 2
    assert reading.failed == {"a", "c"}


def test_an_instance_with_a_warning_is_used_where_the_policy_says_so() -> None:
    warned = entry("s", "c", checks=("passing", "warning"), Weights={"Passing": 10, "Warning": 2})
    reading = read(warned, include_warning=True)
    assert reading.passing["c"].weight == 2


@pytest.mark.parametrize("check", ["_node_maintenance", "_service_maintenance:s"])
def test_maintenance_takes_an_instance_out_whatever_its_state(check: str) -> None:
    body: Any = entry("s", "a")
    body["Checks"].append({"CheckID": check, "Status": "passing"})
    assert read(body).passing == {}


def test_a_check_in_an_unknown_state_does_not_pass() -> None:
    assert read(entry("s", "a", checks=("splendid",))).passing == {}


def test_an_instance_without_checks_passes() -> None:
    assert list(read({**entry("s", "a"), "Checks": None}).passing) == ["a"]


def test_a_check_that_has_never_run_is_no_proof_of_failure() -> None:
    body: Any = entry("s", "a", checks=("critical",))
    body["Checks"][0]["Output"] = ""
    reading = read(body)
    assert (dict(reading.passing), reading.failed, reading.failing) == ({}, frozenset(), 1)


def test_meta_and_weights_are_read_and_bounded() -> None:
    meta = {"skillmesh_fingerprint": "f1", "skillmesh_version": "1.2.3", "skillmesh_protocol": "1"}
    one = read(entry("s", "a", Meta=meta, Weights={"Passing": 0})).passing["a"]
    assert (one.fingerprint, one.version, one.weight, one.service) == ("f1", "1.2.3", 1, "s")
    assert read(entry("s", "a", Weights={"Passing": 10**9})).passing["a"].weight == 65_535


def test_an_instance_of_another_protocol_is_left_out_with_what_to_do() -> None:
    reading = read(entry("s", "a", Meta={"skillmesh_protocol": "2"}), entry("s", "b", 7001))
    assert list(reading.passing) == ["b"]
    assert "upgrade" in reading.problems[0]


def test_one_process_registered_twice_counts_once_and_the_later_entry_wins() -> None:
    reading = read(entry("s", "old", CreateIndex=5), entry("s", "new", CreateIndex=9))
    assert list(reading.passing) == ["new"]


def test_an_id_that_two_nodes_use_stays_two_instances() -> None:
    other = {**entry("s", "a", 7001), "Node": {"Node": "m", "Address": "127.0.0.2"}}
    reading = read(entry("s", "a"), other)
    assert list(reading.passing) == ["a@m", "a@n"]
    assert {key: one.id for key, one in reading.passing.items()} == {"a@m": "a@m", "a@n": "a@n"}


def test_an_instance_without_an_id_is_named_by_its_target() -> None:
    assert list(read(entry("s", "")).passing) == ["s@ipv4:127.0.0.1:7000"]


def test_too_many_instances_are_cut_and_said() -> None:
    reading = read(*(entry("s", f"i{n}", 1 + n) for n in range(MAX_INSTANCES + 1)))
    assert len(reading.passing) == MAX_INSTANCES
    assert "1001 instances" in reading.problems[0]


def test_an_answer_that_is_no_list_is_a_problem_not_an_exception() -> None:
    assert read_instances("s", {"a": 1}, include_warning=False).problems != ()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
parts = st.fixed_dictionaries(
    {},
    optional={
        "Node": json_values | st.fixed_dictionaries({"Node": json_values, "Address": json_values}),
        "Service": json_values
        | st.fixed_dictionaries(
            {}, optional=dict.fromkeys(("ID", "Address", "Port", "Meta", "Weights", "CreateIndex"), json_values)
        ),
        "Checks": json_values | st.lists(st.fixed_dictionaries({"Status": json_values, "CheckID": json_values})),
    },
)


@settings(max_examples=25)
@given(st.lists(json_values | parts, max_size=6))
def test_malformed_entries_never_break_a_good_one(junk: list[object]) -> None:
    good = entry("s", "good", 65_000, CreateIndex=2**62)
    for body in ([*junk, good], [good, *junk]):
        reading = read_instances("s", body, include_warning=False)
        assert any(instance.target == "ipv4:127.0.0.1:65000" for instance in reading.passing.values())


@pytest.mark.parametrize("own_id", ["a\nb", "a\x1b[2J", "x" * 257])
def test_an_id_that_could_forge_a_line_of_a_log_is_left_out(own_id: str) -> None:
    reading = read(entry("s", own_id, 1), entry("s", "b", 2))
    assert list(reading.passing) == ["b"]
    (problem,) = reading.problems
    assert problem.isprintable()
    assert "256 printable characters" in problem
