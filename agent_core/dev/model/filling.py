"""What filling one tool's parameters has used up so far, so that no text serves two of them."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from agent_core.dev.model.found import Spanned, blank, overlaps
from agent_core.dev.model.reading import Reading
from agent_core.dev.model.schema import Parameter

S = TypeVar("S", bound=Spanned)


class Filling:
    """`siblings`: the parameters filled together; `guess`: whether a required one may take what is merely left over."""

    def __init__(self, reading: Reading, siblings: Sequence[Parameter], *, guess: bool, verbs: frozenset[str]) -> None:
        self.reading = reading
        self.siblings = siblings
        self.guess = guess
        self.verbs = verbs
        self._taken: list[Spanned] = []

    def free(self, candidates: Iterable[S]) -> list[S]:
        return [c for c in candidates if not any(overlaps(c, t) for t in self._taken)]

    def take(self, found: Spanned) -> None:
        self._taken.append(found)

    def left(self) -> str:
        """The folded text without what is taken."""
        return blank(self.reading.folded, self._taken)

    def nested(self, siblings: Sequence[Parameter]) -> "Filling":
        """For an object within: what either takes is taken for both."""
        inner = Filling(self.reading, siblings, guess=self.guess, verbs=self.verbs)
        inner._taken = self._taken  # of this same class
        return inner

    def may_guess(self, parameter: Parameter) -> bool:
        return self.guess and parameter.required
