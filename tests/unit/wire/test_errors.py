import grpc
import pytest

from skillmesh.errors import RULES, ErrorKind, Fault, Ran, kind_of


def test_every_kind_has_a_rule_with_a_status_that_grpc_knows() -> None:
    assert set(RULES) == set(ErrorKind)
    assert {rule.status for rule in RULES.values()} <= {code.name for code in grpc.StatusCode}


def test_a_reason_of_ours_outweighs_the_status() -> None:
    for kind in ErrorKind:
        assert kind_of("UNKNOWN", kind.value.upper()) is kind


def test_a_foreign_reason_leaves_the_status_to_speak() -> None:
    assert kind_of("UNAVAILABLE", "STOCKOUT") is ErrorKind.UNAVAILABLE
    assert kind_of("ALREADY_EXISTS", None) is ErrorKind.UNKNOWN


@pytest.mark.parametrize("kind", [kind for kind in ErrorKind if RULES[kind].fault is Fault.CALLER])
def test_a_callers_mistake_counts_against_nobody(kind: ErrorKind) -> None:
    assert not RULES[kind].breaker
    assert not RULES[kind].instance
    assert not RULES[kind].retryable


def test_what_a_server_refuses_before_running_is_known_not_to_have_run() -> None:
    for kind in (ErrorKind.OVERLOADED, ErrorKind.DRAINING, ErrorKind.SCHEMA_MOVED, ErrorKind.CORRUPTED_REQUEST):
        assert RULES[kind].ran is Ran.NO


def test_whatever_may_have_run_is_said_so() -> None:
    for kind in (ErrorKind.DEADLINE_EXCEEDED, ErrorKind.UNAVAILABLE, ErrorKind.CRASHED, ErrorKind.UNKNOWN):
        assert RULES[kind].ran is Ran.MAYBE
