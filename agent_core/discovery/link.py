"""Whether the registry answers: told by one watch, heeded by all, so that one alone knocks while it is away."""

import asyncio
import logging

from agent_core.domain.errors import RegistryError
from agent_core.domain.events import RegistryFound, RegistryLost
from agent_core.domain.ports import Clock, Emit

_log = logging.getLogger(__name__)


class Link:
    """Up or down.

    `stale_since` is the monotonic time of the loss, None while up or never tried. `epoch` counts the times that
    anybody lost a connection: the Consul behind it may have lost its data, although the next one is there at once.
    """

    def __init__(self, emit: Emit, clock: Clock) -> None:
        self._emit, self._clock = emit, clock
        self._up = asyncio.Event()
        self.stale_since: float | None = None
        self.error = ""
        self.epoch = 0

    @property
    def is_up(self) -> bool:
        return self._up.is_set()

    async def wait_up(self) -> None:
        await self._up.wait()

    def broke(self) -> None:
        """Somebody lost a connection."""
        self.epoch += 1

    def lost(self, error: RegistryError) -> bool:
        """The registry did not answer; returns whether that is new."""
        self._up.clear()
        self.error = str(error)
        if self.stale_since is not None:
            return False
        self.stale_since = self._clock()
        _log.warning("registry lost: %s", self.error)
        self._emit(RegistryLost(message=self.error))
        return True

    def found(self) -> bool:
        """The registry answered; returns whether it was away."""
        self._up.set()
        self.error = ""
        if self.stale_since is None:
            return False
        away = self._clock() - self.stale_since
        self.stale_since = None
        _log.warning("registry found again after %.1f s", away)
        self._emit(RegistryFound(away=away))
        return True
