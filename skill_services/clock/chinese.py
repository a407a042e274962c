"""Chinese expressions of time, rewritten to the English ones that `resolve` reads: 昨天下午3点 -> yesterday 15:00."""

import re
from collections.abc import Callable
from typing import Final

_DIGITS: Final = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "日": 7, "天": 7}
_NUMERAL: Final = re.compile(
    r"[零〇一二两三四五六七八九十百]+(?=\s*(?:秒|分|刻|小时|钟头|点|时|天|日|号|周|星期|礼拜|个|月|年|倍|半))"
)
_UNITS: Final = {
    "秒": "second",
    "秒钟": "second",
    "分": "minute",
    "分钟": "minute",
    "小时": "hour",
    "钟头": "hour",
    "天": "day",
    "日": "day",
    "周": "week",
    "星期": "week",
    "礼拜": "week",
    "月": "month",
    "年": "year",
}
_UNIT: Final = "(秒钟|秒|分钟|分|小时|钟头|天|日|周|星期|礼拜|月|年)"
_DAYS: Final = (
    ("大前天", "3 days ago"),
    ("前天", "day before yesterday"),
    ("昨天", "yesterday"),
    ("昨日", "yesterday"),
    ("大后天", "in 3 days"),
    ("后天", "day after tomorrow"),
    ("明天", "tomorrow"),
    ("明日", "tomorrow"),
    ("今天", "today"),
    ("今日", "today"),
    ("当天", "today"),
    ("昨晚", "yesterday 晚上"),
    ("今晚", "today 晚上"),
    ("明晚", "tomorrow 晚上"),
    ("今早", "today 早上"),
    ("明早", "tomorrow 早上"),
    ("昨夜", "yesterday 晚上"),
    ("今晨", "today 早上"),
    ("现在", "now"),
    ("此刻", "now"),
    ("目前", "now"),
    ("刚才", "a few minutes ago"),
    ("刚刚", "a few minutes ago"),
)
_PARTS: Final = {
    "凌晨": "early morning",
    "清晨": "morning",
    "早上": "morning",
    "早晨": "morning",
    "上午": "morning",
    "中午": "noon",
    "下午": "afternoon",
    "午后": "afternoon",
    "傍晚": "evening",
    "晚上": "evening",
    "夜里": "night",
    "深夜": "night",
    "半夜": "night",
    "午夜": "midnight",
}
_PART: Final = "|".join(_PARTS)
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MINUTES: Final = {"半": 30, "一刻": 15, "1刻": 15, "三刻": 45, "3刻": 45, "整": 0, "钟": 0}


def to_english(text: str) -> str:
    """The same expression in English words; text without Chinese passes unchanged."""
    if text.isascii():
        return text
    text = text.replace("：", ":").replace("，", " ").replace("。", "").replace("～", "到").replace("的", "")
    text = _NUMERAL.sub(lambda m: str(_number(m[0])), text)
    for pattern, replace in _RULES:
        text = pattern.sub(replace, text)
    return " ".join(text.split())


def _number(numeral: str) -> int:
    """一 to 九百九十九."""
    total, digit = 0, 0
    for character in numeral:
        if character in "十百":
            total += (digit or 1) * (10 if character == "十" else 100)
            digit = 0
        else:
            digit = digit * 10 + _DIGITS[character]
    return total + digit


def _clock(match: re.Match[str]) -> str:
    """A part of the day and an hour to 24-hour time."""
    part, hour, minute = match[1] or "", int(match[2]), match[3] or "0"
    minutes = _MINUTES.get(minute, int(minute.rstrip("分")) if minute.rstrip("分").isdigit() else 0)
    afternoon = part in ("下午", "午后", "傍晚", "晚上", "夜里", "深夜") or (part == "中午" and hour < 11)
    if afternoon and hour < 12 and not (part in ("夜里", "深夜") and hour < 6):
        hour += 12
    elif hour == 12 and part in ("凌晨", "半夜", "午夜", "晚上"):
        hour = 0 if part != "晚上" else 24
    # without a part of the day 5点 may be the afternoon's: written 5:00, not 05:00
    return f" {hour:02}:{minutes:02} " if part else f" {hour}:{minutes:02} "


def _span(before: str, after: str) -> Callable[[re.Match[str]], str]:
    return lambda m: f" {before}{_amount(m[1])} {_UNITS[m[2]]}s{after} "


def _constant(english: str) -> Callable[[re.Match[str]], str]:
    return lambda _: f" {english} "


def _amount(text: str) -> str:
    return "a few" if text in ("几", "数", "若干", "好几") else text


def _half(match: re.Match[str]) -> str:
    return f"{int(match[1] or 0) * 60 + 30}分钟"


def _weekday(match: re.Match[str]) -> str:
    which = {"上": "previous-week", "上个": "previous-week", "下": "following-week", "下个": "following-week"}
    relation = which.get(match[1] or "", "this-week" if match[1] else "")
    day = match[2]
    index = (int(day) if day.isdigit() else _DIGITS[day]) - 1
    return f" {relation} {_WEEKDAYS[index]} "


_RULES: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...]] = (
    (re.compile(r"(\d{4})年(\d{1,2})月(\d{1,2})[日号]?"), lambda m: f" {m[1]}-{int(m[2]):02}-{int(m[3]):02} "),
    (re.compile(r"(?<!\d)(\d{1,2})月(\d{1,2})[日号]"), lambda m: f" month-day {int(m[1]):02}-{int(m[2]):02} "),
    (re.compile(r"(\d{4})年(\d{1,2})月(?:份)?(?!\d)"), lambda m: f" whole-month {int(m[2]):02} {m[1]} "),
    (re.compile(r"(?<!\d)(\d{1,2})月(?:份)?$"), lambda m: f" whole-month {int(m[1]):02} "),
    (re.compile(r"(\d+)?个?半(?:个)?(?:小时|钟头)"), _half),
    (re.compile(r"(\d+)刻钟"), lambda m: f"{int(m[1]) * 15}分钟"),
    (re.compile(rf"(\d+(?:\.\d+)?|好几|几|数|若干)\s*个?{_UNIT}(?:钟)?(?:之前|以前|前)"), _span("", " ago")),
    (re.compile(rf"(\d+(?:\.\d+)?|好几|几|数|若干)\s*个?{_UNIT}(?:钟)?(?:之后|以后|后)"), _span("in ", "")),
    (
        re.compile(rf"(?:过去|最近|近|前|上)\s*(\d+(?:\.\d+)?|好几|几|数|若干)\s*个?{_UNIT}(?:钟)?(?:内|以来|里)?"),
        _span("last ", ""),
    ),
    (
        re.compile(rf"(?:未来|接下来|今后)\s*(\d+(?:\.\d+)?|好几|几|数|若干)\s*个?{_UNIT}(?:钟)?(?:内|里)?"),
        _span("next ", ""),
    ),
    (re.compile(r"(上个?|下个?|这个?|本)?(?:周|星期|礼拜)([一二三四五六日天1-7])"), _weekday),
    *((re.compile(word), _constant(english)) for word, english in _DAYS),
    (re.compile(rf"(?:上|前)一?1?个?{_UNIT}"), lambda m: f" last {_UNITS[m[1]]} "),
    (re.compile(r"(?:这|本|今)1?个?(小时|周|星期|礼拜|月|年)"), lambda m: f" this {_UNITS[m[1]]} "),
    (re.compile(r"下1?个?(小时|周|星期|礼拜|月|年)"), lambda m: f" next {_UNITS[m[1]]} "),
    (re.compile(r"去年"), lambda _: " last year "),
    (re.compile(r"明年"), lambda _: " next year "),
    (
        re.compile(rf"({_PART})?\s*(?<![\d:.-])(\d{{1,2}})\s*(?:点|时)\s*(半|[一1三3]刻|整|钟|\d{{1,2}}分?)?(?:钟)?"),
        _clock,
    ),
    (re.compile(rf"({_PART})\s*(\d{{1,2}}):(\d{{2}})"), _clock),
    (re.compile(rf"({_PART})"), lambda m: f" {_PARTS[m[1]]} "),
    (re.compile(r"自从|自|从"), lambda _: " from "),
    (re.compile(r"到现在|至今|以来|开始"), lambda _: " to now "),
    (re.compile(r"到|至"), lambda _: " to "),
    (re.compile(r"之间"), lambda _: " "),
)
