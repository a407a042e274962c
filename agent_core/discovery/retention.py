"""What is kept although the registry no longer names it.

While the registry answers without a break, what it does not name is gone. After a break (it was away, or its index
went back) an answer may lack entries only because the registry lost its data: those stay in doubt for a while, and
their owners register again by themselves. Once named again, an entry is out of doubt.
"""

from collections.abc import Iterable, Mapping
from typing import Generic, TypeVar

V = TypeVar("V")


class Retention(Generic[V]):
    """Entries by key. Times are monotonic seconds."""

    def __init__(self, keep: float) -> None:
        self._keep = keep
        self._named: dict[str, V] = {}
        self._doubted: dict[str, V] = {}
        self._until = 0.0

    @property
    def entries(self) -> dict[str, V]:
        """What is named and what is in doubt."""
        return {**self._doubted, **self._named}

    @property
    def deadline(self) -> float | None:
        """When the doubt ends; None where there is none."""
        return self._until if self._doubted else None

    def answer(self, named: Mapping[str, V], *, fresh: bool, now: float) -> None:
        """Take an answer; `fresh` where it follows a break."""
        if fresh:
            self._doubted = self.entries
            self._until = now + self._keep
        self._named = dict(named)
        self.settle(named)

    def renew(self, now: float) -> None:
        """The registry is back: what is in doubt has its whole time from here."""
        self._until = now + self._keep

    def settle(self, keys: Iterable[str]) -> None:
        """These are doubted no longer: they are named, or known to be gone."""
        for key in keys:
            self._doubted.pop(key, None)

    def expire(self, now: float) -> bool:
        """Drop what has been in doubt for too long; returns whether something went."""
        if not self._doubted or now < self._until:
            return False
        self._doubted = {}
        return True
