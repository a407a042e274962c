"""The clock's three answers, each from an explicit `now`."""

from datetime import datetime, timedelta
from typing import NotRequired, TypedDict

from skill_services.clock.expressions import Moment, resolve
from skill_services.clock.failures import ClockError
from skill_services.clock.local_time import LocalTime, describe, iso_utc
from skill_services.clock.zones import find_zone


class Conversion(TypedDict):
    """One instant in two zones; `difference_hours` is how far ahead the second is."""

    source: LocalTime
    target: LocalTime
    difference_hours: float
    note: NotRequired[str]


class Resolution(TypedDict):
    """`kind` is `instant` or `range`. `start` and `end` are UTC; an instant has no `end`, a range's is exclusive."""

    expression: str
    kind: str
    time_zone: str
    start: str
    start_local: str
    end: NotRequired[str]
    end_local: NotRequired[str]
    note: NotRequired[str]


def current(time_zone: str, now: datetime) -> LocalTime:
    """Raises ClockError."""
    name, zone = find_zone(time_zone)
    return describe(now, name, zone)


def convert(time: str, from_zone: str, to_zone: str, now: datetime) -> Conversion:
    """Raises ClockError; also for a range, as only one moment can be shown elsewhere."""
    moment = resolve(time, from_zone, now)
    if moment.end is not None and moment.end - moment.start >= timedelta(days=1):
        raise ClockError(f"{time!r} names a day or longer; add a time of day, such as '{time} 15:00'.")
    if moment.end is not None:
        raise ClockError(f"{time!r} names a range; give one moment, such as '15:00'.")
    name, zone = find_zone(to_zone)
    source = describe(moment.start, moment.zone_name, moment.zone)
    target = describe(moment.start, name, zone)
    offsets = [moment.start.astimezone(z).utcoffset() or timedelta() for z in (moment.zone, zone)]
    conversion: Conversion = {
        "source": source,
        "target": target,
        "difference_hours": (offsets[1] - offsets[0]) / timedelta(hours=1),
    }
    if moment.note:
        conversion["note"] = moment.note
    return conversion


def resolution(expression: str, time_zone: str, now: datetime) -> Resolution:
    """Raises ClockError."""
    moment = resolve(expression, time_zone, now)
    told: Resolution = {
        "expression": expression,
        "kind": "instant" if moment.end is None else "range",
        "time_zone": moment.zone_name,
        "start": iso_utc(moment.start),
        "start_local": _local(moment.start, moment),
    }
    if moment.end is not None:
        told["end"] = iso_utc(moment.end)
        told["end_local"] = _local(moment.end, moment)
    if moment.note:
        told["note"] = moment.note
    return told


def _local(instant: datetime, moment: Moment) -> str:
    local = instant.astimezone(moment.zone)
    return f"{local.isoformat(timespec='seconds')} ({local:%A})"
