"""The bounds of a search as the model writes them: ISO 8601, or short forms relative to now."""

import os
import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from skill_services.logs.failures import LogsError

ZONE_VARIABLE: Final = "LOGS_TIME_ZONE"
_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800, "秒": 1, "分": 60, "小": 3_600, "天": 86_400}
_AGO: Final = re.compile(
    r"-?\s*(\d{1,6})\s*(s|m|h|d|w)(?:ecs?|econds?|ins?|inutes?|rs?|ours?|ays?|eeks?)?(?: ago)?"
    r"|(\d{1,6})\s*个?(秒|分|小|天)(?:钟|时)?(?:前|之前|以前)",
    re.IGNORECASE,
)


def read_time(text: str, zone: tzinfo, now: datetime) -> datetime | None:
    """UTC; None for an empty text. `zone` is meant where the text names none. Raises LogsError."""
    tidy = text.strip()
    if not tidy:
        return None
    if tidy.lower() in ("now", "现在"):
        return now
    try:
        if match := _AGO.fullmatch(tidy):
            seconds = int(match[1] or match[3]) * _SECONDS[(match[2] or match[4]).lower()]
            return now - timedelta(seconds=seconds)
        moment = datetime.fromisoformat(tidy)
        return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise LogsError(
            f"{tidy[:60]!r} is not a time; write ISO 8601 such as 2025-06-30T14:00:00Z, or 30m for half an hour ago."
        ) from None


def log_zone() -> tzinfo:
    """The zone of log lines that name none: LOGS_TIME_ZONE, else UTC. Raises LogsError."""
    name = os.environ.get(ZONE_VARIABLE, "")
    if not name or name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise LogsError(f"{ZONE_VARIABLE} names no IANA time zone; its operator must correct it.") from None
