from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.discovery.names import MAX_CHARS, changes, name_skills
from agent_core.domain.events import NameClashed, NameFreed
from skillmesh.conventions import SERVICE_NAME, SKILL_NAME


def test_a_name_that_one_service_offers_is_used_as_it_is() -> None:
    naming = name_skills({"calc": ["add"], "clock": ["now"]})
    assert naming.names == {("calc", "add"): "add", ("clock", "now"): "now"}
    assert naming.clashes == {}


def test_a_name_of_two_is_withdrawn_and_both_are_qualified() -> None:
    naming = name_skills({"b": ["run"], "a": ["run", "walk"]})
    assert naming.names == {("a", "run"): "a__run", ("b", "run"): "b__run", ("a", "walk"): "walk"}
    assert naming.clashes == {"run": ("a", "b")}


def test_a_name_too_long_is_shortened_by_a_hash_and_stays_distinct() -> None:
    long = "x" * 64
    naming = name_skills({"a": [long], "b": [long], "a" * 63: [long]})
    assert len(set(naming.names.values())) == 3
    assert all(len(name) == MAX_CHARS for name in naming.names.values())


def test_a_plain_name_spelled_like_a_qualified_one_gives_way() -> None:
    naming = name_skills({"a": ["run"], "b": ["run"], "c": ["a__run"]})
    assert naming.names[("a", "run")] == "a__run"
    assert naming.names[("c", "a__run")] == "c__a__run"
    assert naming.clashes["a__run"] == ("a", "c")


def test_clashes_are_told_when_they_come_change_and_go() -> None:
    alone = name_skills({"a": ["run"]})
    two = name_skills({"a": ["run"], "b": ["run"]})
    three = name_skills({"a": ["run"], "b": ["run"], "c": ["run"]})
    none = name_skills({})
    assert changes(alone, two) == (NameClashed(name="run", services=("a", "b")),)
    assert changes(two, two) == ()
    assert changes(two, three) == (NameClashed(name="run", services=("a", "b", "c")),)
    assert changes(three, alone) == (NameFreed(name="run", service="a"),)
    assert changes(two, none) == ()


skills = st.from_regex(SKILL_NAME, fullmatch=True) | st.sampled_from(["run", "a__run", "b__run", "_run", "a__a__run"])
services = st.from_regex(SERVICE_NAME, fullmatch=True).filter(str.isascii) | st.sampled_from(["a", "b", "a" * 63])


@settings(max_examples=25)
@given(st.dictionaries(services, st.lists(skills, max_size=6), max_size=6))
def test_names_are_unique_valid_and_the_same_in_any_order(offers: dict[str, list[str]]) -> None:
    naming = name_skills(offers)
    assert set(naming.names) == {(service, skill) for service, names in offers.items() for skill in names}
    assert len(set(naming.names.values())) == len(naming.names)
    assert all(SKILL_NAME.fullmatch(name) for name in naming.names.values())
    again = name_skills({service: reversed(names) for service, names in reversed(list(offers.items()))})
    assert again == naming
    plain = {skill for (_service, skill), name in naming.names.items() if skill == name}
    assert not plain & naming.clashes.keys()
