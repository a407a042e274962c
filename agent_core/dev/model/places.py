"""Places that have a time zone, in English and Chinese, and the IANA zone of each."""

import re
import zoneinfo
from functools import cache

from agent_core.dev.model.found import CJK, Found, before
from agent_core.dev.model.place_table import ZONES

# Last parts of IANA names that are first of all ordinary words.
_ORDINARY = (
    "act center central easter eastern east general greenwich indiana iran island knox local mountain navajo new "
    "north pacific rico south troll turkey universal us west winamac wayne yukon zulu factory merida nice"
)
_NO_PLACE = frozenset(_ORDINARY.split())
_AREA_NAMES = "Africa America Antarctica Arctic Asia Atlantic Australia Europe Indian Pacific"
_AREAS = frozenset(_AREA_NAMES.split())
_WORD = re.compile(rf"[^\W\d_{CJK}]+(?:[./_'-][^\W\d_{CJK}]+)*")
_HAN = re.compile(f"[{CJK}]+")
_MAX_HAN = 7
IANA = re.compile(r"(?:[A-Z][A-Za-z]+(?:/[A-Z][A-Za-z_+-]+){1,2}|UTC)")


@cache
def _zones() -> dict[str, str]:
    """Place, lower case, words joined by `_` -> zone."""
    names = sorted(zoneinfo.available_timezones())
    zones = {name.rpartition("/")[2].lower(): name for name in names if name.partition("/")[0] in _AREAS}
    zones = {place: zone for place, zone in zones.items() if place not in _NO_PLACE}
    zones |= {name.lower(): name for name in names if name.partition("/")[0] in _AREAS}
    return zones | ZONES | {"utc": "UTC"}


def zone_of(place: str) -> str | None:
    """The IANA zone of a place or an IANA name in any case; None where it is not known."""
    return _zones().get(place.strip().lower().replace(" ", "_"))


def find(text: str) -> list[Found[str]]:
    """Known places of `text`, as written. One-word places in lower case count only after a preposition."""
    zones = _zones()
    found: list[Found[str]] = []
    words = list(_WORD.finditer(text))
    index = 0
    while index < len(words):
        for size in (3, 2, 1):
            group = words[index : index + size]
            start, end = group[0].start(), group[-1].end()
            written = text[start:end]
            if len(group) == size and written.lower().replace(" ", "_") in zones and _named(text, start, written):
                found.append(Found(written, start, end))
                index += size - 1
                break
        index += 1
    return sorted(found + _find_chinese(text), key=lambda f: f.start)


def _named(text: str, start: int, written: str) -> bool:
    if written[0].isupper() or " " in written or "/" in written:
        return len(written) > 2 or written == "UK"
    lead = before(text, start).rstrip().lower()
    return len(written) > 3 and (lead.endswith((" in", " to", " for", " at", " and", " from", ",")) or not lead)


def _find_chinese(text: str) -> list[Found[str]]:
    zones = _zones()
    found = []
    for run in _HAN.finditer(text):
        at = run.start()
        while at < run.end():
            size = next((n for n in range(_MAX_HAN, 1, -1) if at + n <= run.end() and text[at : at + n] in zones), 0)
            if size:
                found.append(Found(text[at : at + size], at, at + size))
            at += size or 1
    return found
