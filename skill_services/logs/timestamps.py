"""The time at which a line was logged, in the formats that logs are written in."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final

_NAMES: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTHS: Final = {name: number for number, name in enumerate(_NAMES, start=1)}
_MONTH: Final = "|".join(_MONTHS)
_ISO: Final = re.compile(
    r"\W{0,3}(?:time(?:stamp)?=\"?)?(?:<\d{1,3}>\d? ?)?"
    r"(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?\s?(Z|UTC|[+-]\d\d:?\d\d)?"
)
_ACCESS: Final = re.compile(rf"(\d\d)/({_MONTH})/(\d{{4}}):(\d\d):(\d\d):(\d\d) ([+-]\d{{4}})")
_SYSLOG: Final = re.compile(
    rf"(?:<\d{{1,3}}>)?(?:[A-Z][a-z][a-z] )?({_MONTH}) ( ?\d|\d\d) (\d\d):(\d\d):(\d\d)(?:\.\d+)?(?: (\d{{4}}))?"
)
_GLOG: Final = re.compile(r"[IWEF](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{1,6})")
_EPOCH: Final = re.compile(r"\W{0,2}(1\d{9})(\d{3})?(?:\.(\d{1,9}))?\b")
_JSON: Final = re.compile(r"\"(?:time|ts|timestamp|@timestamp|datetime|date|asctime)\"\s*:\s*\"?([^\",}]{8,40})")
_WHERE: Final = 300  # characters at the start of a line in which an access log has its time


class TimestampReader:
    """Reads the time of a line. `zone` is meant where a line names none; `now` gives a missing year."""

    def __init__(self, zone: tzinfo, now: datetime) -> None:
        self._zone = zone
        self._now = now
        self._last: Callable[[str], datetime | None] = self._iso
        self._readers = (self._iso, self._json, self._access, self._syslog, self._glog, self._epoch)

    def read(self, line: str) -> datetime | None:
        """UTC; None where the line starts with no time. The format of the line before is tried first."""
        try:
            found = self._last(line)
            if found is not None:
                return found
            for reader in self._readers:
                found = reader(line)
                if found is not None:
                    self._last = reader
                    return found
        except (ValueError, OverflowError):
            return None  # 2025-02-31 is no time
        return None

    def _iso(self, line: str) -> datetime | None:
        match = _ISO.match(line)
        if match is None:
            return None
        year, month, day, hour, minute, second = map(int, match.groups()[:6])
        fraction = int((match[7] or "0")[:6].ljust(6, "0"))
        return self._utc(datetime(year, month, day, hour, minute, min(second, 59), fraction, _offset(match[8])))

    def _json(self, line: str) -> datetime | None:
        if not line.startswith("{"):
            return None
        match = _JSON.search(line)
        if match is None:
            return None
        return self._iso(match[1]) or self._epoch(match[1])

    def _access(self, line: str) -> datetime | None:
        match = _ACCESS.search(line, 0, _WHERE)
        if match is None:
            return None
        day, year, hour, minute, second = (int(match[i]) for i in (1, 3, 4, 5, 6))
        return self._utc(
            datetime(year, _MONTHS[match[2]], day, hour, minute, min(second, 59), tzinfo=_offset(match[7]))
        )

    def _syslog(self, line: str) -> datetime | None:
        match = _SYSLOG.match(line)
        if match is None:
            return None
        day, hour, minute, second = (int(match[i]) for i in (2, 3, 4, 5))
        return self._dated(match[6], _MONTHS[match[1]], day, (hour, minute, min(second, 59), 0))

    def _glog(self, line: str) -> datetime | None:
        match = _GLOG.match(line)
        if match is None:
            return None
        month, day, hour, minute, second = map(int, match.groups()[:5])
        return self._dated(None, month, day, (hour, minute, min(second, 59), int(match[6].ljust(6, "0"))))

    def _epoch(self, line: str) -> datetime | None:
        match = _EPOCH.match(line)
        if match is None:
            return None
        micros = int((match[2] or match[3] or "0")[:6].ljust(6, "0"))
        return datetime.fromtimestamp(int(match[1]), UTC).replace(microsecond=micros)

    def _dated(self, year: str | None, month: int, day: int, clock: tuple[int, int, int, int]) -> datetime:
        """A time without a year is the latest that is not to come, a day of clock difference allowed."""
        for candidate in (int(year),) if year else (self._now.year + 1, self._now.year, self._now.year - 1):
            if not year and (month, day) == (2, 29) and candidate % 4:
                continue
            moment = self._utc(datetime(candidate, month, day, *clock))
            if year or moment <= self._now + timedelta(days=1):
                return moment
        return self._utc(datetime(self._now.year - 1, month, day, *clock))

    def _utc(self, moment: datetime) -> datetime:
        return (moment if moment.tzinfo else moment.replace(tzinfo=self._zone)).astimezone(UTC)


def _offset(text: str | None) -> tzinfo | None:
    if not text:
        return None
    if text in ("Z", "UTC"):
        return UTC
    hours, minutes = int(text[1:3]), int(text[-2:])
    delta = timedelta(hours=hours, minutes=minutes)
    return timezone(delta if text[0] == "+" else -delta)
