from agent_core.discovery.instances import Reading
from agent_core.discovery.retention import Retention
from agent_core.discovery.view import MeshView, ServiceView
from agent_core.domain.skill import Instance


def test_without_a_break_what_is_not_named_is_gone() -> None:
    kept: Retention[int] = Retention(15)
    kept.answer({"a": 1, "b": 2}, fresh=True, now=0)
    kept.answer({"b": 2}, fresh=False, now=1)
    assert kept.entries == {"b": 2}
    assert kept.deadline is None


def test_after_a_break_what_is_not_named_stays_for_a_while() -> None:
    kept: Retention[int] = Retention(15)
    kept.answer({"a": 1, "b": 2}, fresh=True, now=0)
    kept.answer({}, fresh=True, now=100)
    assert kept.entries == {"a": 1, "b": 2}
    kept.answer({"b": 3}, fresh=False, now=101)
    assert kept.entries == {"a": 1, "b": 3}
    assert kept.deadline == 115
    assert not kept.expire(114)
    assert kept.expire(115)
    assert kept.entries == {"b": 3}
    assert not kept.expire(200)


def test_what_was_named_again_after_a_break_is_gone_at_once_when_it_goes() -> None:
    kept: Retention[int] = Retention(15)
    kept.answer({"a": 1}, fresh=True, now=0)
    kept.answer({"a": 1, "b": 2}, fresh=True, now=1)
    kept.answer({"b": 2}, fresh=False, now=2)
    assert kept.entries == {"b": 2}


def test_a_second_break_opens_the_doubt_anew() -> None:
    kept: Retention[int] = Retention(15)
    kept.answer({"a": 1}, fresh=True, now=0)
    kept.answer({}, fresh=True, now=10)
    kept.answer({}, fresh=True, now=300)
    assert kept.entries == {"a": 1}
    assert kept.deadline == 315


def instance(name: str, port: int = 1) -> Instance:
    return Instance(name, "s", f"ipv4:127.0.0.1:{port}")


def test_an_instance_known_to_fail_is_not_kept_after_a_break() -> None:
    view = ServiceView(15)
    view.hear("s", Reading({"a": instance("a"), "b": instance("b", 2)}), fresh=True, now=0)
    view.hear("s", Reading({}, failed=frozenset("a"), failing=2), fresh=True, now=1)
    assert [one.id for one in view.instances] == ["b"]
    assert view.deadline == 16


def test_a_process_back_under_a_new_id_is_not_counted_twice() -> None:
    view = ServiceView(15)
    view.hear("s", Reading({"a": instance("a")}), fresh=True, now=0)
    view.hear("s", Reading({"b": instance("b")}), fresh=True, now=1)
    assert [one.id for one in view.instances] == ["b"]


def test_a_service_whose_instances_all_fail_says_so() -> None:
    view = ServiceView(15)
    view.hear("s", Reading({}, failing=1), fresh=True, now=0)
    assert "only instance does not pass" in view.problems[0]
    view.hear("s", Reading({}, failing=3), fresh=False, now=0)
    assert "its 3 instances do not pass" in view.problems[0]
    view.hear("s", Reading({"a": instance("a")}, failing=3), fresh=False, now=0)
    assert view.problems == ()


def test_a_failure_that_may_pass_is_shown_from_its_second_time_on() -> None:
    view = ServiceView(15)
    view.fail("no answer", sure=False)
    assert view.answered
    assert list(view.problems) == []
    view.fail("no answer", sure=False)
    assert list(view.problems) == ["no answer"]
    view.hear("s", Reading({}), fresh=True, now=0)
    assert list(view.problems) == []
    view.fail("denied", sure=True)
    assert list(view.problems) == ["denied"]


def test_a_service_in_doubt_keeps_its_instances_until_the_doubt_ends() -> None:
    mesh = MeshView(15)
    assert mesh.hear({"s"}, fresh=True, now=0) == frozenset()
    mesh.services["s"].hear("s", Reading({"a": instance("a")}), fresh=True, now=0)
    assert mesh.hear((), fresh=True, now=50) == frozenset()
    mesh.services["s"].hear("s", Reading({}), fresh=True, now=50.5)
    assert [one.id for one in mesh.services["s"].instances] == ["a"]
    assert mesh.deadline == 65
    assert mesh.expire(65) == (frozenset({"s"}), frozenset())
    assert mesh.services == {}
    assert mesh.deadline is None


def test_a_service_that_leaves_without_a_break_is_gone_at_once() -> None:
    mesh = MeshView(15)
    mesh.hear({"s", "t"}, fresh=True, now=0)
    assert not mesh.answered
    assert mesh.hear({"t"}, fresh=False, now=1) == {"s"}
    assert set(mesh.services) == {"t"}
