"""Takes instances out that fail call after call, and lets them back by one probe at a time."""

import time
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from enum import StrEnum
from typing import Final

from agent_core.domain.events import InstanceEjected, InstanceRestored
from agent_core.domain.ports import Clock, Emit, Outcome
from agent_core.domain.skill import Instance
from agent_core.telemetry import instruments
from skillmesh.conventions import ATTR_INSTANCE, ATTR_SERVICE

FAILURES: Final = 5
FIRST_EJECTION_SECONDS: Final = 5.0
MAX_EJECTION_SECONDS: Final = 60.0
PROBE_SECONDS: Final = 10.0


class Standing(StrEnum):
    """What the ejector says of an instance now. DUE: one probe may go to it. BUSY: out, and being tried."""

    IN = "in"
    OUT = "out"
    DUE = "due"
    BUSY = "busy"


class Trial:
    """Leave for one call to try an instance that is out."""

    __slots__ = ("ejection",)

    def __init__(self, ejection: object) -> None:
        self.ejection = ejection


class Ejector:
    """Standing of instances by target; knows only those that have failed, so it holds nothing for a healthy mesh.

    By target, as an id is unique to a Consul agent only, and may come back on another port as another process.

    It never refuses by itself: where every instance is out, the picker takes `least_bad`, one call at a time.
    """

    def __init__(
        self,
        emit: Emit,
        *,
        failures: int = FAILURES,
        probe_seconds: float = PROBE_SECONDS,
        clock: Clock = time.monotonic,
    ) -> None:
        self._emit = emit
        self._failures = failures
        self._probe_seconds = probe_seconds
        self._clock = clock
        self._records: dict[str, _Record] = {}

    def standing(self, instance: Instance) -> Standing:
        record = self._records.get(instance.target)
        if record is None or not record.seconds:
            return Standing.IN
        now = self._clock()
        if record.trial is not None and now < record.trial_ends:
            return Standing.BUSY
        return Standing.DUE if now >= record.out_until else Standing.OUT

    def least_bad(self, instances: Iterable[Instance]) -> Instance | None:
        """Among instances that are all out: the one that is due back first; None while each is being tried."""
        candidates = [one for one in instances if self.standing(one) is not Standing.BUSY]
        return min(candidates, key=lambda one: self._records[one.target].out_until, default=None)

    def try_out(self, instance: Instance) -> Trial:
        """Take the one trial of an instance that is out; hand the token to `report`.

        A trial that is not back in its time makes way for the next, and counts whenever it comes back.
        """
        record = self._records[instance.target]
        record.trial = Trial(record.ejection)
        record.trial_ends = self._clock() + self._probe_seconds
        return record.trial

    def report(self, instance: Instance, outcome: Outcome, trial: Trial | None = None) -> None:
        record = self._records.get(instance.target)
        if record is None:
            if outcome is not Outcome.FAILURE:
                return
            record = self._records[instance.target] = _Record()
        if record.seconds:
            self._report_trial(instance, record, outcome, trial)
        elif outcome is Outcome.SUCCESS:
            del self._records[instance.target]
        elif outcome is Outcome.FAILURE:
            record.failures += 1
            if record.failures >= self._failures:
                self._eject(instance, record, FIRST_EJECTION_SECONDS)

    def forgive(self, instance: Instance) -> None:
        """The registry has just found it healthy again: its past counts no more."""
        record = self._records.pop(instance.target, None)
        if record is not None and record.seconds:
            self._emit(InstanceRestored(instance=instance.id, service=instance.service))

    def retain(self, targets: AbstractSet[str]) -> None:
        """Forget every instance whose target is not among these."""
        for gone in self._records.keys() - targets:
            del self._records[gone]

    def _report_trial(self, instance: Instance, record: "_Record", outcome: Outcome, trial: Trial | None) -> None:
        # Calls that were under way when it was taken out say nothing new; only its trial counts.
        if trial is None or trial.ejection is not record.ejection:
            return
        if trial is record.trial:
            record.trial = None
        if outcome is Outcome.SUCCESS:
            self.forgive(instance)
        elif outcome is Outcome.FAILURE:
            self._eject(instance, record, min(record.seconds * 2, MAX_EJECTION_SECONDS))

    def _eject(self, instance: Instance, record: "_Record", seconds: float) -> None:
        record.seconds = seconds
        record.ejection = object()
        record.trial = None
        record.out_until = self._clock() + seconds
        instruments.ejections.add(1, {ATTR_INSTANCE: instance.id, ATTR_SERVICE: instance.service})
        self._emit(InstanceEjected(instance=instance.id, service=instance.service, seconds=seconds))


class _Record:
    """`seconds` is how long it is out for, 0 while it is in; `ejection` is a token of each time it was taken out."""

    __slots__ = ("ejection", "failures", "out_until", "seconds", "trial", "trial_ends")

    def __init__(self) -> None:
        self.failures = 0
        self.seconds = 0.0
        self.out_until = 0.0
        self.ejection = object()
        self.trial: Trial | None = None
        self.trial_ends = 0.0
