"""How many calls may run beside one another: places that are waited for in order, never past the deadline."""

import asyncio
import time
from collections import deque
from typing import Final

from skill_services.sdk.errors import CallFailedError, overloaded

_ANSWER_SHARE: Final = 0.1  # of the time that is left: enough for "nothing ran" to arrive before the deadline does
_ANSWER_SECONDS: Final = 0.05


class Places:
    """A number of places, taken in order of arrival. `what` names the thing that is busy, in refusals.

    Used on the event loop's thread only. `max_waiting` bounds the queue, so that one busy skill cannot hold every
    call that the process admits.
    """

    def __init__(self, number: int, what: str, max_waiting: int) -> None:
        self._number = number
        self._what = what
        self._max_waiting = max_waiting
        self._taken = 0
        self._waiting: deque[tuple[asyncio.Future[None], float]] = deque()

    async def take(self, deadline: float) -> None:
        """Take a place; `deadline` is monotonic seconds. Whoever took one calls `give_back` exactly once.

        Raises CallFailedError (OVERLOADED) where none came free in time; nothing has run then.
        """
        if self._taken < self._number and not self._waiting:
            self._taken += 1
            return
        if self._number <= 0 or len(self._waiting) >= self._max_waiting:
            raise self._refusal()
        now = time.monotonic()
        patience = (deadline - now) - min(_ANSWER_SECONDS, (deadline - now) * _ANSWER_SHARE)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiting = (turn, now + patience)
        self._waiting.append(waiting)
        try:
            async with asyncio.timeout(patience):
                await turn
        except TimeoutError:
            self._leave(waiting)
            raise self._refusal() from None
        except BaseException:
            self._leave(waiting)
            raise

    def give_back(self) -> None:
        self._taken -= 1
        self._admit()

    def resize(self, number: int) -> None:
        """From now on there are `number` places; at 0 whoever waits is refused at once."""
        self._number = number
        if number <= 0:
            while self._waiting:
                turn, _ = self._waiting.popleft()
                if not turn.done():
                    turn.set_exception(self._refusal())
        self._admit()

    def _admit(self) -> None:
        while self._waiting and self._taken < self._number:
            turn, until = self._waiting.popleft()
            if turn.done():
                continue
            if time.monotonic() >= until:  # its timer is late, and it has no time left to use the place
                turn.set_exception(self._refusal())
            else:
                self._taken += 1
                turn.set_result(None)

    def _leave(self, waiting: tuple[asyncio.Future[None], float]) -> None:
        """Whoever leaves with a place that was just given passes it on."""
        turn, _ = waiting
        if turn.done() and not turn.cancelled() and turn.exception() is None:
            self.give_back()
        elif waiting in self._waiting:
            self._waiting.remove(waiting)

    def _refusal(self) -> CallFailedError:
        return overloaded(f"{self._what}; nothing ran, try again shortly.")
