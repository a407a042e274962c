import pytest

from agent_core.dev.registry import state as state_module
from agent_core.dev.registry.entries import Check, CheckDefinition, ServiceDefinition, Status
from agent_core.dev.registry.ledger import Ledger
from agent_core.dev.registry.refusals import RefusedError
from agent_core.dev.registry.state import Node, State


def a_state() -> State:
    return State(Ledger(), Node(id="n", name="node", address="127.0.0.1", port=1))


def service(service_id: str, name: str = "skill", **more: object) -> ServiceDefinition:
    return ServiceDefinition(id=service_id, name=name, **more)  # type: ignore[arg-type] # keywords passed on


def check(check_id: str, status: Status = Status.PASSING) -> CheckDefinition:
    return CheckDefinition(id=check_id, name=check_id, status=status, ttl=30.0)


def test_every_index_grows_and_starts_above_one() -> None:
    state = a_state()
    seen = [state.service_index("skill"), state.services_index, state.checks_index, state.node_index]
    assert min(seen) > 1
    state.register(service("a"), (check("c"),), replace_checks=False)
    first = state.service_index("skill")
    state.set_status("c", Status.WARNING, "")
    second = state.service_index("skill")
    state.deregister("a")
    third = state.service_index("skill")
    state.register(service("a"), (), replace_checks=False)
    assert max(seen) < first < second < third < state.service_index("skill")


def test_an_index_of_one_service_does_not_move_with_another() -> None:
    state = a_state()
    state.register(service("a"), (), replace_checks=False)
    before = state.service_index("skill"), state.service_index("nobody")
    state.register(service("b", "other"), (check("c"),), replace_checks=False)
    state.set_status("c", Status.CRITICAL, "")
    state.deregister("b")
    assert (state.service_index("skill"), state.service_index("nobody")) == before


def test_a_service_under_a_new_name_leaves_the_old_one_and_takes_its_checks_along() -> None:
    state = a_state()
    state.register(service("a", "old"), (check("c"),), replace_checks=False)
    index = state.service_index("old")
    state.register(service("a", "new", tags=("t",)), (), replace_checks=False)
    assert state.named("old") == []
    assert state.service_index("old") > index
    assert (state.checks["c"].service_name, state.checks["c"].service_tags) == ("new", ("t",))
    assert dict(state.names())["new"] == ["t"]


def test_a_check_moves_to_the_service_that_names_it_last() -> None:
    state = a_state()
    state.register(service("a"), (check("c", Status.PASSING),), replace_checks=False)
    state.register(service("b"), (check("c", Status.CRITICAL),), replace_checks=False)
    assert state.checks_of("a") == []
    assert [known.status for known in state.checks_of("b")] == [Status.CRITICAL]


def test_a_check_of_the_node_moves_the_index_of_every_service() -> None:
    state = a_state()
    state.register(service("a"), (), replace_checks=False)
    index = state.service_index("skill")
    state.put_check(check("disk", Status.CRITICAL), "")
    assert state.service_index("skill") > index
    assert {known.id for known in state.checks_of("")} == {"serfHealth", "disk"}


def test_watchers_hear_of_changes_and_of_removals() -> None:
    state = a_state()
    heard: list[tuple[str, Status | None]] = []

    def hear(check_id: str, known: Check | None) -> None:
        heard.append((check_id, known.status if known else None))

    state.watchers.append(hear)
    state.register(service("a"), (check("c"),), replace_checks=False)
    state.set_status("c", Status.CRITICAL, "")
    state.set_status("c", Status.CRITICAL, "only other words")
    state.deregister("a")
    assert heard == [("c", Status.PASSING), ("c", Status.CRITICAL), ("c", None)]


def test_the_number_of_services_is_bounded() -> None:
    state = a_state()
    for number in range(state_module.MAX_SERVICES - 1):  # the registry itself is one
        state.register(service(str(number)), (), replace_checks=False)
    with pytest.raises(RefusedError, match="use Consul"):
        state.register(service("more"), (), replace_checks=False)
    state.register(service("1", port=2), (), replace_checks=False)


def test_what_is_remembered_of_services_that_are_gone_is_bounded_and_no_index_goes_back() -> None:
    state = a_state()
    state.register(service("first", "first"), (), replace_checks=False)
    state.deregister("first")
    index = state.service_index("first")
    for number in range(state_module.MAX_REMEMBERED_NAMES + 2):
        state.register(service("s", f"name-{number}"), (), replace_checks=False)
        state.deregister("s")
    assert state.service_index("first") >= index
    assert len(state._gone_index) == state_module.MAX_REMEMBERED_NAMES


def test_the_output_of_a_check_is_bounded() -> None:
    state = a_state()
    state.register(service("a"), (check("c"),), replace_checks=False)
    state.set_status("c", Status.WARNING, "x" * 100_000)
    assert len(state.checks["c"].output) == state_module.MAX_OUTPUT_CHARS


def test_removing_what_is_not_there_is_told() -> None:
    state = a_state()
    assert not state.deregister("nobody")
    assert not state.remove_check("nothing")
    with pytest.raises(RefusedError):
        state.set_maintenance("nobody", enabled=True, reason="")
