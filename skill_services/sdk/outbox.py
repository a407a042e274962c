"""What a streaming call says before its result, held for a caller that may read slowly."""

import asyncio
from collections import deque
from typing import Final

from skillmesh.v1.skill_service_pb2 import InvokeStreamResponse

_MAX_EVENTS: Final = 256
_MAX_BYTES: Final = 4 * 1024 * 1024


class Outbox:
    """A bounded queue of one stream's events, used on the event loop's thread only.

    Where the caller falls behind, progress is left out, and from the first part that does not fit on all parts:
    the result holds every part again, and one that is missing in the middle would be read as garbled output.
    """

    def __init__(self) -> None:
        self._events: deque[InvokeStreamResponse] = deque()
        self._bytes = 0
        self._parts_left_out = False
        self._ready = asyncio.Event()
        self._closed = False

    def put(self, event: InvokeStreamResponse) -> None:
        """Never waits; after `close` a no-op."""
        if self._closed:
            return
        is_part = event.HasField("part")
        if is_part and self._parts_left_out:
            return
        size = event.ByteSize()
        if len(self._events) >= _MAX_EVENTS or self._bytes + size > _MAX_BYTES:
            self._parts_left_out = self._parts_left_out or is_part
            return
        self._events.append(event)
        self._bytes += size
        self._ready.set()

    def close(self) -> None:
        """No more comes; what is held is still handed out."""
        self._closed = True
        self._ready.set()

    async def get(self) -> InvokeStreamResponse | None:
        """The next event; None once closed and empty."""
        while not self._events:
            if self._closed:
                return None
            self._ready.clear()
            await self._ready.wait()
        event = self._events.popleft()
        self._bytes -= event.ByteSize()
        return event
