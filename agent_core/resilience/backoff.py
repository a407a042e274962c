"""How long to wait before the next attempt."""

import random
from collections.abc import Callable
from typing import Final

FIRST_SECONDS: Final = 0.1
GROWTH: Final = 2.0
MAX_SECONDS: Final = 1.0
JITTER: Final = (0.8, 1.2)

Uniform = Callable[[float, float], float]


def backoff(attempt: int, uniform: Uniform = random.uniform) -> float:
    """Seconds to wait after attempt number `attempt` (from 1) has failed.

    gRFC A6's shape. The jitter is applied last, so waits at the limit are spread, too.
    """
    wait = min(FIRST_SECONDS * GROWTH ** min(attempt - 1, 16), MAX_SECONDS)
    return wait * uniform(*JITTER)
