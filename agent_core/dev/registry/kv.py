"""The key-value store: check-and-set, locks held by sessions, and an index for each key and prefix. Pure."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from agent_core.dev.registry.ledger import Ledger
from agent_core.dev.registry.refusals import RefusedError

MAX_VALUE_BYTES: Final = 512 * 1024
MAX_KEY_CHARS: Final = 512
MAX_KEYS: Final = 10_000
MAX_TOTAL_BYTES: Final = 64 * 1024 * 1024
MAX_TOMBSTONES: Final = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One key's value; `session` holds its lock, empty where none does."""

    key: str
    value: bytes
    flags: int = 0
    session: str = ""
    lock_index: int = 0
    create_index: int
    modify_index: int


class KeyValues:
    """All keys. Raft's index of a key is its last change; of a missing one its deletion, 1 where it never was."""

    def __init__(self, ledger: Ledger, clock: Callable[[], float]) -> None:
        self._ledger = ledger
        self._clock = clock
        self._entries: dict[str, Entry] = {}
        self._bytes = 0
        self._deleted: dict[str, int] = {}
        self._forgotten_index = 1
        self._delays: dict[str, float] = {}

    def get(self, key: str) -> Entry | None:
        return self._entries.get(key)

    def under(self, prefix: str) -> list[Entry]:
        """Entries whose key starts with the prefix, in key order."""
        return [self._entries[key] for key in sorted(self._entries) if key.startswith(prefix)]

    def index_of(self, key: str) -> int:
        entry = self._entries.get(key)
        return entry.modify_index if entry else self._deleted.get(key, self._forgotten_index)

    def index_under(self, prefix: str) -> int:
        changed = (entry.modify_index for key, entry in self._entries.items() if key.startswith(prefix))
        deleted = (index for key, index in self._deleted.items() if key.startswith(prefix))
        return max(max(changed, default=1), max(deleted, default=1), self._forgotten_index)

    def put(self, key: str, value: bytes, flags: int) -> None:
        known = self._entries.get(key)
        self._write(key, value, flags, known.session if known else "", known.lock_index if known else 0)

    def put_if(self, key: str, value: bytes, flags: int, index: int) -> bool:
        """Write where the key's last change is `index`; 0: where there is no such key."""
        known = self._entries.get(key)
        if (known.modify_index if known else 0) != index:
            return False
        self.put(key, value, flags)
        return True

    def acquire(self, key: str, value: bytes, flags: int, session: str) -> bool:
        """Write and take the lock, where it is free (and past its delay) or this session's already."""
        known = self._entries.get(key)
        if known is not None and known.session not in ("", session):
            return False
        held = known is not None and known.session == session
        if not held and self._delays.get(key, 0.0) > self._clock():
            return False
        self._delays.pop(key, None)
        lock_index = known.lock_index if known else 0
        self._write(key, value, flags, session, lock_index if held else lock_index + 1)
        return True

    def release(self, key: str, value: bytes, flags: int, session: str) -> bool:
        """Write and give the lock back, where this session holds it."""
        known = self._entries.get(key)
        if known is None or known.session != session:
            return False
        self._write(key, value, flags, "", known.lock_index)
        return True

    def delete(self, key: str) -> None:
        if key in self._entries:
            self._remove(key, self._ledger.next())

    def delete_if(self, key: str, index: int) -> bool:
        """Delete where the key's last change is `index`; 0 never deletes. A key that is not there is deleted."""
        known = self._entries.get(key)
        if index == 0 or (known is not None and known.modify_index != index):
            return False
        self.delete(key)
        return True

    def delete_under(self, prefix: str) -> None:
        entries = self.under(prefix)
        index = self._ledger.next() if entries else 0
        for entry in entries:
            self._remove(entry.key, index)

    def end_session(self, session: str, *, delete: bool, delay: float) -> None:
        """Free, or delete, what the session has locked; nobody else may lock it for `delay` seconds."""
        held = [entry for entry in self._entries.values() if entry.session == session]
        index = self._ledger.next() if held else 0
        now = self._clock()
        self._delays = {key: until for key, until in self._delays.items() if until > now}
        for entry in held:
            if delay > 0:
                self._delays[entry.key] = now + delay
            if delete:
                self._remove(entry.key, index)
            else:
                self._entries[entry.key] = replace(entry, session="", modify_index=index)

    def _write(self, key: str, value: bytes, flags: int, session: str, lock_index: int) -> None:
        known = self._entries.get(key)
        total = self._bytes + len(value) - (len(known.value) if known else 0)
        if total > MAX_TOTAL_BYTES or (known is None and len(self._entries) >= MAX_KEYS):
            raise RefusedError(
                500, f"The development registry holds {MAX_KEYS} keys and {MAX_TOTAL_BYTES} bytes; use Consul."
            )
        wanted = Entry(
            key=key,
            value=value,
            flags=flags,
            session=session,
            lock_index=lock_index,
            create_index=known.create_index if known else 0,
            modify_index=known.modify_index if known else 0,
        )
        if wanted == known:  # as Consul: writing what is there changes no index
            return
        index = self._ledger.next()
        self._entries[key] = replace(wanted, create_index=wanted.create_index or index, modify_index=index)
        self._bytes = total
        self._deleted.pop(key, None)

    def _remove(self, key: str, index: int) -> None:
        self._bytes -= len(self._entries.pop(key).value)
        self._deleted[key] = index
        if len(self._deleted) > MAX_TOMBSTONES:
            self._forgotten_index = max(self._forgotten_index, self._deleted.pop(next(iter(self._deleted))))
