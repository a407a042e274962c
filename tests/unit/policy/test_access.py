import pytest

from agent_core.domain.call import Principal
from agent_core.domain.ports import Verdict
from agent_core.domain.skill import AccessLevel
from agent_core.policy.access import AccessPolicy
from tests.support.call_path_values import call_of, context, skill

OBSERVER, OPERATOR, ADMIN = AccessLevel.OBSERVER, AccessLevel.OPERATOR, AccessLevel.ADMIN


@pytest.mark.parametrize(
    ("allow", "level", "verdict"),
    [
        (OBSERVER, OBSERVER, Verdict.ALLOW),
        (OBSERVER, OPERATOR, Verdict.APPROVAL),
        (OBSERVER, ADMIN, Verdict.APPROVAL),
        (OPERATOR, OPERATOR, Verdict.ALLOW),
        (OPERATOR, ADMIN, Verdict.APPROVAL),
        (ADMIN, ADMIN, Verdict.ALLOW),
    ],
)
def test_skills_up_to_the_allowed_level_run(allow: AccessLevel, level: AccessLevel, verdict: Verdict) -> None:
    decision = AccessPolicy(allow).decide(call_of(skill(access=level)), context())
    assert decision.verdict is verdict


def test_a_refusal_says_which_setting_would_allow_it() -> None:
    decision = AccessPolicy().decide(call_of(skill(access=ADMIN)), context())
    assert "set SKILLMESH_ALLOW=admin" in decision.reason


def test_everybody_sees_every_skill() -> None:
    assert AccessPolicy().visible(skill(access=ADMIN), Principal())
