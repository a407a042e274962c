"""Searching entries by time, level and keyword over files, keeping the latest that match."""

import heapq
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Final

from skill_services.logs.directory import LogDirectory, LogFile
from skill_services.logs.entries import Entry, read_entries
from skill_services.logs.failures import LogsError
from skill_services.logs.levels import Level
from skill_services.logs.lines import Budget, read_lines
from skill_services.logs.timestamps import TimestampReader

_BEFORE_ALL: Final = datetime.min.replace(tzinfo=UTC)
_CLOCK_SLACK: Final = 300.0  # seconds by which a file's time of change may lag behind its last entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """`start` is inclusive, `end` exclusive; `level` is the least grave that counts; `keyword` ignores case."""

    start: datetime | None = None
    end: datetime | None = None
    level: Level | None = None
    keyword: str = ""
    file: str = ""
    limit: int = 50

    def __post_init__(self) -> None:
        if self.start and self.end and self.start >= self.end:
            raise LogsError("The search ends before it starts; give the earlier time as start.")


@dataclass(frozen=True, slots=True)
class Found:
    """`entries` in order of time, the latest `limit` of `matched`; `notes` say what was left out or unclear."""

    entries: tuple[Entry, ...]
    matched: int
    files: tuple[str, ...]
    notes: tuple[str, ...]
    truncated: bool


def search(directory: LogDirectory, query: Query, times: TimestampReader, budget: Budget) -> Found:
    """Raises LogsError where no file can be searched."""
    files, more = directory.matching(query.file)
    keeper = _Keeper(query)
    searched: list[str] = []
    for file in files:
        if budget.stopped:
            break
        if query.start is None or file.modified >= query.start.timestamp() - _CLOCK_SLACK:
            searched += _search_file(file, keeper, times, budget, only=len(files) == 1)
    notes = [*budget.notes, *keeper.notes()]
    if budget.stopped:
        notes.append(f"The search stopped at {budget.stopped}: give a shorter time range, one file, or a keyword.")
    if more:
        notes.append("There are more files than are looked at; name one by `file`.")
    truncated = bool(budget.stopped or more or budget.notes) or keeper.matched > query.limit
    return Found(keeper.entries(), keeper.matched, tuple(searched), tuple(notes), truncated)


def _search_file(
    file: LogFile, keeper: "_Keeper", times: TimestampReader, budget: Budget, *, only: bool
) -> tuple[str, ...]:
    try:
        for entry in read_entries(file.name, read_lines(file, budget), times):
            keeper.take(entry)
    except LogsError as error:
        if only:
            raise
        budget.notes.append(str(error))
        return ()
    return (file.name,)


class _Keeper:
    """The latest entries that match, at most `limit` of them in memory."""

    def __init__(self, query: Query) -> None:
        self._query = query
        self._keyword = query.keyword.casefold()
        self._heap: list[tuple[datetime, int, Entry]] = []
        self._order = count()
        self._untimed = 0
        self.matched = 0

    def take(self, entry: Entry) -> None:
        query = self._query
        if entry.time is not None and (
            (query.start and entry.time < query.start) or (query.end and entry.time >= query.end)
        ):
            return
        if self._keyword and self._keyword not in entry.text.casefold():
            return
        if query.level is not None:
            level = entry.level
            if level is None or level.rank < query.level.rank:
                return
        if entry.time is None and (query.start or query.end):
            self._untimed += 1
            return
        self.matched += 1
        item = (entry.time or _BEFORE_ALL, next(self._order), entry)
        if len(self._heap) < query.limit:
            heapq.heappush(self._heap, item)
        else:
            heapq.heappushpop(self._heap, item)

    def entries(self) -> tuple[Entry, ...]:
        return tuple(entry for _, _, entry in sorted(self._heap))

    def notes(self) -> list[str]:
        notes = []
        if self.matched > self._query.limit:
            left = self.matched - self._query.limit
            notes.append(f"{left} earlier entries that match are left out: raise `limit`, or narrow the search.")
        if self._untimed:
            notes.append(f"{self._untimed} entries without a time are left out, as they may lie outside the range.")
        return notes
