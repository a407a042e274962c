"""Where a question may be split into parts; never within a number, an expression, a quotation or a span of time."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.dev.model.found import Spanned
from agent_core.dev.model.numbers import PLAIN

MAX_ATOMS = 16

_STRONG = re.compile(r"[.!?](?=\s|$)|[?!](?=\S)|。|;|\n+")
_WEAK = re.compile(
    r"[,、]\s{0,3}(?:(?:and|also|then)\b\s{0,3}){0,2}|\s{1,3}(?:and(?: also| then)?|also|then|as well as)\s"
    r"|以及|还有|并且|而且|然后|同时|另外|接着|和|跟",
    re.IGNORECASE,
)
_SPAN = re.compile(r"\bbetween\s[^?!;\n]{1,60}?\sand\s|\bfrom\s[^?!;\n]{1,60}?\s(?:to|until)\s", re.IGNORECASE)
_NUMBERS = re.compile(rf"(?<![0-9])(?:{PLAIN})(?:\s{{0,3}}(?:,|、|and|和)\s{{0,3}}(?:{PLAIN}))+(?!\s{{0,3}}[-+*/×÷])")
_BRACKETS = re.compile(r"\([^()\n]{0,200}\)")


@dataclass(frozen=True, slots=True)
class Atom:
    """text[start:end]; `strong`: a sentence ends before it."""

    start: int
    end: int
    strong: bool


def atoms(folded: str, protected: Sequence[Spanned]) -> list[Atom]:
    """The smallest parts, in order; the last takes what would exceed MAX_ATOMS."""
    spans = [(s.start, s.end) for s in protected]
    spans += [m.span() for pattern in (_SPAN, _BRACKETS, _NUMBERS) for m in pattern.finditer(folded)]
    cuts = sorted(
        (m.start(), m.end(), strong)
        for pattern, strong in ((_STRONG, True), (_WEAK, False))
        for m in pattern.finditer(folded)
    )
    found: list[Atom] = []
    at, strong = 0, True
    for start, end, is_strong in cuts:
        if start < at or any(s < end and start < e for s, e in spans):
            continue
        strong = _add(found, folded, at, start, strong=strong) or is_strong
        at = end
        if len(found) == MAX_ATOMS - 1:
            break
    _add(found, folded, at, len(folded), strong=strong)
    return found


def _add(found: list[Atom], text: str, start: int, end: int, *, strong: bool) -> bool:
    """Appends the atom unless it is blank; whether the next one still begins a sentence."""
    if not text[start:end].strip():
        return strong
    found.append(Atom(start, end, strong))
    return False
