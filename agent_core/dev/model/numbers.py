"""Numbers in a text: digits (also grouped by commas), English number words, Chinese numerals."""

import math
import re

from agent_core.dev.model.found import Found, blank

Number = int | float

MAX_DIGITS = 300  # longer runs of digits are no number that anybody computes with

PLAIN = r"(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,3}(?![A-Za-z0-9]))?|\.[0-9]+"
HAN = "零〇一二两三四五六七八九十百千万亿"
CHINESE = f"[{HAN}]{{1,40}}(?:点[零〇一二三四五六七八九]{{1,20}})?"

_DIGITS = re.compile(rf"(?<![A-Za-z0-9_.])(?:(?<![\w)])[-−])?(?:{PLAIN})", re.ASCII)
_SCALE = re.compile(r"\s?([万亿])")
_CHINESE = re.compile(CHINESE)

_ONE_NAMES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TEN_NAMES = "twenty thirty forty fifty sixty seventy eighty ninety"
_ONES = {name: value for value, name in enumerate(_ONE_NAMES.split())}
_TENS = {name: value * 10 for value, name in enumerate(_TEN_NAMES.split(), 2)}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_WORD = "|".join([*_ONES, *_TENS, *_SCALES])
ENGLISH = rf"\b(?:{_WORD})(?:(?:[ -]| and )(?:{_WORD})){{0,10}}\b"
_ENGLISH = re.compile(ENGLISH, re.IGNORECASE | re.ASCII)

_HAN_DIGITS = dict(zip("零〇一二两三四五六七八九", (0, 0, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9), strict=True))
_HAN_UNITS = {"十": 10, "百": 100, "千": 1_000}
_HAN_SCALES = {"万": 10_000, "亿": 100_000_000}
# One numeral alone is a number only before a measure word, a unit or an operator: 一下, 统一 and 周一 are none.
_MEASURED = re.compile(
    r"个|只|份|张|件|位|台|条|块|本|次|遍|行|页|项|人|名|间|杯|斤|公|千|米|英|厘|毫|吨|升|克|秒|分|小时|点|天|周|月|年"
    r"|号|美元|元|欧|加|减|乘|除|和|与|到|至|的|度|$|[\s,.?!。、;]"
)
_NEVER_BEFORE = re.compile(r"(?:周|星期|礼拜|统|第|唯|同|万|之|其)$")


def find(text: str) -> list[Found[Number]]:
    """All numbers of `text` in order; a sign belongs to a number only where no operand precedes it."""
    found = _find_digits(text)
    rest = blank(text, found)
    for match in _ENGLISH.finditer(rest):
        value = english(match.group())
        if value is not None:
            found.append(Found(value, match.start(), match.end()))
    found += [f for f in (_read_chinese(rest, m) for m in _CHINESE.finditer(rest)) if f is not None]
    return sorted(found, key=lambda f: f.start)


def _find_digits(text: str) -> list[Found[Number]]:
    found: list[Found[Number]] = []
    for match in _DIGITS.finditer(text):
        value = read(match.group())
        if value is None:
            continue
        end = match.end()
        scale = _SCALE.match(text, end)
        if scale:
            value, end = value * _HAN_SCALES[scale.group(1)], scale.end()
            value = int(value) if value == int(value) else value
        found.append(Found(value, match.start(), end))
    return found


def read(text: str) -> Number | None:
    """The value of digits with commas, point or exponent; None where it is no finite, sensible number."""
    plain = text.replace(",", "").replace("−", "-")
    if len(plain) > MAX_DIGITS:
        return None
    if re.fullmatch(r"-?\d+", plain, re.ASCII):
        return int(plain)
    try:
        value = float(plain)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def english(text: str) -> int | None:
    """`two hundred and five` -> 205; None for words that make no number (`two three`)."""
    total, current, last = 0, 0, 10**12
    for word in re.findall(r"[a-z]+", text.lower()):
        if word == "and":
            continue
        if word in _SCALES:
            scale = _SCALES[word]
            current = max(current, 1) * scale
            if scale >= 1_000:
                total, current = total + current, 0
            last = scale if scale < 1_000 else 10**12
            continue
        value = _ONES.get(word, _TENS.get(word, 0))
        if value >= last:
            return None
        current, last = current + value, (10 if value >= 20 else 0)
    return total + current


def chinese(text: str) -> Number | None:
    """`一千二百` -> 1200, `二〇二六` -> 2026, `三点五` -> 3.5; None where the numerals make no number."""
    whole, _, fraction = text.partition("点")
    if not whole or len(whole) > 40:
        return None
    value: Number = _digit_by_digit(whole) if not re.search("[十百千万亿]", whole) else _positional(whole)
    if fraction:
        value = float(f"{value}.{''.join(str(_HAN_DIGITS[c]) for c in fraction)}")
    return value


def _digit_by_digit(numerals: str) -> int:
    return int("".join(str(_HAN_DIGITS[c]) for c in numerals))


def _positional(numerals: str) -> int:
    total = section = digit = 0
    for c in numerals:
        if c in _HAN_DIGITS:
            digit = _HAN_DIGITS[c]
        elif c in _HAN_UNITS:
            section += (digit or 1) * _HAN_UNITS[c]
            digit = 0
        else:
            total = (total + section + digit or 1) * _HAN_SCALES[c]
            section = digit = 0
    return total + section + digit


def _read_chinese(text: str, match: re.Match[str]) -> Found[Number] | None:
    numerals = match.group()
    if _NEVER_BEFORE.search(text[max(0, match.start() - 2) : match.start()]):
        return None
    if len(numerals) == 1 and not (numerals in _HAN_DIGITS or numerals == "十"):
        return None
    if len(numerals) == 1 and not _MEASURED.match(text, match.end()):
        return None
    value = chinese(numerals)
    return None if value is None else Found(value, match.start(), match.end())
