"""One circuit breaker per skill: pybreaker's states behind a two-phase adapter that fits asyncio.

pybreaker's own `call` never sees a coroutine fail, counts a cancellation, lets every waiting call through when half
open and reads the wall clock. Here it keeps the state, the count and the listeners; when to admit, what counts and
when to try again is decided in `admit` and `report`, on monotonic time.
"""

import time
from collections.abc import Set as AbstractSet
from typing import Final

import pybreaker

from agent_core.domain.errors import TryLaterError
from agent_core.domain.events import BreakerChanged
from agent_core.domain.ports import Clock, Emit, Outcome, Permit
from agent_core.domain.skill import Skill
from agent_core.telemetry import instruments
from skillmesh.conventions import ATTR_BREAKER, ATTR_SERVICE, ATTR_SKILL
from skillmesh.errors import ErrorKind

FAIL_MAX: Final = 5
RESET_SECONDS: Final = 10.0
PROBE_SECONDS: Final = 10.0


class SkillBreakers:
    """Breakers by `service.skill`, whatever the skill's version; implements ports.Breakers."""

    def __init__(
        self,
        emit: Emit,
        *,
        fail_max: int = FAIL_MAX,
        reset_seconds: float = RESET_SECONDS,
        probe_seconds: float = PROBE_SECONDS,
        clock: Clock = time.monotonic,
    ) -> None:
        self._emit = emit
        self._fail_max = fail_max
        self.reset_seconds = reset_seconds
        self.probe_seconds = probe_seconds
        self.clock = clock
        self._breakers: dict[str, _Breaker] = {}

    def admit(self, skill: Skill) -> Permit:
        return self._of(skill.label).admit()

    def state(self, skill: Skill) -> str:
        breaker = self._breakers.get(skill.label)
        return breaker.state if breaker else pybreaker.STATE_CLOSED

    def retry_now(self, label: str) -> None:
        """Another instance serves the skill from now on: an open breaker may probe without further wait."""
        breaker = self._breakers.get(label)
        if breaker is not None:
            breaker.retry_at = min(breaker.retry_at, self.clock())

    def retain(self, labels: AbstractSet[str]) -> None:
        """Forget every skill whose label is not among these."""
        for gone in self._breakers.keys() - labels:
            del self._breakers[gone]

    def _of(self, label: str) -> "_Breaker":
        breaker = self._breakers.get(label)
        if breaker is None:
            storage = pybreaker.CircuitMemoryStorage(pybreaker.STATE_CLOSED)
            machine = pybreaker.CircuitBreaker(
                fail_max=self._fail_max, name=label, state_storage=storage, listeners=[_Announcer(label, self._emit)]
            )
            breaker = _Breaker(machine, storage, self)
            self._breakers[label] = breaker
        return breaker


class _Announcer(pybreaker.CircuitBreakerListener):
    """Makes an event and a metric of every change of state."""

    def __init__(self, label: str, emit: Emit) -> None:
        self._label = label
        self._emit = emit

    def state_change(
        self,
        cb: pybreaker.CircuitBreaker,
        old_state: pybreaker.CircuitBreakerState | None,
        new_state: pybreaker.CircuitBreakerState,
    ) -> None:
        old = old_state.name if old_state else pybreaker.STATE_CLOSED
        service, _, name = self._label.partition(".")
        instruments.breaker_transitions.add(1, {ATTR_SERVICE: service, ATTR_SKILL: name, ATTR_BREAKER: new_state.name})
        self._emit(BreakerChanged(skill=self._label, old=old, new=new_state.name))


class _Breaker:
    """Times in monotonic seconds. `_round` changes with every change of state: a report from before counts no more."""

    __slots__ = ("_machine", "_owner", "_probe", "_probe_ends", "_round", "_storage", "retry_at")

    def __init__(
        self, machine: pybreaker.CircuitBreaker, storage: pybreaker.CircuitMemoryStorage, owner: SkillBreakers
    ) -> None:
        self._machine = machine
        self._storage = storage
        self._owner = owner
        self._round = 0
        self._probe: _Permit | None = None
        self._probe_ends = 0.0
        self.retry_at = 0.0

    @property
    def state(self) -> str:
        state: str = self._storage.state
        return state

    def admit(self) -> "_Permit":
        state = self.state
        if state == pybreaker.STATE_CLOSED:
            return _Permit(self, state, self._round)
        now = self._owner.clock()
        if state == pybreaker.STATE_OPEN:
            if now < self.retry_at:
                raise self._refusal(self.retry_at - now)
            self._round += 1
            self._probe = None
            self._machine.half_open()
        if self._probe is not None and now < self._probe_ends:
            raise self._refusal(self._probe_ends - now)
        # A probe that is not back in its time gives its slot to the next; its report counts whenever it comes, or a
        # skill that takes longer than that could never close its breaker under load.
        self._probe = _Permit(self, pybreaker.STATE_HALF_OPEN, self._round)
        self._probe_ends = now + self._owner.probe_seconds
        return self._probe

    def report(self, permit: "_Permit", outcome: Outcome) -> None:
        if permit.round != self._round:
            return
        if self.state == pybreaker.STATE_HALF_OPEN:
            self._report_probe(permit, outcome)
        elif outcome is Outcome.FAILURE:
            # The storage counts alone: the call that trips the breaker keeps its own error.
            self._storage.increment_counter()
            if self._storage.counter >= self._machine.fail_max:
                self._open()
        elif outcome is Outcome.SUCCESS and self._storage.counter:
            self._storage.reset_counter()

    def _report_probe(self, permit: "_Permit", outcome: Outcome) -> None:
        if permit is self._probe:
            self._probe = None
        if outcome is Outcome.FAILURE:
            self._open()
        elif outcome is Outcome.SUCCESS:
            self._round += 1
            self._machine.close()

    def _open(self) -> None:
        self._round += 1
        self.retry_at = self._owner.clock() + self._owner.reset_seconds
        self._machine.open()

    def _refusal(self, wait: float) -> TryLaterError:
        label = self._machine.name
        return TryLaterError(
            ErrorKind.BREAKER_OPEN,
            f"{label} has failed repeatedly and is not called for now; it is tried again in {wait:.0f} s.",
            retry_after=wait,
            for_model=f"{label} is temporarily unavailable and was not called. Answer without it or try again later.",
        )


class _Permit:
    __slots__ = ("_breaker", "_reported", "round", "state")

    def __init__(self, breaker: _Breaker, state: str, current_round: int) -> None:
        self._breaker = breaker
        self._reported = False
        self.state = state
        self.round = current_round

    def report(self, outcome: Outcome) -> None:
        if not self._reported:
            self._reported = True
            self._breaker.report(self, outcome)
