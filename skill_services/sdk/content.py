"""What a skill may answer with beside a plain value: content parts, and a result that has several of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()
"""No structured value, as against the value None."""


@dataclass(frozen=True, slots=True)
class Text:
    """Text for the model."""

    text: str


@dataclass(frozen=True, slots=True)
class Json:
    """Any JSON-able value, as a part of its own."""

    value: object


@dataclass(frozen=True, slots=True)
class Blob:
    """An image or other binary; `mime_type` says what it is, such as `image/png`."""

    data: bytes
    mime_type: str = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class Link:
    """A link to something that is too large or too live to send."""

    uri: str
    name: str = ""
    mime_type: str = ""


Part = Text | Json | Blob | Link


@dataclass(frozen=True, slots=True)
class Output:
    """A result with content parts, with flags, or with both.

    Where there are parts, the model reads those, and `structured` goes to callers and workflows; where there are
    none, the model reads `structured`. Set `truncated` where something was left out for size, and say so in the
    content, with how to get the rest.
    """

    parts: Sequence[Part] = ()
    structured: object = field(default=ABSENT, kw_only=True)
    truncated: bool = field(default=False, kw_only=True)
