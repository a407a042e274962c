"""Expressions of time in English or Chinese to exact instants and ranges.

Ranges, days and parts of days are read here; dates in the many other spellings, and durations, by dateparser.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from threading import Lock
from typing import Final

from skill_services.clock import days
from skill_services.clock.chinese import to_english
from skill_services.clock.failures import ClockError
from skill_services.clock.figures import in_figures
from skill_services.clock.local_time import localize
from skill_services.clock.zones import find_zone, split_zone

MAX_EXPRESSION: Final = 200
_UNITS: Final = r"(second|sec|minute|min|hour|hr|day|week|month|year)s?"
_AMOUNT: Final = r"(\d+(?:\.\d+)?)"
_ROLLING: Final = re.compile(
    rf"(?:the |in the |within the |during the )?(last|past|previous|next|coming) (?:{_AMOUNT} ?)?{_UNITS}"
)
_PERIOD: Final = re.compile(r"(?:the )?(last|previous|this|current|next|coming) (hour|day|week|month|year)")
_BETWEEN: Final = re.compile(r"(?:between (.+?) and (.+)|(?:from )?(.+?) (?:to|until|till|through) (.+))")
_SINCE: Final = re.compile(r"(?:since|from|after) (.+?)(?: (?:to|until) now)?")
_SHORT_UNIT: Final = re.compile(r"\d ?(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?)\b")
_LONG_UNIT: Final = re.compile(r"\d ?(?:d|days?|w|weeks?|months?|y|years?)\b")
_RELATIVE: Final = re.compile(r"(?:\bago|\bearlier|\bfrom now|\blater|^in \d)")
_SECONDS: Final = {"second": 1, "sec": 1, "minute": 60, "min": 60, "hour": 3_600, "hr": 3_600}
_MAX_AMOUNT: Final = 100_000
_HALF_DAY: Final = timedelta(hours=12)

_PARSER_LOCK: Final = Lock()  # dateparser fills shared caches as it reads


@dataclass(frozen=True, slots=True)
class Moment:
    """An instant, or a range where `end` is there (exclusive); both UTC. `zone` is the one it was read in."""

    start: datetime
    end: datetime | None
    zone_name: str
    zone: tzinfo
    note: str = ""


def resolve(expression: str, zone_name: str, now: datetime) -> Moment:
    """Reads `expression` in the zone it names, else in `zone_name`. Raises ClockError."""
    if len(expression) > MAX_EXPRESSION:
        raise ClockError(f"The expression is longer than {MAX_EXPRESSION} characters; give one moment or range.")
    text, zone_name = split_zone(" ".join(expression.split()).strip(" .,?!。？！"), zone_name)
    name, zone = find_zone(zone_name)
    english, note = in_figures(to_english(text).lower().strip())
    try:
        start, end, more = _Reader(zone, now).read(english, text)
    except (OverflowError, ValueError):
        raise ClockError(f"{expression!r} lies outside the years 1 to 9999.") from None
    return Moment(start, end, name, zone, " ".join(filter(None, (note, more))))


class _Reader:
    """Reads expressions against one `now` and one zone."""

    def __init__(self, zone: tzinfo, now: datetime) -> None:
        self._zone = zone
        self._now = now
        self._wall = now.astimezone(zone).replace(tzinfo=None)

    def read(self, text: str, original: str) -> tuple[datetime, datetime | None, str]:
        if text in ("now", "today now", "currently"):
            return self._now, None, ""
        if iso := _iso_instant(original):
            return self._instant(iso)
        for read in (self._between, self._since, self._rolling, self._period, self._month):
            found = read(text)
            if found:
                return found
        return self._relative(text) or self._day(text, self._wall.date()) or self._parsed(text, original)

    def _between(self, text: str) -> tuple[datetime, datetime | None, str] | None:
        match = _BETWEEN.fullmatch(text)
        if not match:
            return None
        first, second = match[1] or match[3], match[2] or match[4]
        second = f"{second}:00" if re.fullmatch(r"\d{1,2}", second) else second
        first_day, first_time = days.take_time(_with_half(first, second))
        second_day, second_time = days.take_time(second)
        if first_time is not None and not first_day and second_time is not None:
            first = f"{second_day} {_with_half(first, second)}".strip()  # from 2pm to 3pm yesterday
        start, _, note = self.read(first, first)
        day = start.astimezone(self._zone).date()
        found = self._day(second, day) if second_time is not None and not second_day else None
        from_second, to_second, more = found or self.read(second, second)
        end = to_second or from_second
        if end <= start and found and re.match(r"[1-9](?!\d)", second) and not re.search(r"[ap]m", second):
            end += _HALF_DAY  # 3pm to 5
        if end <= start and found:
            end += 2 * _HALF_DAY  # 22:00 to 02:00
        if end <= start:
            raise ClockError("The range ends before it starts; give the earlier moment first.")
        return start, end, " ".join(filter(None, (note, more)))

    def _since(self, text: str) -> tuple[datetime, datetime | None, str] | None:
        match = _SINCE.fullmatch(text)
        if not match:
            return None
        start, _, note = self.read(match[1], match[1])
        if start >= self._now:
            raise ClockError("That moment is still to come, so nothing has happened since; give an earlier one.")
        return start, self._now, note

    def _rolling(self, text: str) -> tuple[datetime, datetime | None, str] | None:
        """`last hour` and `past 3 days` end now; without a number, only hours and less, and `past`, are meant so."""
        match = _ROLLING.fullmatch(text)
        if not match or (match[2] is None and match[1] != "past" and match[3] not in _SECONDS):
            return None
        amount, unit = float(match[2] or 1), match[3]
        if amount > _MAX_AMOUNT:
            raise ClockError(f"The span is too long; at most {_MAX_AMOUNT} units.")
        direction = 1 if match[1] in ("next", "coming") else -1
        other = self._shifted(amount * direction, unit)
        return min(self._now, other), max(self._now, other), ""

    def _shifted(self, amount: float, unit: str) -> datetime:
        if unit in _SECONDS:
            return self._now + timedelta(seconds=amount * _SECONDS[unit])
        if unit in ("day", "week"):
            return localize(self._wall + timedelta(days=amount * (7 if unit == "week" else 1)), self._zone)[0]
        months = round(amount * (12 if unit == "year" else 1))
        first = days.shift_months(self._wall.replace(day=1), months)
        last = (days.shift_months(first, 1) - timedelta(days=1)).day
        return localize(first.replace(day=min(self._wall.day, last)), self._zone)[0]

    def _period(self, text: str) -> tuple[datetime, datetime | None, str] | None:
        match = _PERIOD.fullmatch(text)
        if not match:
            return None
        start, end = days.period(match[1], match[2], self._wall)
        return self._range(start, end)

    def _month(self, text: str) -> tuple[datetime, datetime | None, str] | None:
        found = days.month(text, self._wall)
        return self._range(*found) if found else None

    def _relative(self, text: str) -> tuple[datetime, datetime | None, str] | None:
        """`5 minutes ago`: hours and less are exact time, days and more are wall-clock time."""
        if not _RELATIVE.search(text):
            return None
        short = _SHORT_UNIT.search(text) and not _LONG_UNIT.search(text) and days.take_time(text)[1] is None
        if short:
            found = _dateparser(text, self._now.astimezone(UTC).replace(tzinfo=None))
            return (found.replace(tzinfo=UTC), None, "") if found else None
        return None

    def _day(self, text: str, today: date) -> tuple[datetime, datetime | None, str] | None:
        rest, moment = days.take_time(text)
        if moment is not None:
            day = days.find_day(rest, today)
            return self._instant(_at(day, moment)) if day else None
        rest, part = days.take_part(text)
        day = days.find_day(rest, today) if rest or part else None
        if day is None:
            return None
        if part is None and re.search(r"\bago$|^in \d", rest):
            return self._instant(_at(day, self._wall - datetime.combine(self._wall.date(), time())))
        start, end = part or (timedelta(), timedelta(days=1))
        return self._range(_at(day, start), _at(day, end))

    def _parsed(self, text: str, original: str) -> tuple[datetime, datetime | None, str]:
        found = _dateparser(text.replace("month-day", f"{self._wall.year}-"), self._wall)
        if found is None:
            raise ClockError(
                f"{original!r} is not understood as a time; write it as '5 minutes ago', 'yesterday 3pm', 'last hour', "
                "'from 14:00 to 15:30' or 2025-06-30T15:00:00Z."
            )
        if found.tzinfo is not None:
            return found.astimezone(UTC), None, ""
        if found.time() == time() and not re.search(r"\d:\d|\d ?[ap]m|midnight", text):
            return self._range(found, found + timedelta(days=1))
        return self._instant(found)

    def _instant(self, moment: datetime) -> tuple[datetime, datetime | None, str]:
        if moment.tzinfo is not None:
            return moment.astimezone(UTC), None, ""
        start, note = localize(moment, self._zone)
        return start, None, note

    def _range(self, start: datetime, end: datetime) -> tuple[datetime, datetime | None, str]:
        first, note = localize(start, self._zone)
        last, more = localize(end, self._zone)
        return first, last, " ".join(filter(None, (note, more)))


def _with_half(first: str, second: str) -> str:
    """`2` of `from 2 to 3pm` as `2pm`."""
    if not re.fullmatch(r"\d{1,2}", first):
        return first
    half = re.search(r"[ap]m\b", second)
    return first + (half[0] if half else ":00")


def _at(day: date, since_midnight: timedelta) -> datetime:
    return datetime.combine(day, time()) + since_midnight


def _iso_instant(text: str) -> datetime | None:
    if not re.match(r"\d{4}-?\d\d-?\d\d[T ]\d\d", text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _dateparser(text: str, base: datetime) -> datetime | None:
    from dateparser import parse  # slow to import: 0.1 s, and 0.25 s at its first use

    if not re.search(r"[a-z\u4e00-\u9fff]|\d[-/.:]\d", text):
        return None  # it would take a bare number for a day or a Unix time
    with _PARSER_LOCK:
        # What a date lacks would be taken from today, however odd the rest is: `Q3 2025` as a day of August.
        settings = {"RELATIVE_BASE": base, "PREFER_DATES_FROM": "past", "REQUIRE_PARTS": ["day", "month"]}
        return parse(text, languages=["en", "zh"], settings=settings)
