from collections.abc import Mapping

from agent_core.discovery.assemble import Content, assemble
from agent_core.discovery.offers import ServiceOffer, offer_of
from agent_core.domain.ports import Description
from agent_core.domain.skill import Descriptor, Instance, Problem
from tests.support.descriptions import descriptor


def instances(*names: str) -> list[Instance]:
    return [Instance(name, "s", f"ipv4:127.0.0.1:{port}") for port, name in enumerate(names, 7000)]


def offer(said: Mapping[str, Description | tuple[Descriptor, ...] | None], *problems: str) -> ServiceOffer:
    described = {
        name: what if isinstance(what, Description) or what is None else Description(what)
        for name, what in said.items()
    }
    return offer_of("s", instances(*said), lambda instance: described[instance.id], problems)


def served_by(one: ServiceOffer, skill: str) -> list[str]:
    return [instance.id for instance in one.skills[skill].instances]


def test_in_a_rolling_deploy_the_highest_version_is_offered_by_those_that_serve_it() -> None:
    old, new = descriptor("add", "1.9.0"), descriptor("add", "1.10.0")
    one = offer({"a": (old,), "b": (new,), "c": (old,), "d": (new,)})
    assert one.skills["add"].descriptor is new
    assert served_by(one, "add") == ["b", "d"]
    assert [instance.id for instance in one.instances] == ["a", "b", "c", "d"]


def test_one_version_in_two_shapes_is_settled_by_how_many_serve_it() -> None:
    x, y = descriptor("add", fingerprint="x"), descriptor("add", fingerprint="y")
    assert served_by(offer({"a": (x,), "b": (x,), "c": (y,)}), "add") == ["a", "b"]
    assert served_by(offer({"a": (x,), "c": (y,)}), "add") == ["c"]


def test_an_instance_with_unmet_prerequisites_does_not_serve() -> None:
    one = offer({"a": (descriptor("add", unmet=("env:X",)),), "b": (descriptor("add"),)})
    assert served_by(one, "add") == ["b"]
    assert one.skills["add"].unmet == ()
    assert one.skills["add"].descriptor.prerequisites == ()


def test_an_older_version_that_can_work_goes_before_a_newer_that_cannot() -> None:
    one = offer({"a": (descriptor("add", "2.0.0", unmet=("env:X",)),), "b": (descriptor("add", "1.0.0"),)})
    assert one.skills["add"].descriptor.version == "1.0.0"


def test_where_none_can_work_the_skill_says_what_is_missing() -> None:
    one = offer({"a": (descriptor("add", unmet=("env:X",)),), "b": (descriptor("add", unmet=("env:Y",)),)})
    assert one.skills["add"].instances == ()
    assert [unmet.name for unmet in one.skills["add"].unmet] == ["env:X"]


def test_an_instance_not_described_yet_is_there_and_serves_nothing() -> None:
    one = offer({"a": (descriptor("add"),), "b": None})
    assert served_by(one, "add") == ["a"]
    assert len(one.instances) == 2


def test_problems_are_told_once_each_and_bounded() -> None:
    one = offer({"a": Description((), ("bad",)), "b": Description((), ("bad",))}, "worse")
    assert [problem.sentence for problem in one.problems] == ["worse", "bad"]
    many = offer({"a": Description((), tuple(f"p{i}" for i in range(100)))})
    assert len(many.problems) == 17
    assert many.problems[-1].sentence == "84 more problems are not shown."


def test_the_catalogue_is_in_name_order_and_knows_each_services_instances() -> None:
    def of(service: str, *skills: str) -> ServiceOffer:
        one = Instance(f"{service}-1", service, "ipv4:127.0.0.1:1")
        return offer_of(service, [one], lambda _i: Description(tuple(descriptor(s) for s in skills)))

    empty = offer_of("idle", [], lambda _i: None, ["it is idle"])
    content = assemble([of("b", "zoom", "run"), of("a", "run", "walk"), empty], (Problem("", "odd"),))
    assert list(content.skills) == ["a__run", "b__run", "walk", "zoom"]
    assert content.skills["a__run"].name == "a__run"
    assert content.skills["a__run"].descriptor.name == "run"
    assert list(content.instances) == ["a", "b"]
    assert [problem.sentence for problem in content.problems] == ["odd", "it is idle"]
    assert content.same_as(assemble([empty, of("a", "run", "walk"), of("b", "zoom", "run")], (Problem("", "odd"),)))
    assert not content.same_as(Content())
