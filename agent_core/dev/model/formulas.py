"""The whole formula around arithmetic that was read in part: no part is ever answered for the whole."""

import re
from collections.abc import Callable

from agent_core.dev.model.found import CJK
from agent_core.dev.model.numbers import PLAIN

_REACH = 160  # characters looked at on either side
_MAX_STEPS = 24

_NAME = "[A-Za-z_\u0370-\u03ff][A-Za-z0-9_\u0370-\u03ff]*"
_MARKS = "√∛∑∏∫"
_CALL = rf"(?:{_NAME}|[{_MARKS}])?\([^()\n]{{0,80}}\)"
_COUNT = rf"(?:{PLAIN})(?:[!°²³]|[ ]?{_NAME})?"
_OPERATOR = r"\*\*|[-+*/^×÷·−–]"
_WORD_OPERATOR = r"(?:times|plus|minus|multiplied by|divided by|mod|to the power of)\b|乘以|除以|加上|减去"

_HAN_NAME = rf"[{CJK}]{{1,20}}(?![ \t]*[-−–])"
_BEFORE = re.compile(
    rf"(?:{_CALL}|{_COUNT}|{_NAME}|{_HAN_NAME}|\0)"
    rf"(?:(?P<gap>[ \t]*)(?:{_OPERATOR})(?P<after>[ \t]*)|[ \t]*(?:{_WORD_OPERATOR})[ \t]*)$"
)
_AFTER = re.compile(
    rf"(?:[ ]?{_NAME}(?=[ \t]*(?:{_OPERATOR})[ \t]*[0-9(]))?"
    rf"(?:(?P<gap>[ \t]*)(?P<by>{_OPERATOR})(?P<after>[ \t]*)|[ \t]*(?:{_WORD_OPERATOR})[ \t]*)"
    rf"(?P<atom>{_CALL}|{_COUNT}|{_NAME}|\0)"
)
_BINARY_MINUS = re.compile(rf"(?:{_CALL}|{_COUNT}|(?<![A-Za-z0-9_])[A-Za-z])[ \t]+$")
_ATTACHED_BEFORE = re.compile(rf"(?:{_NAME}|[0-9.]+|[{_MARKS}]|\))$")
_ATTACHED_AFTER = re.compile(rf"[A-Za-z0-9_\u0370-\u03ff²³⁰⁴-⁹°]+|{_CALL}")

Span = tuple[int, int]


def whole(text: str, start: int, end: int) -> tuple[Span, bool]:
    """What text[start:end], which can be computed, is part of; the same where it stands alone.

    False with it where it is part of something whose end cannot be told.
    """
    grown, clear = _grown(text, (start, end))
    brackets = _brackets_around(text, grown) if clear else None
    if brackets is None:
        return grown, clear
    outer, clear = _grown(text, brackets)
    return (grown, True) if outer == brackets else (outer, clear)


def _grown(text: str, span: Span) -> tuple[Span, bool]:
    for _ in range(_MAX_STEPS):
        start, end = span
        if "|" in (text[start - 1 : start], text[end : end + 1]) or "\0" in text[start:end]:
            return span, False
        wider = next((found for step in _STEPS if (found := step(text, start, end)) is not None), None)
        if wider is None:
            return span, True
        span = wider
    return span, False


def _to_the_left(text: str, start: int, end: int) -> Span | None:
    """An operand and its operator; a word with a blank on one side of the operator only is none."""
    lead = text[max(0, start - _REACH) : start]
    found = _BEFORE.search(lead)
    if found is None or bool(found["gap"]) != bool(found["after"]):
        return None
    return start - len(lead) + found.start(), end


def _minus_before(text: str, start: int, end: int) -> Span | None:
    """`x - 2 * 3`: what was read as a sign is none."""
    found = _BINARY_MINUS.search(text, max(0, start - _REACH), start)
    return (found.start(), end) if found and re.match(r"[-−–][ \t]", text[start:end]) else None


def _to_the_right(text: str, start: int, end: int) -> Span | None:
    """An operator and its operand; ` - thanks` is no subtraction, and `3 times faster` no product."""
    found = _AFTER.match(text, end, end + _REACH)
    if found is None or bool(found["gap"]) != bool(found["after"]):
        return None
    is_word = re.fullmatch(r"[A-Za-z]{2,}", found["atom"]) is not None
    dash_or_word = found["by"] is None or (found["by"] in "-–" and bool(found["gap"]))
    return None if is_word and dash_or_word else (start, found.end())


def _attached_before(text: str, start: int, end: int) -> Span | None:
    """`sinh(2 + 3)`, `2(3 + 4)`."""
    before = text[max(0, start - _REACH) : start]
    opened = text[start : start + 1] == "("
    found = _ATTACHED_BEFORE.search(before) if opened or before[-1:] in tuple(_MARKS) else None
    if found is None:
        return None
    at = start - len(before) + found.start()
    return (_opening(text, at + 1) if found.group() == ")" else at), end


def _attached_after(text: str, start: int, end: int) -> Span | None:
    """`2 + 3x`, `2 + 3²`, `(2 + 3)(4 + 5)`."""
    found = _ATTACHED_AFTER.match(text, end, end + _REACH)
    return (start, found.end()) if found else None


def _call_around(text: str, start: int, end: int) -> Span | None:
    """`gcd(2 + 3, 4)`: an argument alone is not what was asked."""
    brackets = _brackets_around(text, (start, end))
    if brackets is None:
        return None
    name = re.search(rf"(?:{_NAME}|[{_MARKS}])$", text[max(0, brackets[0] - _REACH) : brackets[0]])
    return (brackets[0] - len(name.group()), brackets[1]) if name else None


def _brackets_around(text: str, span: Span) -> Span | None:
    opening, closing = _opening(text, span[0]), _closing(text, span[1])
    return None if opening == span[0] or closing == span[1] else (opening, closing)


def _opening(text: str, at: int) -> int:
    """Where the bracket opens that is still open at `at`; `at` where there is none near."""
    depth = 0
    for index in range(at - 1, max(-1, at - _REACH), -1):
        depth += (text[index] == ")") - (text[index] == "(")
        if depth < 0 or text[index] == "\n":
            return index if depth < 0 else at
    return at


def _closing(text: str, at: int) -> int:
    depth = 0
    for index in range(at, min(len(text), at + _REACH)):
        depth += (text[index] == "(") - (text[index] == ")")
        if depth < 0 or text[index] == "\n":
            return index + 1 if depth < 0 else at
    return at


_STEPS: tuple[Callable[[str, int, int], Span | None], ...] = (
    _attached_after, _to_the_right, _attached_before, _to_the_left, _minus_before, _call_around,
)  # fmt: skip
