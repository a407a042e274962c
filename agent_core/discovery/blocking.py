"""Consul's blocking queries, with the rules that its documentation sets for clients.

https://developer.hashicorp.com/consul/api-docs/features/blocking: an index that goes back starts again from 0; an
index is never below 1, or the query would not block; a return is no proof of change; the loop is rate-limited.
"""

import asyncio
from collections.abc import Awaitable, Callable

from agent_core.discovery.client import Answer
from agent_core.discovery.pace import Backoff, TokenBucket
from agent_core.domain.errors import RegistryError

Ask = Callable[[int, float], Awaitable[Answer]]
"""One query with an index (0: answer at once) and a wait in seconds. Raises RegistryError."""

Heard = Callable[[Answer, bool], None]
"""An answer, changed or not; True where it follows no earlier one (the first, after a failure or an index reset)."""

Failed = Callable[[RegistryError], None]

Gate = Callable[[], Awaitable[None]]
"""Returns when the registry may be asked."""


async def _open() -> None:
    pass


def next_index(previous: int, answered: int) -> int:
    """The index to ask with after an answer; 0 where the registry's went back."""
    return 0 if answered < previous else max(1, answered)


class BlockingQuery:
    """One query asked for ever. Cancelling `follow` closes the long poll.

    `epoch` changes where somebody else noticed that the registry broke off: what is known is then of no use here.
    """

    def __init__(
        self,
        ask: Ask,
        wait: float,
        pace: tuple[TokenBucket, Backoff],
        gate: Gate = _open,
        epoch: Callable[[], int] = lambda: 0,
    ) -> None:
        self._ask, self._wait, self._gate, self._epoch = ask, wait, gate, epoch
        self._bucket, self._backoff = pace

    async def follow(self, heard: Heard, failed: Failed) -> None:
        """Tell each answer to `heard` and each failure to `failed`; ends by cancellation only."""
        index = 0
        fresh = True
        due = False
        epoch = self._epoch()
        while True:
            await self._gate()
            rest = self._bucket.reserve()
            if due:
                rest = 0.0  # taken from the bucket all the same: it counts against what comes later
            await asyncio.sleep(rest)
            if epoch != self._epoch():
                epoch, index, fresh = self._epoch(), 0, True
            try:
                # While nothing was asked another Consul may have come, where the old index would wait for nothing:
                # look first, then wait.
                answer = await self._ask(0 if rest else index, self._wait)
            except RegistryError as error:
                index, fresh, due = 0, True, False
                failed(error)
                await asyncio.sleep(self._backoff.delay())
                continue
            self._backoff.reset()
            # A missing header leaves 0, which next_index would take for going back each time.
            following = next_index(index, answer.index or index)
            heard(answer, fresh or following == 0)
            due = bool(rest) and following == index  # looked, nothing new: the wait itself follows at once
            index, fresh = following, False
