"""Dates, times of day and relative times in a text, in English and Chinese, resolved against a given `now`."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta

from agent_core.dev.model import numbers

_MONTH_NAMES = "january february march april may june july august september october november december"
_MONTHS = _MONTH_NAMES.split()
_WEEKDAY_NAMES = "monday tuesday wednesday thursday friday saturday sunday"
_WEEKDAYS = _WEEKDAY_NAMES.split()
_MONTH = "|".join(f"{m}|{m[:3]}" if m != "may" else m for m in _MONTHS) + "|sept"
_WEEKDAY = "|".join(_WEEKDAYS)
_HAN_WEEKDAYS = "一二三四五六日"

_FLAGS = re.IGNORECASE | re.ASCII  # ASCII: a Chinese character beside a digit is a word boundary
_UNIT_SECONDS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
_UNIT_ALIASES = {
    "sec": "second", "min": "minute", "hr": "hour", "秒": "second", "分": "minute", "小时": "hour", "钟头": "hour",
    "天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year",
}  # fmt: skip
# Bounded throughout, so that no text takes long: `{0,3}` blanks, numbers of a few digits.
_DIGITS = r"(?<![0-9.])[0-9]{1,12}(?:\.[0-9]{1,6})?"
_N = rf"(?:half an?|an?|{_DIGITS}|{numbers.ENGLISH})"
_N_ZH = rf"(?:半|{_DIGITS}|(?<![{numbers.HAN}])[{numbers.HAN}]{{1,8}})"
_UNIT = r"(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?)"
_UNIT_ZH = r"(?:秒钟?|分钟|个?小时|个?钟头|天|日|个?星期|个?礼拜|周|个月|月|年)"

_AGO = re.compile(
    rf"\b(?P<n>{_N})\s{{0,3}}(?P<unit>{_UNIT})\s{{1,3}}(?:ago|earlier)\b"
    rf"|(?P<n2>{_N_ZH})\s{{0,3}}(?P<unit2>{_UNIT_ZH})(?:之前|以前|前)",
    _FLAGS,
)
_AHEAD = re.compile(
    rf"\bin\s{{1,3}}(?P<n>{_N})\s{{0,3}}(?P<unit>{_UNIT})\b|\b(?P<n3>{_N})\s{{0,3}}(?P<unit3>{_UNIT})"
    rf"\s{{1,3}}(?:from now|later|ahead)\b"
    rf"|(?P<n2>{_N_ZH})\s{{0,3}}(?P<unit2>{_UNIT_ZH})(?:之后|以后|后)",
    _FLAGS,
)
_WINDOW = re.compile(
    rf"\b(?:in |over |for |within )?(?:the )?(?:last|past|previous)\s{{1,3}}"
    rf"(?:(?P<n>{_N})\s{{0,3}})?(?P<unit>{_UNIT})\b"
    rf"|(?:最近|过去|近)的?\s{{0,3}}(?P<n2>{_N_ZH})\s{{0,3}}(?P<unit2>{_UNIT_ZH})",
    _FLAGS,
)
_DURATION = re.compile(
    rf"\b(?P<n>{_N})[\s-]{{0,3}}(?P<unit>{_UNIT})\b|(?P<n2>{_N_ZH})\s{{0,3}}(?P<unit2>{_UNIT_ZH})", _FLAGS
)
_ISO_DATE = re.compile(r"(?<![\w.])(?P<y>[0-9]{4})[-/.](?P<m>[0-9]{1,2})[-/.](?P<d>[0-9]{1,2})(?!\.?[0-9])", _FLAGS)
_HAN_DATE = re.compile(r"(?:(?P<y>[0-9]{4})年)?(?P<m>[0-9]{1,2})月(?P<d>[0-9]{1,2})[日号]")
_MONTH_FIRST = re.compile(
    rf"\b(?P<month>{_MONTH})\.?\s{{1,3}}(?P<d>[0-9]{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s{{1,3}}(?P<y>[0-9]{{4}})\b)?",
    _FLAGS,
)
_DAY_FIRST = re.compile(
    rf"\b(?P<d>[0-9]{{1,2}})(?:st|nd|rd|th)?\s{{1,3}}(?:of\s{{1,3}})?(?P<month>{_MONTH})\b\.?(?:,?\s{{1,3}}(?P<y>[0-9]{{4}})\b)?",
    _FLAGS,
)
_NAMED_DAYS = {
    "day after tomorrow": 2, "day before yesterday": -2, "this morning": 0, "this afternoon": 0, "this evening": 0,
    "tomorrow": 1, "yesterday": -1, "today": 0, "tonight": 0,
    "大后天": 3, "后天": 2, "前天": -2, "明天": 1, "明日": 1, "明早": 1, "明晚": 1, "昨天": -1, "昨日": -1, "昨晚": -1,
    "今天": 0, "今日": 0, "今晚": 0, "今早": 0,
}  # fmt: skip
_NAMED_DAY = re.compile(rf"(?:\bthe )?\b(?:{'|'.join(d for d in _NAMED_DAYS if d.isascii())})\b"
                        rf"|{'|'.join(d for d in _NAMED_DAYS if not d.isascii())}", _FLAGS)  # fmt: skip
_WEEKDAY_NAME = re.compile(
    rf"\b(?:(?P<which>next|last|this|coming)\s{{1,3}})?(?P<en>{_WEEKDAY})\b"
    rf"|(?P<which2>下个?|上个?|这个?|本)?(?:周|星期|礼拜)(?P<zh>[{_HAN_WEEKDAYS}天])",
    _FLAGS,
)
_CLOCK = re.compile(
    r"(?:(?<![\w:.])|(?<=[0-9]T))(?P<h>[0-9]{1,2}):(?P<min>[0-9]{2})(?::(?P<s>[0-9]{2})(?:\.[0-9]+)?)?(?:\s?(?P<ap>[ap])\.?m\b\.?)?"
    r"(?P<zone>\s?(?:Z\b|UTC\b|GMT\b|[+-][0-9]{2}:?[0-9]{2}(?![0-9])))?(?![\d:])"
    r"|(?<![\w:.])(?P<h2>[0-9]{1,2})\s?(?:(?P<ap2>[ap])\.?m\b\.?|(?P<oclock>o'clock))"
    r"|\b(?P<word>noon|midday|midnight)\b",
    _FLAGS,
)
_HAN_CLOCK = re.compile(
    r"(?P<part>凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里)?\s{0,3}(?P<h>[0-9]{1,2}|[一二两三四五六七八九十]{1,3})[点时]"
    r"(?:钟|整|(?P<half>半)|(?P<quarter>一刻)|(?P<min>[0-9]{1,2}|[一二三四五六七八九十]{1,3})分?)?(?!间)"
)
_NOW = re.compile(r"\b(?:right now|now|currently)\b|现在|此刻|当前|目前", _FLAGS)
_LEAD = re.compile(r"^(?:(?:in|over|for|within) )?(?:the )?(?=last|past|previous)", _FLAGS)
_JOINT = re.compile(r"(?:\s{0,3},?\s{0,3}(?:at|on)?\s{0,3}|T|的)", _FLAGS)


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time named by text[start:end]. `at` is aware; None where it lies outside the calendar.

    `day`, `clock`: whether the text gives the date, the time of day. `window`: the text names the span from `at`
    until now. `present`: the text says just `now`. `borrowed`: it shares
    one date with its neighbour, as in `10:00 to 11:00 today`. `relative`: only `now` gives it a date. `since`: the
    beginning of a window in words.
    """

    text: str
    start: int
    end: int
    at: datetime | None
    day: bool = True
    clock: bool = True
    window: bool = False
    present: bool = False
    borrowed: bool = False
    relative: bool = False
    since: str = ""


@dataclass(frozen=True, slots=True)
class Duration:
    seconds: float
    start: int
    end: int


def find(text: str, now: datetime) -> list[Moment]:
    """The moments of `text` in order, a date and a time of day side by side as one."""
    found: list[Moment] = []
    for pattern, read in _READERS:
        for match in pattern.finditer(text):
            if any(match.start() < m.end and m.start < match.end() for m in found):
                continue
            moment = read(match, now)
            if moment is not None:
                found.append(moment)
    found.sort(key=lambda m: m.start)
    return _joined(text, found, now)


def find_durations(text: str) -> list[Duration]:
    """`30 minutes`, `two hours`, `半小时`; months and years are 30 and 365 days."""
    found = []
    for match in _DURATION.finditer(text):
        count, unit = _amount(match)
        if count is not None:
            found.append(Duration(count * _seconds(unit), match.start(), match.end()))
    return found


def _amount(match: re.Match[str]) -> tuple[float | None, str]:
    groups = match.groupdict()
    written = groups.get("n") or groups.get("n2") or groups.get("n3")
    unit = groups.get("unit") or groups.get("unit2") or groups.get("unit3") or ""
    unit = unit.lower().removeprefix("个").removesuffix("钟") if unit != "钟头" else unit
    unit = unit.removesuffix("s") or unit
    return (1.0 if written is None else _count(written.strip())), _UNIT_ALIASES.get(unit, unit)


def _count(written: str) -> float | None:
    low = written.lower()
    if low in ("a", "an"):
        return 1.0
    if low.startswith("half") or low == "半":
        return 0.5
    value = numbers.read(low)
    if value is None and re.fullmatch(numbers.CHINESE, low):
        value = numbers.chinese(low)
    if value is None:
        value = numbers.english(low) if low.isascii() and re.search("[a-z]", low) else None
    try:
        return None if value is None else float(value)
    except OverflowError:
        return None


def _seconds(unit: str) -> int:
    return _UNIT_SECONDS.get(unit) or {"month": 30, "year": 365}.get(unit, 1) * 86_400


def _shift(now: datetime, count: float, unit: str) -> datetime | None:
    try:
        if unit in ("month", "year") and count == int(count):
            months = now.year * 12 + now.month - 1 + int(count) * (12 if unit == "year" else 1)
            year, month = divmod(months, 12)
            last = (datetime(year + month // 11, (month + 1) % 12 + 1, 1, tzinfo=UTC) - timedelta(days=1)).day
            return now.replace(year=year, month=month + 1, day=min(now.day, last))
        return now + timedelta(seconds=count * _seconds(unit))
    except (OverflowError, ValueError):
        return None


def _relative(match: re.Match[str], now: datetime, sign: int, *, window: bool = False) -> Moment | None:
    count, unit = _amount(match)
    if count is None:
        return None
    at = _shift(now, sign * count, unit)
    text = _LEAD.sub("", match.group().strip())
    since = _as_ago(match) if window else text
    return Moment(text, match.start(), match.end(), at, window=window, relative=True, since=since)


def _as_ago(match: re.Match[str]) -> str:
    """Where a span that lasts until now begins: `last 30 minutes` -> 30 minutes ago."""
    if match["n2"]:
        return f"{match['n2']}{match['unit2']}前"
    return f"{match['n'] or 1} {match['unit']} ago"


def _named_date(match: re.Match[str], now: datetime) -> Moment | None:
    groups = match.groupdict()
    month = groups.get("m")
    number = int(month) if month else [m[:3] for m in _MONTHS].index(groups["month"].lower()[:3]) + 1
    return _dated(match, lambda: date(int(groups["y"] or now.year), number, int(groups["d"])))


def _named_day(match: re.Match[str], now: datetime) -> Moment | None:
    days = _NAMED_DAYS[match.group().lower().removeprefix("the ")]
    return _dated(match, lambda: now.date() + timedelta(days=days), relative=True)


def _weekday(match: re.Match[str], now: datetime) -> Moment | None:
    groups = match.groupdict()
    if groups["en"]:
        ahead = (_WEEKDAYS.index(groups["en"].lower()) - now.weekday()) % 7
        ahead += -7 if (groups["which"] or "").lower() == "last" else 0
        ahead += 7 if (groups["which"] or "").lower() == "next" and ahead == 0 else 0
    else:
        day = _HAN_WEEKDAYS.index("日" if groups["zh"] == "天" else groups["zh"])
        which = (groups["which2"] or "")[:1]
        ahead = day - now.weekday() + {"下": 7, "上": -7}.get(which, 0)
        ahead += 7 if not which and ahead < 0 else 0
    return _dated(match, lambda: now.date() + timedelta(days=ahead), relative=True)


def _dated(match: re.Match[str], make: Callable[[], date], *, relative: bool = False) -> Moment | None:
    try:
        at = datetime.combine(make(), time(), UTC)
    except (ValueError, OverflowError):
        return None
    return Moment(match.group().strip(), match.start(), match.end(), at, clock=False, relative=relative)


def _clock(match: re.Match[str], now: datetime) -> Moment | None:
    groups = match.groupdict()
    word = (groups["word"] or "").lower()
    if word:
        return _timed(match, now, 0 if word == "midnight" else 12, 0)
    hour = int(groups["h"] or groups["h2"])
    half = (groups["ap"] or groups["ap2"] or "").lower()
    if half and not 1 <= hour <= 12:
        return None
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    moment = _timed(match, now, hour, int(groups["min"] or 0), int(groups["s"] or 0))
    offset = re.search(r"([+-])([0-9]{2}):?([0-9]{2})$", groups["zone"] or "")
    if moment is None or moment.at is None or not offset:
        return moment
    shift = timedelta(hours=int(offset.group(2)), minutes=int(offset.group(3)))
    return replace(moment, at=moment.at - shift if offset.group(1) == "+" else moment.at + shift)


def _han_clock(match: re.Match[str], now: datetime) -> Moment | None:
    groups = match.groupdict()
    hour, minute = (_count(groups[k] or "0") for k in ("h", "min"))
    if hour is None or minute is None:
        return None
    if groups["part"] in ("下午", "傍晚", "晚上", "夜里") and hour < 12:
        hour += 12
    if groups["part"] == "中午" and hour < 3:
        hour += 12
    return _timed(match, now, int(hour), 30 if groups["half"] else 15 if groups["quarter"] else int(minute))


def _timed(match: re.Match[str], now: datetime, hour: int, minute: int, second: int = 0) -> Moment | None:
    try:
        at = datetime.combine(now.date(), time(hour % 24 if hour == 24 else hour, minute, second), UTC)
    except ValueError:
        return None
    return Moment(match.group().strip(), match.start(), match.end(), at, day=False)


def _present(match: re.Match[str], now: datetime) -> Moment:
    return Moment(match.group(), match.start(), match.end(), now, present=True)


def _joined(text: str, moments: list[Moment], now: datetime) -> list[Moment]:
    joined: list[Moment] = []
    for moment in moments:
        last = joined[-1] if joined else None
        if last and _one_moment(last, moment) and _JOINT.fullmatch(text, last.end, moment.start):
            joined[-1] = _both(text, last, moment, now)
        else:
            joined.append(moment)
    return _sharing(joined, now)


def _sharing(moments: list[Moment], now: datetime) -> list[Moment]:
    """A time of day without a date means the day of the first moment that names both."""
    dated = next((m for m in moments if m.day and m.clock and m.at and not (m.window or m.present)), None)
    if dated is None or dated.at is None or all(m.day for m in moments):
        return moments
    shift = dated.at.date() - now.date()
    return [
        replace(m, at=m.at + shift, day=True, borrowed=True) if m.at and not m.day else replace(m, borrowed=m is dated)
        for m in moments
    ]


def _one_moment(first: Moment, second: Moment) -> bool:
    return first.day != second.day and first.clock != second.clock


def _both(text: str, first: Moment, second: Moment, now: datetime) -> Moment:
    dated, timed = (first, second) if first.day else (second, first)
    at = None
    if dated.at and timed.at:
        at = dated.at + (timed.at - datetime.combine(now.date(), time(), UTC))
    return Moment(text[first.start : second.end].strip(), first.start, second.end, at, relative=dated.relative)


_READERS = (
    (_ISO_DATE, _named_date),
    (_HAN_DATE, _named_date),
    (_MONTH_FIRST, _named_date),
    (_DAY_FIRST, _named_date),
    (_AGO, lambda match, now: _relative(match, now, -1)),
    (_WINDOW, lambda match, now: _relative(match, now, -1, window=True)),
    (_AHEAD, lambda match, now: _relative(match, now, 1)),
    (_CLOCK, _clock),
    (_HAN_CLOCK, _han_clock),
    (_NAMED_DAY, _named_day),
    (_WEEKDAY_NAME, _weekday),
    (_NOW, _present),
)
