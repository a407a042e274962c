"""Quantities with units, and conversions asked for: `5 miles in km`, `5英里等于多少公里`."""

import re
from dataclasses import dataclass

from agent_core.dev.model import numbers
from agent_core.dev.model.found import Found, before, blank
from agent_core.dev.model.unit_table import CANONICAL

_WORDS = "|".join(
    re.escape(s) + ("(?![A-Za-z0-9_/²³])" if s[-1].isascii() and s[-1].isalnum() else "")
    for s in sorted(CANONICAL, key=len, reverse=True)
)
_UNIT = re.compile(rf"(?:{_WORDS})", re.IGNORECASE)
_AFTER_NUMBER = re.compile(rf"\s*-?(?P<unit>{_WORDS})|\s*(?P<c>C)\b|\s*(?P<f>F)\b", re.IGNORECASE)
_TARGET = re.compile(
    r"(?:\b(?:to|in|into|as|many|much|=)|多少|几|换算成|换算为|转换成|转换为|转换到|换成|转成|转为|折合|合|成|为|是|到)\s*(?:个\s*)?$",
    re.IGNORECASE,
)
_ANY_WORDS = re.compile(
    r"\s*(?P<source>[A-Za-z]{2,20})\s+(?:to|in|into|as)\s+(?P<target>[A-Za-z]{2,20})\b", re.IGNORECASE | re.ASCII
)


@dataclass(frozen=True, slots=True)
class Conversion:
    """`value` in `source`, wanted in `target` (empty where none is named), both as written.

    `known`: both are units of the table.
    """

    value: numbers.Number
    source: str
    target: str
    start: int
    end: int
    known: bool = True


def find(text: str) -> list[Conversion]:
    """Quantities of `text` in order, each with the unit it is wanted in. Currencies count as units."""
    quantities = [q for q in (_quantity(text, n) for n in numbers.find(text)) if q is not None]
    targets = _targets(blank(text, quantities))
    found = []
    for quantity in quantities:
        target = _nearest(targets, quantity)
        found.append(
            Conversion(
                quantity.value[0],
                quantity.value[1],
                target.value if target else "",
                quantity.start,
                max(quantity.end, target.end) if target else quantity.end,
            )
        )
    return found or _unknown(text)


def _quantity(text: str, number: Found[numbers.Number]) -> Found[tuple[numbers.Number, str]] | None:
    match = _AFTER_NUMBER.match(text, number.end)
    if not match:
        return None
    unit = "celsius" if match["c"] else "fahrenheit" if match["f"] else match["unit"]
    return Found((number.value, unit), number.start, match.end())


def _targets(text: str) -> list[Found[str]]:
    found = []
    for match in _UNIT.finditer(text):
        lead = before(text, match.start())
        starts_word = not (lead[-1:].isascii() and (lead[-1:].isalnum() or lead[-1:] in ("_", "/")))
        cued = _TARGET.search(lead) is not None
        if starts_word and (cued or (len(match.group()) > 2 and match.group().isascii())):
            found.append(Found(match.group(), match.start(), match.end()))
    cued_first = [t for t in found if _TARGET.search(before(text, t.start))]
    return cued_first or found


def _nearest(targets: list[Found[str]], quantity: Found[tuple[numbers.Number, str]]) -> Found[str] | None:
    """The next target after the quantity, else one before it (`how many km is 5 miles`)."""
    other = [t for t in targets if CANONICAL.get(t.value.lower()) != CANONICAL.get(quantity.value[1].lower(), "-")]
    return next((t for t in other if t.start >= quantity.end), other[-1] if other else None)


def _unknown(text: str) -> list[Conversion]:
    found = []
    for number in numbers.find(text):
        match = _ANY_WORDS.match(text, number.end)
        if match:
            found.append(
                Conversion(number.value, match["source"], match["target"], number.start, match.end(), known=False)
            )
    return found
