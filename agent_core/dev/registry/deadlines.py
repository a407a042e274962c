"""Points in time by key: what is due, and when something is next."""

import heapq
from collections.abc import Callable
from typing import Generic, TypeVar

Key = TypeVar("Key")


def _nothing() -> None:
    pass


class Deadlines(Generic[Key]):
    """One deadline a key, in monotonic seconds. `on_earlier` is called when the next one may have moved forward."""

    def __init__(self) -> None:
        self._at: dict[Key, float] = {}
        self._heap: list[tuple[float, int, Key]] = []
        self._count = 0
        self.on_earlier: Callable[[], None] = _nothing

    def __contains__(self, key: Key) -> bool:
        return key in self._at

    def set(self, key: Key, at: float) -> None:
        self._at[key] = at
        self._count += 1  # keeps the heap from comparing keys
        heapq.heappush(self._heap, (at, self._count, key))
        if self._heap[0][1] == self._count:
            self.on_earlier()
        if len(self._heap) > 64 + 4 * len(self._at):
            self._compact()

    def discard(self, key: Key) -> None:
        self._at.pop(key, None)

    def next(self) -> float | None:
        """When something is next due; None: nothing is."""
        while self._heap:
            at, _, key = self._heap[0]
            if self._at.get(key) == at:
                return at
            heapq.heappop(self._heap)
        return None

    def due(self, now: float) -> list[Key]:
        """Take out and return what is due, earliest first."""
        keys: list[Key] = []
        while (at := self.next()) is not None and at <= now:
            key = heapq.heappop(self._heap)[2]
            del self._at[key]
            keys.append(key)
        return keys

    def _compact(self) -> None:
        self._heap = [entry for entry in self._heap if self._at.get(entry[2]) == entry[0]]
        heapq.heapify(self._heap)
