"""What an extractor finds in a text, and where."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

T_co = TypeVar("T_co", covariant=True)

CJK = "\u3400-\u4dbf\u4e00-\u9fff"
_CUE_CHARS = 80
_CJK = re.compile(f"[{CJK}]")


@dataclass(frozen=True, slots=True)
class Found(Generic[T_co]):
    """A value read from text[start:end]."""

    value: T_co
    start: int
    end: int


class Spanned(Protocol):
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


def fold(text: str) -> str:
    """Full-width forms as ASCII, character by character, so that positions stay those of `text`."""
    return "".join(_narrow(c) for c in text)


def _narrow(character: str) -> str:
    code = ord(character)
    if 0xFF01 <= code <= 0xFF5E:
        return chr(code - 0xFEE0)
    if code in (0x3000, 0xA0):
        return " "
    return "'" if code == 0x2019 else character


def blank(text: str, spans: Iterable[Spanned]) -> str:
    """`text` of the same length with the spans made unreadable for the next extractor."""
    for span in spans:
        text = text[: span.start] + "\0" * (span.end - span.start) + text[span.end :]
    return text


def before(text: str, at: int) -> str:
    """The few words that stand before a place: enough for any cue, and never the whole text again."""
    return text[max(0, at - _CUE_CHARS) : at]


def overlaps(one: Spanned, other: Spanned) -> bool:
    return one.start < other.end and other.start < one.end


def is_chinese(text: str) -> bool:
    """Whether an answer to `text` should be in Chinese."""
    return _CJK.search(text) is not None
