"""Picks the instance of a call: of two taken at random, the one with fewer calls in flight for its weight."""

import random
from collections.abc import Callable, Sequence
from typing import Final

from agent_core.domain.errors import CallError
from agent_core.domain.ports import Outcome, Pick
from agent_core.domain.skill import Instance, Skill
from agent_core.resilience.ejector import Ejector, Standing, Trial
from skillmesh.errors import ErrorKind

Reachable = Callable[[Instance], bool]
"""False where the connection to the instance is known to be down; never waits."""


def _assume_reachable(_instance: Instance) -> bool:
    return True


class TwoChoices:
    """Implements ports.Balancer. State is the number of calls in flight by target, and the ejector's."""

    def __init__(
        self, ejector: Ejector, *, reachable: Reachable = _assume_reachable, rng: random.Random | None = None
    ) -> None:
        self._ejector = ejector
        self._reachable = reachable
        self._random = (rng or random.Random()).random  # noqa: S311  # spreads load, keeps no secret
        self._in_flight: dict[str, int] = {}

    def in_flight(self, instance: Instance) -> int:
        return self._in_flight.get(instance.target, 0)

    def pick(self, skill: Skill, avoid: frozenset[str]) -> Pick:
        if not skill.instances:
            raise _none(skill, "has no healthy instance")
        untried: list[Instance] = []
        tried: list[Instance] = []
        for instance in skill.instances:
            standing = self._ejector.standing(instance)
            if standing is Standing.IN:
                (tried if instance.id in avoid else untried).append(instance)
            elif standing is Standing.DUE and instance.id not in avoid:
                return self._try_out(instance, "probe")
        # One that failed this call once is a better bet than one that is out for failing call after call.
        if untried or tried:
            return self._choose(untried or tried)
        return self._least_bad(skill)

    def _choose(self, candidates: Sequence[Instance]) -> Pick:
        if len(candidates) == 1:
            return self._take(candidates[0], "only one")
        first, second = self._two_of(candidates)
        first_up, second_up = self._reachable(first), self._reachable(second)
        if first_up != second_up:
            return self._take(first if first_up else second, "the other is not connected")
        if not first_up:
            up = [one for one in candidates if self._reachable(one)]
            return self._take(up[0], "the only one connected") if up else self._take(first, "none is connected")
        mine, theirs = self.in_flight(first), self.in_flight(second)
        if theirs * first.weight < mine * second.weight:
            return self._take(second, f"least of two ({theirs}<{mine})")
        return self._take(first, f"least of two ({mine}<{theirs})" if mine < theirs else f"of two ({mine}, {theirs})")

    def _two_of(self, candidates: Sequence[Instance]) -> tuple[Instance, Instance]:
        """Two different ones; the first, which an equal load favours, by weight."""
        first = self._by_weight(candidates)
        second = int(self._random() * (len(candidates) - 1))
        return candidates[first], candidates[second + (second >= first)]

    def _by_weight(self, candidates: Sequence[Instance]) -> int:
        left = self._random() * sum(one.weight for one in candidates)
        for index, one in enumerate(candidates):
            left -= one.weight
            if left < 0:
                return index
        return len(candidates) - 1

    def _least_bad(self, skill: Skill) -> Pick:
        instance = self._ejector.least_bad(skill.instances)
        if instance is None:
            raise _none(skill, "has only instances that keep failing, each of which is being tried by another call")
        return self._try_out(instance, "least bad")

    def _try_out(self, instance: Instance, reason: str) -> Pick:
        return self._take(instance, reason, self._ejector.try_out(instance))

    def _take(self, instance: Instance, reason: str, trial: Trial | None = None) -> Pick:
        self._in_flight[instance.target] = self._in_flight.get(instance.target, 0) + 1
        return Pick(instance, reason, _Done(self, instance, trial))

    def release(self, instance: Instance, outcome: Outcome, trial: Trial | None) -> None:
        """What a pick's `done` comes to."""
        left = self._in_flight[instance.target] - 1
        if left:
            self._in_flight[instance.target] = left
        else:
            del self._in_flight[instance.target]
        self._ejector.report(instance, outcome, trial)


class _Done:
    """One pick's way back; a second report is ignored."""

    __slots__ = ("_balancer", "_instance", "_reported", "_trial")

    def __init__(self, balancer: TwoChoices, instance: Instance, trial: Trial | None) -> None:
        self._balancer = balancer
        self._instance = instance
        self._trial = trial
        self._reported = False

    def __call__(self, outcome: Outcome) -> None:
        if not self._reported:
            self._reported = True
            self._balancer.release(self._instance, outcome, self._trial)


_TRY_LATER: Final = "Try again later or answer without it."


def _none(skill: Skill, why: str) -> CallError:
    sentence = f"{skill.label} {why}."
    return CallError(ErrorKind.NO_INSTANCE, sentence, for_model=f"{sentence} {_TRY_LATER}")
