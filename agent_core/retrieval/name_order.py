"""The plainest shortlist: every usable skill, in name order."""

from collections.abc import Callable
from itertools import islice
from typing import Final

from agent_core.domain.call import Principal
from agent_core.domain.ports import Shortlist
from agent_core.domain.skill import Catalogue, Skill

LIMIT: Final = 128  # what OpenAI-compatible endpoints accept as tools

Visible = Callable[[Skill, Principal], bool]


class NameOrder:
    """Implements ports.Shortlister: skills that the principal may see and that a live instance can serve now."""

    def __init__(self, visible: Visible, *, limit: int = LIMIT) -> None:
        self._visible = visible
        self._limit = limit

    def shortlist(self, question: str, catalogue: Catalogue, principal: Principal) -> Shortlist:
        usable = (
            skill
            for skill in catalogue.skills.values()
            if skill.instances and not skill.unmet and self._visible(skill, principal)
        )
        offered = tuple(islice(usable, self._limit))
        left_out = sum(1 for _ in usable)
        if not left_out:
            return Shortlist(offered)
        note = (
            f"{left_out} of {len(offered) + left_out} skills were left out: a model is offered {self._limit} at most."
        )
        return Shortlist(offered, (note,))
