"""A chat: what was said so far, in memory and bounded, and what its owner has set."""

from collections import deque
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from agent_core.agent.window import size
from agent_core.domain.model import Message


class Session:
    """The exchanges of one chat, each a question with all that followed from it, kept and dropped as a whole.

    `context_bytes` is what the model's context window was found to hold; None while nothing was refused.
    """

    def __init__(
        self,
        session_id: str = "",
        *,
        time_zone: str = "UTC",
        locale: str = "",
        values: Mapping[str, str] = MappingProxyType({}),
        max_bytes: int = 1_000_000,
    ) -> None:
        self.id = session_id
        self.time_zone = time_zone
        self.locale = locale
        self.values = values
        self.context_bytes: int | None = None
        self._max_bytes = max_bytes
        self._exchanges: deque[tuple[Message, ...]] = deque()
        self._size = 0

    @property
    def history(self) -> tuple[Message, ...]:
        """All messages that are kept, the oldest first; no system prompt is among them."""
        return tuple(message for exchange in self._exchanges for message in exchange)

    def commit(self, exchange: Sequence[Message]) -> None:
        """Keep one exchange from its question to its answer; the oldest are dropped for it, the newest never is."""
        self._exchanges.append(tuple(exchange))
        self._size += size(exchange)
        while self._size > self._max_bytes and len(self._exchanges) > 1:
            self._size -= size(self._exchanges.popleft())
