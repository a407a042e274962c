"""Asks again where a model call failed in a way that may pass and nothing of its reply was shown."""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from agent_core.domain.errors import ModelError
from agent_core.domain.events import ModelRetried
from agent_core.domain.model import ModelChunk, ModelRequest, TextChunk
from agent_core.domain.ports import ChatModel, Clock

_LIMITED: Final = 429


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """`attempts` includes the first; times are in seconds. `longest_wait`: no Retry-After above it is waited for."""

    attempts: int = 3
    first_wait: float = 0.25
    first_wait_limited: float = 1.0
    longest_wait: float = 60.0


class RetryingChatModel:
    """A ChatModel around another. Text that was shown is never shown again: after it a failure is final."""

    def __init__(
        self,
        model: ChatModel,
        policy: RetryPolicy = RetryPolicy(),
        *,
        clock: Clock = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._model = model
        self._policy = policy
        self._clock = clock
        self._sleep = sleep
        self._jitter = jitter

    @property
    def name(self) -> str:
        return self._model.name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """As ChatModel; each new attempt is told to `request.emit` as ModelRetried. Raises ModelError."""
        attempt = 1
        while True:
            shown = False
            try:
                async with aclosing(self._model.stream(request)) as chunks:
                    async for chunk in chunks:
                        shown = shown or isinstance(chunk, TextChunk)
                        yield chunk
            except ModelError as error:
                if shown or not error.retryable:
                    raise
                wait = self._wait(error, attempt, request.deadline)
                told = ModelRetried(run_id=request.run_id, turn=request.turn, message=str(error), wait=wait)
            else:
                return
            request.emit(told)
            await self._sleep(wait)
            attempt += 1

    def _wait(self, error: ModelError, attempt: int, deadline: float) -> float:
        """Seconds until the next attempt, never less than the endpoint asks. Raises ModelError where none is left."""
        policy = self._policy
        if attempt >= policy.attempts:
            raise _final(error, f"Tried {attempt} times.") from error
        first = policy.first_wait_limited if error.status == _LIMITED else policy.first_wait
        told = error.retry_after or 0.0
        backoff: float = first * 2 ** (attempt - 1) * (0.8 + 0.4 * self._jitter())
        wait = max(backoff, told)
        if told > policy.longest_wait:
            raise _final(error, f"That is longer than the {policy.longest_wait:g} s that a run waits.") from error
        left = deadline - self._clock()
        if wait >= left:
            raise _final(error, f"Only {max(left, 0):.1f} s of the run are left, so it is not asked again.") from error
        return wait


def _final(error: ModelError, why: str) -> ModelError:
    return ModelError(f"{error} {why}", status=error.status, retry_after=error.retry_after)
