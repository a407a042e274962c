"""Log entries: a line with a time, and the lines without one that belong to it, such as a stack trace."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from skill_services.logs.levels import Level, level_of
from skill_services.logs.timestamps import TimestampReader

MAX_ENTRY_CHARS: Final = 8_000
_CONTINUED: Final = re.compile(
    r"\s|Traceback \(|Caused by:|\.\.\. \d+ more|at \S+\(|[}\])]|[\w.]+(?:Error|Exception|Warning)\b"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """`line` is the number of its first line; `time` is UTC, None where the log gives none."""

    file: str
    line: int
    time: datetime | None
    text: str

    @property
    def level(self) -> Level | None:
        """By its first line; looked for only when asked, as most entries of a search are passed over."""
        return level_of(self.text.split("\n", 1)[0])


def read_entries(file: str, lines: Iterable[tuple[int, str]], times: TimestampReader) -> Iterator[Entry]:
    """Groups lines to entries.

    A line without a time belongs to the entry before it where that has one, or where the line looks like the rest of
    something. Blank lines between entries belong to none.
    """
    first, moment, texts, size = 0, None, list[str](), 0
    for number, line in lines:
        time = times.read(line)
        if texts and time is None and (not line or moment is not None or _CONTINUED.match(line)):
            if size < MAX_ENTRY_CHARS:
                texts.append(line)
                size += len(line) + 1
            continue
        if texts:
            yield _entry(file, first, moment, texts)
        first, moment, texts, size = number, time, [line] if line else [], len(line)
    if texts:
        yield _entry(file, first, moment, texts)


def _entry(file: str, line: int, moment: datetime | None, texts: list[str]) -> Entry:
    text = "\n".join(texts).rstrip()
    if len(text) > MAX_ENTRY_CHARS:
        text = text[:MAX_ENTRY_CHARS] + " ...(entry cut)"
    return Entry(file, line, moment, text)
