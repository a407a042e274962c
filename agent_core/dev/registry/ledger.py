"""The one index that all changes share, as Consul's Raft index."""

from collections.abc import Callable
from typing import Final

FIRST_INDEX: Final = 10
"""Above 1, so that a client that asks with `index=1` gets an answer at once, as from Consul."""


def _nothing() -> None:
    pass


class Ledger:
    """Counts changes; `on_change` is called at each, before the change is whole: it may only take note."""

    def __init__(self) -> None:
        self.index = FIRST_INDEX
        self.on_change: Callable[[], None] = _nothing

    def next(self) -> int:
        self.index += 1
        self.on_change()
        return self.index
