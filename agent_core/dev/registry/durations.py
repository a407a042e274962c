"""Go's durations, which Consul's API is written in: `1m30s`, `500ms`. https://pkg.go.dev/time#ParseDuration."""

import re
from typing import Final

_UNITS: Final = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)")
_MAX_CHARS: Final = 64
_NANOSECONDS: Final = 1_000_000_000


def parse_duration(text: str) -> float:
    """Seconds. Raises ValueError with Go's sentence where the text is no duration."""
    sign, rest = (-1.0, text[1:]) if text.startswith("-") else (1.0, text.removeprefix("+"))
    if rest == "0":
        return 0.0
    total, position = 0.0, 0
    while position < len(rest) <= _MAX_CHARS:
        part = _PART.match(rest, position)
        if part is None:
            break
        total += float(part[1]) * _UNITS[part[2]]
        position = part.end()
    if not rest or position != len(rest):
        raise ValueError(f'time: invalid duration "{text[:_MAX_CHARS]}"')
    return sign * total


def read_duration(value: object) -> float:
    """Seconds from a JSON value: text as above, or a number of nanoseconds. Raises ValueError."""
    match value:
        case None | "":
            return 0.0
        case str():
            return parse_duration(value)
        case bool():
            raise ValueError(f"time: invalid duration {value!r}")
        case int() | float():
            return value / _NANOSECONDS
        case _:
            raise ValueError(f"time: invalid duration of type {type(value).__name__}")


def nanoseconds(seconds: float) -> int:
    return round(seconds * _NANOSECONDS)
