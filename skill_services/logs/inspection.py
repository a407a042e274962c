"""One log file at a glance."""

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from skill_services.logs.directory import LogFile
from skill_services.logs.entries import Entry, read_entries
from skill_services.logs.levels import Level
from skill_services.logs.lines import Budget, read_lines
from skill_services.logs.timestamps import TimestampReader

_LATEST_ERRORS: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """`size` is in bytes on disk; counts cover what was read, see `notes`. `levels` from the gravest."""

    file: str
    size: int
    modified: datetime
    lines: int
    entries: int
    first: datetime | None
    last: datetime | None
    levels: dict[str, int]
    errors: tuple[Entry, ...]
    notes: tuple[str, ...]
    truncated: bool


def inspect(file: LogFile, times: TimestampReader, budget: Budget) -> Inspection:
    """Raises LogsError for a binary or unreadable file."""
    lines = _Counted(read_lines(file, budget))
    levels: Counter[Level] = Counter()
    errors: deque[Entry] = deque(maxlen=_LATEST_ERRORS)
    first: datetime | None = None
    last: datetime | None = None
    entries = 0
    for entry in read_entries(file.name, lines, times):
        entries += 1
        if entry.time is not None:
            first = min(first or entry.time, entry.time)
            last = max(last or entry.time, entry.time)
        level = entry.level
        if level is not None:
            levels[level] += 1
            if level.rank >= Level.ERROR.rank:
                errors.append(entry)
    notes = list(budget.notes)
    if budget.stopped:
        notes.append(f"Reading stopped at {budget.stopped}; the counts cover what was read.")
    return Inspection(
        file=file.name,
        size=file.size,
        modified=datetime.fromtimestamp(file.modified, UTC),
        lines=lines.count,
        entries=entries,
        first=first,
        last=last,
        levels={str(level): levels[level] for level in reversed(Level) if levels[level]},
        errors=tuple(errors),
        notes=tuple(notes),
        truncated=bool(notes),
    )


class _Counted:
    """Passes lines on and counts them."""

    def __init__(self, lines: Iterator[tuple[int, str]]) -> None:
        self._lines = lines
        self.count = 0

    def __iter__(self) -> Iterator[tuple[int, str]]:
        for line in self._lines:
            self.count += 1
            yield line
