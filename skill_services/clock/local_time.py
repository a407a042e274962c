"""Wall-clock times to instants, saying so where clocks were put forward or back (PEP 495)."""

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Final

_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True, slots=True)
class LocalTime:
    """One instant; `local` and `utc` are ISO 8601."""

    time_zone: str
    local: str
    weekday: str
    utc_offset: str
    utc: str


def localize(wall: datetime, zone: tzinfo) -> tuple[datetime, str]:
    """The instant (UTC) at which the clocks of `zone` show `wall` (naive), and a sentence where that was not plain."""
    early, late = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    shown = early.astimezone(zone)
    if shown.replace(tzinfo=None) != wall:
        # in a gap: fold 0 counts with the offset before the change, which moves the time forward over the gap
        return early, (
            f"The clocks there were put forward past {wall:%Y-%m-%d %H:%M}, so that time does not exist; "
            f"{shown:%H:%M} is used."
        )
    if early != late:
        return early, (
            f"The clocks there were put back, so {wall:%Y-%m-%d %H:%M} happened twice; the first is used "
            f"({iso_utc(early)}), the second is {iso_utc(late)}."
        )
    return early, ""


def describe(instant: datetime, name: str, zone: tzinfo) -> LocalTime:
    """`instant` as the clocks of `zone` show it."""
    local = instant.astimezone(zone)
    text = local.isoformat(timespec="seconds")
    return LocalTime(name, text, _WEEKDAYS[local.weekday()], text[19:], iso_utc(instant))


def iso_utc(instant: datetime) -> str:
    return instant.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
