"""A unit as people write it to pint's: aliases, Chinese, powers, quotients, and letters that mean a temperature."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from skill_services.units.aliases import ALIASES, CURRENCIES, EXACT, TEMPERATURE_LETTERS, TEMPERATURES
from skill_services.units.dimensions import UNITS
from skill_services.units.failures import UnitsError
from skill_services.units.pint_types import Unit, Units

MAX_UNIT: Final = 80
_REWRITE: Final = str.maketrans({"²": "^2", "³": "^3", "⋅": "*", "·": "*", "μ": "µ", "／": "/", "（": "(", "）": ")"})
_ALLOWED: Final = re.compile(r"[\w\s°℃℉%′″\"'$€£¥*/^().+-]+")
_LARGE_POWER: Final = re.compile(r"(?:\*\*|\^)\s*-?(?:\d{2,}|[4-9])")
_PER: Final = re.compile(r"\s*(?:/|每|\bper\b)\s*", re.IGNORECASE)
_SQUARE: Final = re.compile(r"(?:(square|sq\.?|平方)|(?:cubic|cu\.?|立方))\s*(.+)", re.IGNORECASE)
_RAISED: Final = re.compile(r"([^\W\d]+(?:[ _][^\W\d]+)*)\s*(?:(?:\*\*|\^)?\s*([23])|\s(squared|cubed))", re.IGNORECASE)


class UnitReader:
    """Reads units against one pint registry."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def read_both(self, first: str, second: str) -> tuple[Unit, Unit]:
        """Both units; C, F and K are temperatures where the other unit is one. Raises UnitsError."""
        letters = [TEMPERATURE_LETTERS.get(text.strip().casefold()) for text in (first, second)]
        if letters[0] and letters[1]:
            return self._units.parse_units(letters[0]), self._units.parse_units(letters[1])
        if letters[0]:
            other = self.read(second)
            return self._letter(letters[0], first, other), other
        if letters[1]:
            other = self.read(first)
            return other, self._letter(letters[1], second, other)
        return self.read(first), self.read(second)

    def read(self, text: str) -> Unit:
        """One unit. Raises UnitsError."""
        tidy = " ".join(text.translate(_REWRITE).split())
        if tidy.casefold() in CURRENCIES:
            raise UnitsError("Currencies have no fixed rate, so they cannot be converted here.")
        if not tidy or len(tidy) > MAX_UNIT or not _ALLOWED.fullmatch(tidy) or _LARGE_POWER.search(tidy):
            raise UnitsError(f"{tidy[:60]!r} is not a unit; write one such as km, mile, kg, celsius or m/s.")
        for spelling in _spellings(tidy):
            unit = self._parsed(spelling)
            if unit is not None:
                return unit
        if re.match(r"[\d.]", tidy):
            raise UnitsError(f"Give the number as the value and only the unit here, not {tidy!r}.")
        raise UnitsError(_unknown(tidy))

    def _letter(self, temperature: str, text: str, other: Unit) -> Unit:
        return self._units.parse_units(temperature) if str(other) in TEMPERATURES else self.read(text)

    def _parsed(self, spelling: str) -> Unit | None:
        try:
            return self._units.parse_units(spelling)
        except Exception:  # noqa: BLE001  # pint raises its own, AssertionError, TypeError, tokenize's: as its parser meets them
            return None


def _spellings(text: str) -> Iterator[str]:
    """From the surest reading to the loosest."""
    known = EXACT.get(text) or ALIASES.get(text.casefold().replace("_", " "))
    if known:
        yield known
        return
    parts = _PER.split(text)
    if len(parts) > 1 and all(parts):
        yield " / ".join(f"({_one(part)})" for part in parts)
    yield _one(text)
    yield text
    yield text.lower()
    yield text.replace(" ", "_")
    yield text.lower().replace(" ", "_")


def _one(text: str) -> str:
    """A unit without a quotient."""
    known = EXACT.get(text) or ALIASES.get(text.casefold().replace("_", " "))
    if known:
        return known
    if match := _SQUARE.fullmatch(text):
        return f"({_one(match[2])}) ** {2 if match[1] else 3}"
    if match := _RAISED.fullmatch(text):
        return f"({_one(match[1])}) ** {match[2] or (2 if match[3].casefold() == 'squared' else 3)}"
    return text


def _unknown(text: str) -> str:
    known = {unit.replace("_", " "): unit for units in UNITS.values() for unit in units} | ALIASES
    close = get_close_matches(text.casefold(), known, n=3, cutoff=0.75)
    names = dict.fromkeys(known[name].replace("_", " ") for name in close)
    meant = f" Perhaps {' or '.join(names)}?" if names else ""
    return f"There is no unit {text!r}.{meant} list_units shows the usual ones of a dimension."
