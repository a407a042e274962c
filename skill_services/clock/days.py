"""Words for a day, a time of day and a calendar period, as wall-clock values."""

import re
from datetime import date, datetime, time, timedelta
from typing import Final

_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY: Final = re.compile(
    r"(?:on )?(?:(last|past|next|coming|this|previous-week|following-week|this-week) )?"
    r"(mon|tue|tues|wed|thu|thur|thurs|fri|sat|sun|" + "|".join(_WEEKDAYS) + r")"
)
_DAY_OFFSETS: Final = {
    "": 0,
    "today": 0,
    "this day": 0,
    "yesterday": -1,
    "tomorrow": 1,
    "the day before yesterday": -2,
    "day before yesterday": -2,
    "the day after tomorrow": 2,
    "day after tomorrow": 2,
    "last": -1,
    "this": 0,
    "tonight": 0,
}
_AGO: Final = re.compile(r"(?:(\d{1,4}) days? ago|in (\d{1,4}) days?)")
_MONTH_DAY: Final = re.compile(r"month-day (\d\d)-(\d\d)")
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH: Final = re.compile(
    r"(?:in |during )?(?:the month of )?"
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?(?:,? (?:of )?(\d{4}))?"
    r"|whole-month (0[1-9]|1[0-2])(?: (\d{4}))?"
)
_ISO: Final = re.compile(r"(?:on )?(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")
_TIME: Final = re.compile(
    r"(?:\bat )?(?<![\d:.-])"
    r"(?:(\d{1,2}):([0-5]\d)(?::([0-5]\d)(?:\.\d+)?)?\s*([ap]\.?m\.?)?|(\d{1,2})\s*([ap]\.?m\.?|o'?clock))(?![\w:])"
)
_BARE_HOUR: Final = re.compile(r"\bat (\d{1,2})(?![\d:])")
_PARTS: Final = {  # hours of the day, the end exclusive and counted on past midnight
    "early morning": (0, 6),
    "morning": (6, 12),
    "afternoon": (12, 18),
    "evening": (18, 24),
    "night": (18, 30),
}
_PART: Final = re.compile(r"(?:\b(?:in|on|at) (?:the )?)?\b(" + "|".join(_PARTS) + r")\b")


def find_day(text: str, today: date) -> date | None:
    """The day that `text` names; None where it names none. A bare weekday is the last one, today included."""
    if text in _DAY_OFFSETS:
        return today + timedelta(days=_DAY_OFFSETS[text])
    if match := _AGO.fullmatch(text):
        return today + timedelta(days=int(match[2]) if match[2] else -int(match[1]))
    if match := _WEEKDAY.fullmatch(text):
        return _weekday(match[1] or "", match[2], today)
    if match := _MONTH_DAY.fullmatch(text):
        return _date(today.year, int(match[1]), int(match[2]))
    if match := _ISO.fullmatch(text):
        return _date(int(match[1]), int(match[2]), int(match[3]))
    return None


def take_time(text: str) -> tuple[str, timedelta | None]:
    """The text without its time of day, and that time as time since midnight (24:00 at most)."""
    for word, hours in (("noon", 12), ("midday", 12), ("midnight", 0)):
        pattern = re.compile(rf"(?:\bat )?\b{word}\b")
        if pattern.search(text) and not _TIME.search(text):
            return _tidy(pattern.sub(" ", text)), timedelta(hours=hours)
    match = _TIME.search(text)
    if match:
        hour, minute, second = int(match[1] or match[5]), int(match[2] or 0), int(match[3] or 0)
        half = (match[4] or match[6] or "").replace(".", "")
    else:
        match = _BARE_HOUR.search(text)
        if not match:
            return text, None
        hour, minute, second, half = int(match[1]), 0, 0, ""
    rest = _tidy(text[: match.start()] + " " + text[match.end() :])
    part = _PART.search(rest)
    if part:
        rest = _tidy(_PART.sub(" ", rest))
        if part[1] in ("afternoon", "evening", "night") and hour < 12:
            half = "pm"
    if half in ("am", "pm"):
        if not 1 <= hour <= 12:
            return text, None
        hour = hour % 12 + (12 if half == "pm" else 0)
    moment = timedelta(hours=hour, minutes=minute, seconds=second)
    return (rest, moment) if moment <= timedelta(hours=24) else (text, None)


def take_part(text: str) -> tuple[str, tuple[timedelta, timedelta] | None]:
    """The text without its part of the day, and that part as times since midnight."""
    text = "last night" if text == "last night" else text.replace("tonight", "today evening")
    match = _PART.search(text)
    if not match:
        return text, None
    start, end = _PARTS[match[1]]
    return _tidy(_PART.sub(" ", text)), (timedelta(hours=start), timedelta(hours=end))


def period(relation: str, unit: str, now: datetime) -> tuple[datetime, datetime]:
    """The last (-1), this (0) or next (1) hour, day, week (from Monday), month or year by the wall clock."""
    step = {"last": -1, "previous": -1, "this": 0, "current": 0, "next": 1, "coming": 1}[relation]
    midnight = datetime.combine(now.date(), time())
    if unit == "hour":
        start = now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=step)
        return start, start + timedelta(hours=1)
    if unit in ("day", "week"):
        length = timedelta(days=1 if unit == "day" else 7)
        start = (midnight - timedelta(days=0 if unit == "day" else now.weekday())) + step * length
        return start, start + length
    months = 12 if unit == "year" else 1
    first = midnight.replace(day=1, month=1 if unit == "year" else now.month)
    return shift_months(first, step * months), shift_months(first, (step + 1) * months)


def month(text: str, now: datetime) -> tuple[datetime, datetime] | None:
    """`June 2025`; without a year the latest June that has begun. None where `text` names no month alone."""
    match = _MONTH.fullmatch(text)
    if not match:
        return None
    number = int(match[3]) if match[3] else _MONTHS.index(match[1][:3]) + 1
    year = int(match[2] or match[4] or 0) or now.year - (number > now.month)
    first = datetime(year, number, 1)
    return first, shift_months(first, 1)


def shift_months(moment: datetime, months: int) -> datetime:
    """The first-of-month `moment` so many months on."""
    index = moment.year * 12 + moment.month - 1 + months
    return moment.replace(year=index // 12, month=index % 12 + 1)


def _weekday(relation: str, name: str, today: date) -> date:
    index = next(i for i, full in enumerate(_WEEKDAYS) if full.startswith(name[:3]))
    monday = today - timedelta(days=today.weekday())
    weeks = {"previous-week": -1, "this-week": 0, "this": 0, "following-week": 1}
    if relation in weeks:
        return monday + timedelta(days=index + 7 * weeks[relation])
    back = (today.weekday() - index) % 7
    if relation in ("next", "coming"):
        return today + timedelta(days=7 - back)
    return today - timedelta(days=back or (7 if relation else 0))


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _tidy(text: str) -> str:
    return " ".join(text.replace(" at ", " ").split()).strip(" ,")
