"""Amounts in words to figures: `half an hour ago` -> `30 minutes ago`, `a few minutes` -> `5 minutes`."""

import re
from typing import Final

_NUMBERS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_UNIT: Final = r"(?:second|minute|hour|day|week|month|year)"
_RULES: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (r"\bhalf an? (?:hour|hr)\b", "30 minutes"),
        (r"\b(?:a )?quarter of an hour\b", "15 minutes"),
        (r"\ban? hour and a half\b", "90 minutes"),
        (r"\b(\d+) and a half hours?\b", r"\1.5 hours"),
        (r"\b(?:a )?couple (?:of )?", "2 "),
        (r"\b(?:a )?(?:few|several) ", "5 "),
        (r"\bjust now\b", "1 minute ago"),
        (r"\bright now\b", "now"),
        (rf"\ban? (?={_UNIT}\b)", "1 "),
        (r"\bto now now\b", "to now"),
        *((rf"\b{word}\b(?= {_UNIT}s?\b)", str(n)) for n, word in enumerate(_NUMBERS, start=1)),
    )
)
_VAGUE: Final = re.compile(r"\b(?:few|several)\b")


def in_figures(text: str) -> tuple[str, str]:
    """The text with figures, and a sentence on what had to be assumed; empty where nothing was. Lower case."""
    note = '"A few" is read as 5.' if _VAGUE.search(text) else ""
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text, note
