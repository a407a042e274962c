"""Results kept in memory: bounded in entries and in bytes, expired by monotonic time."""

import time
from typing import Final

from cachetools import TLRUCache

from agent_core.domain.call import BlobPart, JsonPart, LinkPart, SkillResult, TextPart
from agent_core.domain.ports import Clock

MAX_ENTRIES: Final = 4_096
MAX_BYTES: Final = 64 * 1024 * 1024
_OVERHEAD_BYTES: Final = 512  # an entry's key and objects, roughly


class _Entry:
    __slots__ = ("result", "size", "ttl")

    def __init__(self, result: SkillResult, ttl: float) -> None:
        self.result = result
        self.ttl = ttl
        self.size = _OVERHEAD_BYTES + len(result.structured) + sum(_part_size(part) for part in result.parts)


class MemoryCache:
    """Implements ports.ResultCache; the least recently used goes first, and what is larger than it all is not kept."""

    def __init__(
        self, *, max_entries: int = MAX_ENTRIES, max_bytes: int = MAX_BYTES, clock: Clock = time.monotonic
    ) -> None:
        self._max_entries = max_entries
        self._entries: TLRUCache[bytes, _Entry] = TLRUCache(
            maxsize=max_bytes, ttu=_expiry, timer=clock, getsizeof=lambda entry: entry.size
        )

    def get(self, key: bytes) -> SkillResult | None:
        entry = self._entries.get(key)
        return entry.result if entry is not None else None

    def put(self, key: bytes, result: SkillResult, ttl: float) -> None:
        entry = _Entry(result, ttl)
        if ttl <= 0 or entry.size > self._entries.maxsize:
            return
        while len(self._entries) >= self._max_entries and key not in self._entries:
            self._entries.popitem()
        self._entries[key] = entry


def _expiry(_key: bytes, entry: _Entry, now: float) -> float:
    return now + entry.ttl


def _part_size(part: TextPart | JsonPart | BlobPart | LinkPart) -> int:
    match part:
        case TextPart(text):
            return 4 * len(text)
        case LinkPart(uri, name, mime_type):
            return 4 * (len(uri) + len(name) + len(mime_type))
        case _:
            return len(part.data)
