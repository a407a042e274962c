from dataclasses import replace

from agent_core.domain.call import Principal
from agent_core.domain.skill import Prerequisite, Skill
from agent_core.retrieval.name_order import NameOrder
from tests.support.call_path_values import catalogue_of, skill


def _visible(one: Skill, principal: Principal) -> bool:
    return one.name != "secret" or principal.subject == "root"


def test_usable_skills_are_offered_in_name_order() -> None:
    catalogue = catalogue_of(skill("units"), skill("clock"), skill("secret"))
    shortlist = NameOrder(_visible).shortlist("what time is it", catalogue, Principal())
    assert [one.name for one in shortlist.skills] == ["clock", "units"]
    assert not shortlist.notes
    for_root = NameOrder(_visible).shortlist("", catalogue, Principal("root"))
    assert [one.name for one in for_root.skills] == ["clock", "secret", "units"]


def test_a_skill_without_a_live_instance_or_with_an_unmet_prerequisite_is_left_out() -> None:
    unmet = replace(skill("logs"), unmet=(Prerequisite("env:LOGS", met=False, reason="LOGS is not set"),))
    catalogue = catalogue_of(skill("clock"), skill("gone", instances=()), unmet)
    assert [one.name for one in NameOrder(_visible).shortlist("", catalogue, Principal()).skills] == ["clock"]


def test_beyond_the_limit_a_note_says_how_many_were_left_out() -> None:
    catalogue = catalogue_of(*(skill(f"s{number:03}") for number in range(131)))
    shortlist = NameOrder(_visible).shortlist("", catalogue, Principal())
    assert [one.name for one in shortlist.skills] == [f"s{number:03}" for number in range(128)]
    assert shortlist.notes == ("3 of 131 skills were left out: a model is offered 128 at most.",)
