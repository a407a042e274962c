"""Sessions: they hold locks, and end by being destroyed, by their TTL, or with a check that they name. Pure."""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from agent_core.dev.registry.deadlines import Deadlines
from agent_core.dev.registry.durations import read_duration
from agent_core.dev.registry.entries import Check, Status
from agent_core.dev.registry.kv import KeyValues
from agent_core.dev.registry.refusals import RefusedError
from agent_core.dev.registry.state import NODE_CHECK, State

MAX_SESSIONS: Final = 10_000
MIN_TTL_SECONDS: Final = 10.0
MAX_TTL_SECONDS: Final = 86_400.0
MAX_LOCK_DELAY_SECONDS: Final = 60.0
DEFAULT_LOCK_DELAY_SECONDS: Final = 15.0
_TTL_MULTIPLIER: Final = 2  # as Consul: a session lives for up to twice its TTL
_UUID_CHARS: Final = 36


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """`ttl` is the text it was made with, empty where it has none; `lock_delay` is in seconds."""

    id: str
    name: str
    ttl: str
    ttl_seconds: float
    delete: bool
    lock_delay: float
    checks: tuple[str, ...]
    index: int


class Sessions:
    """All sessions of the node."""

    def __init__(self, state: State, keys: KeyValues, clock: Callable[[], float]) -> None:
        self._state = state
        self._keys = keys
        self._clock = clock
        self._sessions: dict[str, Session] = {}
        self.index = state.ledger.index
        self.expiries: Deadlines[str] = Deadlines()
        state.watchers.append(self._heard)

    def create(self, body: object) -> Session:
        """Raises RefusedError."""
        if not isinstance(body, Mapping):
            raise RefusedError(400, "Request decode failed: the session must be a JSON object")
        if len(self._sessions) >= MAX_SESSIONS:
            raise RefusedError(500, f"The development registry holds {MAX_SESSIONS} sessions; use Consul for more.")
        fields = {str(key).lower().replace("_", ""): value for key, value in body.items()}
        if fields.get("node", self._state.node.name) != self._state.node.name:
            raise RefusedError(500, "Missing node registration")
        behavior = fields.get("behavior") or "release"
        if behavior not in ("release", "delete"):
            raise RefusedError(500, f"Invalid Behavior setting '{behavior}'")
        ttl = str(fields.get("ttl") or "")
        ttl_seconds = _ttl_seconds(ttl)
        checks = self._checks(fields)
        self.index = self._state.ledger.next()
        session = Session(
            id=str(uuid.uuid4()),
            name=str(fields.get("name") or ""),
            ttl=ttl,
            ttl_seconds=ttl_seconds,
            delete=behavior == "delete",
            lock_delay=_lock_delay(fields.get("lockdelay")),
            checks=checks,
            index=self.index,
        )
        self._sessions[session.id] = session
        self._start_ttl(session)
        return session

    def get(self, session_id: str) -> Session | None:
        """Raises RefusedError where the id is none."""
        if len(session_id) != _UUID_CHARS:
            raise RefusedError(500, "failed session lookup: index error: UUID must be 36 characters")
        return self._sessions.get(session_id)

    def all(self) -> list[Session]:
        return sorted(self._sessions.values(), key=lambda session: session.id)

    def renew(self, session_id: str) -> Session:
        """Raises RefusedError."""
        session = self.get(session_id)
        if session is None:
            raise RefusedError(404, f"Session id '{session_id}' not found")
        self._start_ttl(session)
        return session

    def destroy(self, session_id: str) -> None:
        """End it and free what it holds; one that is not there is ended already."""
        session = self.get(session_id)
        if session is None:
            return
        del self._sessions[session_id]
        self.expiries.discard(session_id)
        self.index = self._state.ledger.next()
        self._keys.end_session(session_id, delete=session.delete, delay=session.lock_delay)

    def enforce(self, now: float) -> None:
        """End those whose TTL ran out."""
        for session_id in self.expiries.due(now):
            self.destroy(session_id)

    def _start_ttl(self, session: Session) -> None:
        if session.ttl_seconds:
            self.expiries.set(session.id, self._clock() + _TTL_MULTIPLIER * session.ttl_seconds)

    def _checks(self, fields: Mapping[str, object]) -> tuple[str, ...]:
        named = fields.get("checks", fields.get("nodechecks"))
        checks = [NODE_CHECK] if named is None else named
        if not isinstance(checks, list):
            raise RefusedError(400, "Request decode failed: Checks must be a list")
        for check_id in checks:
            check = self._state.checks.get(str(check_id))
            if check is None:
                raise RefusedError(500, f"Missing check '{check_id}' registration")
            if check.status is Status.CRITICAL:
                raise RefusedError(500, f"Check '{check_id}' is in critical state")
        return tuple(str(check_id) for check_id in checks)

    def _heard(self, check_id: str, check: Check | None) -> None:
        if check is None or check.status is Status.CRITICAL:
            for session in [session for session in self._sessions.values() if check_id in session.checks]:
                self.destroy(session.id)


def _ttl_seconds(ttl: str) -> float:
    try:
        seconds = read_duration(ttl)
    except ValueError as error:
        raise RefusedError(400, f"Request decode failed: {error}") from None
    if ttl and not MIN_TTL_SECONDS <= seconds <= MAX_TTL_SECONDS:
        raise RefusedError(500, f"Invalid Session TTL '{round(seconds * 1e9)}', must be between [10s=24h0m0s]")
    return seconds


def _lock_delay(value: object) -> float:
    """A bare number below 1,000 is seconds, as in Consul."""
    if value is None:
        return DEFAULT_LOCK_DELAY_SECONDS
    try:
        seconds = float(value) if isinstance(value, int | float) and 0 <= value < 1_000 else read_duration(value)
    except ValueError as error:
        raise RefusedError(400, f"Request decode failed: {error}") from None
    return min(max(seconds, 0.0), MAX_LOCK_DELAY_SECONDS)
