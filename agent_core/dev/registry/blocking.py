"""Blocking queries: an answer waits until its view has changed. Consul, API features, blocking queries."""

import asyncio
import random
from collections.abc import Callable, Mapping
from typing import Final

from agent_core.dev.registry.durations import parse_duration
from agent_core.dev.registry.ledger import Ledger
from agent_core.dev.registry.refusals import RefusedError

DEFAULT_WAIT_SECONDS: Final = 300.0
MAX_WAIT_SECONDS: Final = 600.0
MAX_WAITING: Final = 4_096
_JITTER_DIVISOR: Final = 16

Index = Callable[[], int]


class Waiters:
    """Queries that wait. A change wakes exactly those whose view it changed, in the same pass of the event loop."""

    def __init__(self, ledger: Ledger) -> None:
        self._waiting: dict[asyncio.Future[None], tuple[Index, int]] = {}
        self._woken = False
        self._closed = False
        ledger.on_change = self._note

    def __len__(self) -> int:
        return len(self._waiting)

    async def wait(self, index: Index, since: int, seconds: float) -> None:
        """Return when `index()` is above `since`, or after `seconds`. Raises RefusedError where the registry stops."""
        if index() > since:
            return
        if len(self._waiting) >= MAX_WAITING:
            raise RefusedError(429, f"{MAX_WAITING} queries wait already.")
        future = asyncio.get_running_loop().create_future()
        self._waiting[future] = (index, since)
        try:
            if not self._closed:
                async with asyncio.timeout(seconds):
                    await future
        except TimeoutError:
            return
        finally:
            self._waiting.pop(future, None)
        if self._closed:
            raise RefusedError(500, "The registry is stopping.")

    def close(self) -> None:
        """Answer all that wait, now and later."""
        self._closed = True
        for future in self._waiting:
            if not future.done():
                future.set_result(None)

    def _note(self) -> None:
        if self._waiting and not self._woken:
            self._woken = True
            asyncio.get_running_loop().call_soon(self._wake)

    def _wake(self) -> None:
        self._woken = False
        for future, (index, since) in self._waiting.items():
            if not future.done() and index() > since:
                future.set_result(None)


def read_wait(query: Mapping[str, str]) -> tuple[int, float]:
    """The index to wait for a change of (0: answer at once), and for how many seconds with jitter.

    Raises RefusedError.
    """
    text = query.get("index", "")
    if not text:
        return 0, 0.0
    if not (text.isascii() and text.isdigit() and len(text) <= 20):
        raise RefusedError(400, "Invalid index")
    seconds = DEFAULT_WAIT_SECONDS
    if wait := query.get("wait"):
        try:
            seconds = parse_duration(wait) or DEFAULT_WAIT_SECONDS
        except ValueError:
            raise RefusedError(400, "Invalid wait time") from None
    seconds = min(max(seconds, 0.0), MAX_WAIT_SECONDS)
    return int(text), seconds + random.uniform(0.0, seconds / _JITTER_DIVISOR)  # noqa: S311 - spreads load, no secret
