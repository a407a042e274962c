"""Access by level: what may run without anybody being asked."""

from typing import Final

from agent_core.domain.call import CallContext, Principal, SkillCall
from agent_core.domain.ports import Decision, Verdict
from agent_core.domain.skill import AccessLevel, Skill

_STRICTNESS: Final = {AccessLevel.OBSERVER: 0, AccessLevel.OPERATOR: 1, AccessLevel.ADMIN: 2}


class AccessPolicy:
    """Implements ports.Policy: skills up to the level `allow` run, those above it need an approval.

    Everybody may see every skill, so that a model can say what it would need leave for.
    """

    def __init__(self, allow: AccessLevel = AccessLevel.OBSERVER) -> None:
        self._allow = allow

    def visible(self, skill: Skill, principal: Principal) -> bool:
        return True

    def decide(self, call: SkillCall, context: CallContext) -> Decision:
        level = call.skill.descriptor.access
        if _STRICTNESS[level] <= _STRICTNESS[self._allow]:
            return Decision(Verdict.ALLOW, f"{level} is within {self._allow}")
        return Decision(
            Verdict.APPROVAL,
            f"{call.skill.label} has access level {level}, and only {self._allow} runs without approval; "
            f"to allow it, set SKILLMESH_ALLOW={level}",
        )
