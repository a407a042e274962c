"""A bound on the extra load that retries make: a share of the first attempts, and a floor for quiet skills."""

import time
from collections.abc import Set as AbstractSet
from typing import Final

from agent_core.domain.ports import Clock

SHARE: Final = 0.2
FLOOR_PER_SECOND: Final = 10
WINDOW_SECONDS: Final = 10


class SlidingBudget:
    """RetryBudget over the last 10 s, in slots of one second; 20 % of first attempts plus 10 a second, per skill."""

    def __init__(self, *, share: float = SHARE, floor: float = FLOOR_PER_SECOND, clock: Clock = time.monotonic) -> None:
        self._share = share
        self._floor = floor * WINDOW_SECONDS
        self._clock = clock
        self._windows: dict[str, _Window] = {}

    def deposit(self, skill: str) -> None:
        window = self._windows.get(skill)
        if window is None:
            window = self._windows[skill] = _Window()
        window.slot(int(self._clock()))[1] += 1

    def withdraw(self, skill: str) -> bool:
        window = self._windows.setdefault(skill, _Window())
        now = int(self._clock())
        firsts, retries = window.sums(now)
        if retries + 1 > self._floor + self._share * firsts:
            return False
        window.slot(now)[2] += 1
        return True

    def retain(self, skills: AbstractSet[str]) -> None:
        """Forget every skill that is not among these."""
        for gone in self._windows.keys() - skills:
            del self._windows[gone]


class _Window:
    """A ring of slots `[second, first attempts, retries]`; a slot of another round counts as empty."""

    __slots__ = ("_slots",)

    def __init__(self) -> None:
        self._slots = [[-1, 0, 0] for _ in range(WINDOW_SECONDS)]

    def slot(self, second: int) -> list[int]:
        slot = self._slots[second % WINDOW_SECONDS]
        if slot[0] != second:
            slot[:] = (second, 0, 0)
        return slot

    def sums(self, now: int) -> tuple[int, int]:
        oldest = now - WINDOW_SECONDS
        live = [slot for slot in self._slots if oldest < slot[0] <= now]
        return sum(slot[1] for slot in live), sum(slot[2] for slot in live)
