"""The way of a run's events to whoever reads them, bounded."""

import asyncio
from typing import Final

from agent_core.domain.events import CallProgressed, Event, RunFinished

_HELD: Final = 1_000  # events unread at which the model's stream waits for the reader
_HELD_PROGRESS: Final = 4_000  # and at which progress, which waits for nobody, is dropped


class Channel:
    """One writer's side that never waits (`emit`), one reader's side (`next`). RunFinished is the last event in it."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Event] = asyncio.Queue()
        self._room = asyncio.Event()
        self._closed = False

    @property
    def full(self) -> bool:
        return self._queue.qsize() >= _HELD

    def emit(self, event: Event) -> None:
        """Pass the event on; what comes after RunFinished is dropped, and progress that nobody reads."""
        if self._closed or (isinstance(event, CallProgressed) and self._queue.qsize() >= _HELD_PROGRESS):
            return
        self._closed = isinstance(event, RunFinished)
        self._queue.put_nowait(event)

    async def room(self) -> None:
        """Wait until the reader has caught up."""
        while self.full:
            self._room.clear()
            await self._room.wait()

    async def next(self) -> Event:
        event = await self._queue.get()
        if not self.full:
            self._room.set()
        return event
