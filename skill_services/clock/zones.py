"""What people call a time zone, to the zone: IANA names, cities and countries in English and Chinese, UTC offsets."""

import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, timedelta, timezone, tzinfo
from difflib import get_close_matches
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from skill_services.clock.failures import ClockError
from skill_services.clock.places import AMBIGUOUS, PLACES

MAX_NAME: Final = 80
_OFFSET: Final = re.compile(r"(?:utc|gmt)?\s*([+-])\s*(\d{1,2})(?::?([0-5]\d))?", re.IGNORECASE)
_SPACING: Final = re.compile(r"[\s._'’-]+")
_SUFFIX: Final = re.compile(
    r"(?:\s+(?:local\s+)?(?:standard\s+|daylight\s+)?time|(?:当地)?时间|\s+city|市)$", re.IGNORECASE
)
_CHINESE_ZONE: Final = re.compile(r"(\S{2,6}?)(?:当地)?时间\s*(.+)")
_ZONES_AT_END: Final = (
    re.compile(r"(.+) (?:in|at) ([A-Za-zÀ-ÿ][\w /,À-ÿ-]+?)(?: time)?"),
    re.compile(r"(.+?) ([A-Za-zÀ-ÿ][\w /À-ÿ-]+?) time"),
    re.compile(r"(.*\d.*?) ?(Z|(?!AM\b|PM\b)[A-Z]{2,5}|[A-Z]\w+/\w+|UTC ?[+-]\d[\d:]*)"),
)
_NOT_PLACES: Final = ("Etc/", "posix/", "right/", "SystemV/", "US/", "Brazil/", "Canada/", "Chile/", "Mexico/")


def find_zone(name: str) -> tuple[str, tzinfo]:
    """The zone's own name and the zone. Raises ClockError, with what was perhaps meant, where there is none."""
    text = unicodedata.normalize("NFC", name).strip(" \t\n?!.,;？！。，")
    if not text or len(text) > MAX_NAME:
        raise ClockError("Give a time zone such as Asia/Tokyo, a city such as London, or an offset such as UTC+8.")
    offset = _OFFSET.fullmatch(text)
    if offset:
        return _fixed(offset)
    for candidate in _spellings(text):
        found = _lookup(candidate)
        if found:
            return found, (UTC if found == "UTC" else ZoneInfo(found))
    raise ClockError(_unknown(text))


def split_zone(text: str, default: str) -> tuple[str, str]:
    """Splits off a zone that an expression names itself: `3pm Tokyo time`, `9:00 in London`, `东京时间下午3点`."""
    match = _CHINESE_ZONE.fullmatch(text)
    if match and _is_zone(match[1]):
        return match[2], match[1]
    for pattern in _ZONES_AT_END:
        match = pattern.fullmatch(text)
        if match and _is_zone(match[2]):
            return match[1], match[2]
    return text, default


def _is_zone(name: str) -> bool:
    try:
        find_zone(name)
    except ClockError:
        return False
    return True


def _spellings(text: str) -> Iterable[str]:
    yield text
    without = _SUFFIX.sub("", text)
    yield without
    yield without.partition(",")[0].partition("，")[0]
    yield "".join(c for c in unicodedata.normalize("NFD", without) if not unicodedata.combining(c))


def _lookup(text: str) -> str | None:
    key = _key(text)
    if key in AMBIGUOUS:
        raise ClockError(f"{text} has several time zones; say which: {AMBIGUOUS[key]}.")
    return PLACES.get(key) or _iana().get(key)


def _key(text: str) -> str:
    return _SPACING.sub("", text.casefold())


@cache
def _iana() -> dict[str, str]:
    """Every name of the database and, where no other has it, its last part."""
    names = sorted(available_timezones(), key=lambda name: (name.startswith(_NOT_PLACES), name.count("/"), name))
    found: dict[str, str] = {}
    for name in names:
        if name.startswith("Etc/"):  # its signs are POSIX's: Etc/GMT-5 is five hours ahead
            continue
        found.setdefault(_key(name.rpartition("/")[2]), name)
    return found | {_key(name): name for name in names}


def _fixed(match: re.Match[str]) -> tuple[str, tzinfo]:
    sign, hours, minutes = match[1], int(match[2]), int(match[3] or 0)
    delta = timedelta(hours=hours, minutes=minutes)
    if delta > timedelta(hours=14):
        raise ClockError("A UTC offset lies between -14:00 and +14:00.")
    name = f"UTC{sign}{hours:02}:{minutes:02}"
    return name, timezone(delta if sign == "+" else -delta, name)


def _unknown(text: str) -> str:
    close = get_close_matches(_key(text), [*_iana(), *PLACES], n=3, cutoff=0.7)
    names = list(dict.fromkeys(PLACES.get(key) or _iana()[key] for key in close))
    meant = f" Perhaps {' or '.join(names)}?" if names else ""
    return f"There is no time zone {text!r}.{meant} Give an IANA name such as Asia/Tokyo, a large city, or UTC+8."
