"""The clock's skills."""

from datetime import UTC, datetime
from typing import Annotated, Final

from pydantic import Field

from skill_services.clock.answers import Conversion, Resolution, convert, current, resolution
from skill_services.clock.expressions import MAX_EXPRESSION
from skill_services.clock.failures import ClockError
from skill_services.clock.local_time import LocalTime
from skill_services.clock.zones import MAX_NAME
from skill_services.sdk import FromCaller, SkillError, skill

VERSION: Final = "1.0.0"
_OWNER: Final = "skillmesh"
_ZONE_EXAMPLES: Final = ["Asia/Tokyo", "London", "北京", "UTC+8"]

Zone = Annotated[
    str,
    Field(
        description="An IANA time zone, a city or country in English or Chinese, or an offset. Empty: the user's own.",
        examples=_ZONE_EXAMPLES,
        max_length=MAX_NAME,
    ),
]
CallerZone = Annotated[str, FromCaller("time_zone")]


@skill(
    version=VERSION,
    access="observer",
    effect="read",
    timeout=3.0,
    owner=_OWNER,
    change_note="First version.",
    tags=["time", "clock", "date", "时间", "日期"],
    scenarios=[
        "What time is it in Tokyo?",
        "What is today's date?",
        "Which day of the week is it in New York right now?",
        "现在几点了？",
        "东京现在几点？",
        "今天是几号，星期几？",
    ],
    examples=[("What time is it in Tokyo?", {"time_zone": "Asia/Tokyo"}), ("现在北京几点？", {"time_zone": "北京"})],
)
async def current_time(time_zone: Zone = "", caller_zone: CallerZone = "UTC") -> LocalTime:
    """Use when the present time, date or day of the week is asked for, here or in another place.

    Returns the local time with its UTC offset, the weekday and the same instant in UTC. For another moment than now use
    resolve_time, and to move a given time between zones convert_time.
    """
    try:
        return current(time_zone or caller_zone, _now())
    except ClockError as error:
        raise SkillError(str(error)) from None


@skill(
    version=VERSION,
    access="observer",
    effect="read",
    timeout=5.0,
    owner=_OWNER,
    change_note="First version.",
    tags=["time", "time zone", "时区"],
    scenarios=[
        "What is 3pm London time in New York?",
        "Convert 2025-06-30 09:00 from Tokyo to Berlin",
        "If the meeting is at 10am in San Francisco, when is that in Beijing?",
        "北京时间下午3点是伦敦几点？",
        "把东京时间 2025年6月30日 9:00 换算成柏林时间",
        "纽约上午10点的会议，上海是几点？",
    ],
    examples=[
        ("What is 3pm London time in New York?", {"time": "15:00", "from_zone": "London", "to_zone": "New York"}),
        ("北京时间下午3点是伦敦几点？", {"time": "下午3点", "from_zone": "北京", "to_zone": "伦敦"}),
    ],
)
def convert_time(
    time: Annotated[
        str,
        Field(
            description="A moment by the clocks of from_zone: '15:00', '3pm', 'tomorrow 9am', '下午3点', or ISO 8601.",
            examples=["15:00", "2025-06-30T09:00", "tomorrow 9am"],
            min_length=1,
            max_length=MAX_EXPRESSION,
        ),
    ],
    to_zone: Annotated[
        str,
        Field(
            description="The time zone wanted: IANA name, city or country in English or Chinese, or UTC offset.",
            examples=_ZONE_EXAMPLES,
            min_length=1,
            max_length=MAX_NAME,
        ),
    ],
    from_zone: Zone = "",
    caller_zone: CallerZone = "UTC",
) -> Conversion:
    """Use when a given time in one place must be told in another place's time zone.

    Returns the moment in both zones with offsets and weekdays, and says where daylight saving makes it unclear. Unlike
    current_time it takes a time; unlike resolve_time it shows two zones.
    """
    try:
        return convert(time, from_zone or caller_zone, to_zone, _now())
    except ClockError as error:
        raise SkillError(str(error)) from None


@skill(
    version=VERSION,
    access="observer",
    effect="read",
    timeout=5.0,
    owner=_OWNER,
    change_note="First version.",
    tags=["time", "date", "relative time", "时间", "日期"],
    scenarios=[
        "When exactly was 5 minutes ago?",
        "Which UTC time is yesterday 3pm?",
        "What range does 'last hour' cover?",
        "What date is next Friday?",
        "几分钟前是什么时间？",
        "昨天下午3点是 UTC 的什么时间？",
        "过去一小时的起止时间",
        "上周三是几号？",
    ],
    examples=[
        ("Errors since 5 minutes ago: from when?", {"expression": "5 minutes ago"}),
        ("昨天下午3点到5点", {"expression": "昨天下午3点到5点"}),
    ],
    llm_hint=(
        "Call it before any skill that takes a start and an end, such as a search in logs, and pass its start "
        "and end on "
        "unchanged. A day, week, month or part of a day is a range; 'last hour' and 'last 30 minutes' end now; 'last "
        "week' is the calendar week before this one. A bare weekday is the last one."
    ),
)
def resolve_time(
    expression: Annotated[
        str,
        Field(
            description="A moment or range in words, English or Chinese, such as 'yesterday 3pm' or 'last 30 minutes'.",
            examples=["5 minutes ago", "yesterday 3pm", "last hour", "from 14:00 to 15:30", "昨天下午3点"],
            min_length=1,
            max_length=MAX_EXPRESSION,
        ),
    ],
    time_zone: Zone = "",
    caller_zone: CallerZone = "UTC",
) -> Resolution:
    """Use when words such as '5 minutes ago', 'yesterday 3pm' or 'last hour' must become exact times.

    Returns the instant, or the start and the exclusive end of the range, in UTC and in local time. Unlike current_time
    it answers for any moment; unlike convert_time it stays in one zone.
    """
    try:
        return resolution(expression, time_zone or caller_zone, _now())
    except ClockError as error:
        raise SkillError(str(error)) from None


def _now() -> datetime:
    return datetime.now(UTC)
