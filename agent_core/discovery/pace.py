"""How often the registry may be asked: a token bucket while it answers, a backoff while it fails."""

from random import Random

from agent_core.domain.ports import Clock


class TokenBucket:
    """Immediate for `burst` uses after quiet, then `rate` uses a second."""

    def __init__(self, clock: Clock, *, rate: float = 1.6, burst: int = 2) -> None:
        self._clock, self._rate, self._burst = clock, rate, burst
        self._tokens = float(burst)
        self._filled = clock()

    def reserve(self) -> float:
        """Take a token; returns the seconds to wait before using it."""
        now = self._clock()
        self._tokens = min(float(self._burst), self._tokens + (now - self._filled) * self._rate) - 1.0
        self._filled = now
        return max(0.0, -self._tokens / self._rate)


class Backoff:
    """Delays in seconds: `first` doubling to `most` (four times it), each longer by a random part up to a quarter."""

    def __init__(self, random: Random, *, first: float, most: float | None = None) -> None:
        self._random, self._first, self._most = random, first, first * 4 if most is None else most
        self._next = first

    def delay(self) -> float:
        delay = self._next * self._random.uniform(1.0, 1.25)
        self._next = min(self._most, self._next * 2)
        return delay

    def reset(self) -> None:
        self._next = self._first
