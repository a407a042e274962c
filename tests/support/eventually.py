"""Wait for what another task or process will bring about, bounded in time."""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable

_POLL_SECONDS = 0.01


async def eventually(condition: Callable[[], bool | Awaitable[bool]], seconds: float = 5.0) -> None:
    """Return once `condition` holds; it is asked every 10 ms.

    Raises:
        AssertionError: it did not hold within `seconds`.
    """
    end = time.monotonic() + seconds
    while True:
        answer = condition()
        if await answer if inspect.isawaitable(answer) else answer:
            return
        assert time.monotonic() < end, f"did not come true within {seconds:g} s"
        await asyncio.sleep(_POLL_SECONDS)
