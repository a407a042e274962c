from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_services.clock.answers import convert, current, resolution
from skill_services.clock.expressions import MAX_EXPRESSION, resolve
from skill_services.clock.failures import ClockError
from skill_services.clock.local_time import iso_utc, localize
from skill_services.clock.places import AMBIGUOUS, PLACES
from skill_services.clock.skill import convert_time, current_time, resolve_time
from skill_services.clock.zones import find_zone
from skill_services.sdk.testing import SkillTester

# a Wednesday, 20:00 in Shanghai
NOW = datetime(2025, 6, 11, 12, 0, tzinfo=UTC)
SHANGHAI = "Asia/Shanghai"


@pytest.mark.parametrize(
    ("name", "zone"),
    [
        ("Asia/Tokyo", "Asia/Tokyo"),
        ("asia/tokyo", "Asia/Tokyo"),
        ("Tokyo", "Asia/Tokyo"),
        ("Tokyo?", "Asia/Tokyo"),
        ("东京", "Asia/Tokyo"),
        ("Tokyo, Japan", "Asia/Tokyo"),
        ("Tokyo time", "Asia/Tokyo"),
        ("New York", "America/New_York"),
        ("New York City", "America/New_York"),
        ("new_york", "America/New_York"),
        ("纽约时间", "America/New_York"),
        ("Beijing", "Asia/Shanghai"),
        ("北京市", "Asia/Shanghai"),
        ("北京时间", "Asia/Shanghai"),
        ("London", "Europe/London"),
        ("São Paulo", "America/Sao_Paulo"),
        ("St. Petersburg", "Europe/Moscow"),
        ("PST", "America/Los_Angeles"),
        ("Knox", "America/Indiana/Knox"),
        ("US/Pacific", "US/Pacific"),
        ("Etc/GMT+8", "Etc/GMT+8"),
        ("utc", "UTC"),
        ("UTC+8", "UTC+08:00"),
        ("+05:30", "UTC+05:30"),
        ("gmt-5", "UTC-05:00"),
    ],
)
def test_a_zone_is_found_by_what_people_call_it(name: str, zone: str) -> None:
    assert find_zone(name)[0] == zone


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Tokio", "Perhaps Asia/Tokyo"),
        ("CST", "Asia/Shanghai"),
        ("美国", "America/New_York"),
        ("", "Give a time zone"),
        ("x" * 100, "Give a time zone"),
        ("UTC+15", "between -14:00 and +14:00"),
        ("qqqqqqqq", "There is no time zone"),
        ("GMT 5", "There is no time zone"),
    ],
)
def test_a_zone_that_is_unknown_or_unclear_is_refused_with_what_to_write(name: str, words: str) -> None:
    with pytest.raises(ClockError) as refused:
        find_zone(name)
    assert words in str(refused.value)


def test_every_place_leads_to_a_zone_that_exists() -> None:
    assert set(PLACES.values()) <= available_timezones()
    assert not AMBIGUOUS.keys() & PLACES.keys()


@settings(deadline=None)
@given(st.text(max_size=100))
def test_any_name_gives_a_zone_or_a_sentence(name: str) -> None:
    try:
        _, zone = find_zone(name)
    except ClockError:
        return
    assert zone.utcoffset(datetime(2025, 1, 1)) is not None  # utcoffset takes a wall-clock time


@pytest.mark.parametrize(
    ("expression", "local"),
    [
        ("now", "06-11 20:00"),
        ("现在", "06-11 20:00"),
        ("5 minutes ago", "06-11 19:55"),
        ("5分钟前", "06-11 19:55"),
        ("in 2 hours", "06-11 22:00"),
        ("10 minutes from now", "06-11 20:10"),
        ("10分钟后", "06-11 20:10"),
        ("half an hour ago", "06-11 19:30"),
        ("半小时前", "06-11 19:30"),
        ("an hour and a half ago", "06-11 18:30"),
        ("一个半小时前", "06-11 18:30"),
        ("一刻钟前", "06-11 19:45"),
        ("1 hour 30 minutes ago", "06-11 18:30"),
        ("two hours ago", "06-11 18:00"),
        ("3 days ago", "06-08 20:00"),
        ("三天前", "06-08 20:00"),
        ("大前天", "06-08 20:00"),
        ("2 weeks ago", "05-28 20:00"),
        ("in 3 days", "06-14 20:00"),
        ("yesterday 3pm", "06-10 15:00"),
        ("昨天下午3点", "06-10 15:00"),
        ("昨天下午三点一刻", "06-10 15:15"),
        ("今天早上八点半", "06-11 08:30"),
        ("明天上午十点", "06-12 10:00"),
        ("三天前下午3点", "06-08 15:00"),
        ("昨晚11点", "06-10 23:00"),
        ("今晚12点", "06-12 00:00"),
        ("凌晨2点", "06-11 02:00"),
        ("凌晨12点", "06-11 00:00"),
        ("中午12点", "06-11 12:00"),
        ("中午1点", "06-11 13:00"),
        ("下午3:15", "06-11 15:15"),
        ("15点30分", "06-11 15:30"),
        ("8点整", "06-11 08:00"),
        ("8am", "06-11 08:00"),
        ("12am", "06-11 00:00"),
        ("at 8", "06-11 08:00"),
        ("9:30:15", "06-11 09:30"),
        ("noon", "06-11 12:00"),
        ("yesterday at midnight", "06-10 00:00"),
        ("yesterday evening at 8", "06-10 20:00"),
        ("day before yesterday at noon", "06-09 12:00"),
        ("next friday at 5pm", "06-13 17:00"),
        ("last friday at 5pm", "06-06 17:00"),
        ("上周三下午3点", "06-04 15:00"),
        ("下周一 9:00", "06-16 09:00"),
        ("这周五 9:00", "06-13 09:00"),
        ("6月1日下午3点", "06-01 15:00"),
        ("2025年6月1日 10:00", "06-01 10:00"),
        ("2025-06-01 10:00", "06-01 10:00"),
        ("2025-06-01T10:00:00Z", "06-01 18:00"),
        ("2025-06-01T10:00:00+09:00", "06-01 09:00"),
        ("June 5 2025 3pm", "06-05 15:00"),
        ("Sun, 01 Jun 2025 10:00:00 +0200", "06-01 16:00"),
    ],
)
def test_a_moment_in_words_becomes_an_instant(expression: str, local: str) -> None:
    moment = resolve(expression, SHANGHAI, NOW)
    assert moment.end is None
    assert moment.start.astimezone(ZoneInfo(SHANGHAI)).strftime("%m-%d %H:%M") == local


@pytest.mark.parametrize(
    ("expression", "start", "end"),
    [
        ("last hour", "06-11 19:00", "06-11 20:00"),
        ("the last hour", "06-11 19:00", "06-11 20:00"),
        ("过去一小时", "06-11 19:00", "06-11 20:00"),
        ("上个小时", "06-11 19:00", "06-11 20:00"),
        ("this hour", "06-11 20:00", "06-11 21:00"),
        ("last 30 minutes", "06-11 19:30", "06-11 20:00"),
        ("最近30分钟", "06-11 19:30", "06-11 20:00"),
        ("past 2 days", "06-09 20:00", "06-11 20:00"),
        ("最近三天", "06-08 20:00", "06-11 20:00"),
        ("past week", "06-04 20:00", "06-11 20:00"),
        ("past 2 weeks", "05-28 20:00", "06-11 20:00"),
        ("last 3 months", "03-11 20:00", "06-11 20:00"),
        ("past year", "06-11 20:00", "06-11 20:00"),
        ("next 2 hours", "06-11 20:00", "06-11 22:00"),
        ("未来2小时", "06-11 20:00", "06-11 22:00"),
        ("last week", "06-02 00:00", "06-09 00:00"),
        ("上周", "06-02 00:00", "06-09 00:00"),
        ("this week", "06-09 00:00", "06-16 00:00"),
        ("下周", "06-16 00:00", "06-23 00:00"),
        ("this month", "06-01 00:00", "07-01 00:00"),
        ("上个月", "05-01 00:00", "06-01 00:00"),
        ("去年", "01-01 00:00", "01-01 00:00"),
        ("明年", "01-01 00:00", "01-01 00:00"),
        ("today", "06-11 00:00", "06-12 00:00"),
        ("昨天", "06-10 00:00", "06-11 00:00"),
        ("前天", "06-09 00:00", "06-10 00:00"),
        ("yesterday morning", "06-10 06:00", "06-10 12:00"),
        ("昨天下午", "06-10 12:00", "06-10 18:00"),
        ("last night", "06-10 18:00", "06-11 06:00"),
        ("tonight", "06-11 18:00", "06-12 00:00"),
        ("今早", "06-11 06:00", "06-11 12:00"),
        ("monday", "06-09 00:00", "06-10 00:00"),
        ("wednesday", "06-11 00:00", "06-12 00:00"),
        ("last wednesday", "06-04 00:00", "06-05 00:00"),
        ("上周三", "06-04 00:00", "06-05 00:00"),
        ("周日", "06-08 00:00", "06-09 00:00"),
        ("2025-06-01", "06-01 00:00", "06-02 00:00"),
        ("6月1日", "06-01 00:00", "06-02 00:00"),
        ("June 5", "06-05 00:00", "06-06 00:00"),
        ("from 2pm to 3pm yesterday", "06-10 14:00", "06-10 15:00"),
        ("from 2 to 3pm", "06-11 14:00", "06-11 15:00"),
        ("3pm to 5", "06-11 15:00", "06-11 17:00"),
        ("between 14:00 and 15:30", "06-11 14:00", "06-11 15:30"),
        ("yesterday 14:00 to 15:30", "06-10 14:00", "06-10 15:30"),
        ("yesterday 22:00 to 02:00", "06-10 22:00", "06-11 02:00"),
        ("昨天下午3点到5点", "06-10 15:00", "06-10 17:00"),
        ("从昨天到现在", "06-10 00:00", "06-11 20:00"),
        ("since yesterday", "06-10 00:00", "06-11 20:00"),
        ("since 9am", "06-11 09:00", "06-11 20:00"),
        ("自昨天以来", "06-10 00:00", "06-11 20:00"),
        ("yesterday to today", "06-10 00:00", "06-12 00:00"),
    ],
)
def test_a_span_in_words_becomes_a_range(expression: str, start: str, end: str) -> None:
    moment = resolve(expression, SHANGHAI, NOW)
    assert moment.end is not None
    assert moment.start < moment.end
    zone = ZoneInfo(SHANGHAI)
    assert [m.astimezone(zone).strftime("%m-%d %H:%M") for m in (moment.start, moment.end)] == [start, end]


@pytest.mark.parametrize("expression", ["几分钟前", "a few minutes ago", "刚才"])
def test_a_vague_amount_is_read_as_five_and_said_so(expression: str) -> None:
    moment = resolve(expression, "UTC", NOW)
    assert NOW - moment.start == timedelta(minutes=5)
    assert moment.note == '"A few" is read as 5.'


@pytest.mark.parametrize(
    ("expression", "start", "end"),
    [
        ("June 2024", "2024-06-01", "2024-07-01"),
        ("in may", "2025-05-01", "2025-06-01"),
        ("June", "2025-06-01", "2025-07-01"),
        ("sept", "2024-09-01", "2024-10-01"),
        ("December 2026", "2026-12-01", "2027-01-01"),
        ("2024年3月", "2024-03-01", "2024-04-01"),
        ("3月份", "2025-03-01", "2025-04-01"),
    ],
)
def test_a_month_is_the_whole_month_and_without_a_year_the_latest_that_has_begun(
    expression: str, start: str, end: str
) -> None:
    moment = resolve(expression, "UTC", NOW)
    assert moment.end is not None
    assert (moment.start.date().isoformat(), moment.end.date().isoformat()) == (start, end)


@pytest.mark.parametrize(
    ("expression", "zone", "utc"),
    [
        ("3pm Tokyo time", "Asia/Tokyo", "2025-06-11T06:00:00Z"),
        ("9:00 in London", "Europe/London", "2025-06-11T08:00:00Z"),
        ("东京时间下午3点", "Asia/Tokyo", "2025-06-11T06:00:00Z"),
        ("3pm UTC", "UTC", "2025-06-11T15:00:00Z"),
        ("3 PM EST", "America/New_York", "2025-06-11T19:00:00Z"),
        ("2025-06-01 10:00 Asia/Tokyo", "Asia/Tokyo", "2025-06-01T01:00:00Z"),
        ("3 PM", SHANGHAI, "2025-06-11T07:00:00Z"),
    ],
)
def test_a_zone_in_the_expression_counts_before_the_callers(expression: str, zone: str, utc: str) -> None:
    moment = resolve(expression, SHANGHAI, NOW)
    assert (moment.zone_name, iso_utc(moment.start)) == (zone, utc)


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("hello", "not understood"),
        ("Q3 2025", "not understood"),
        ("H1 2025", "not understood"),
        ("the 5th", "not understood"),
        ("on 5", "not understood"),
        ("May 32", "not understood"),
        ("monday 9", "not understood"),
        ("", "not understood"),
        ("12", "not understood"),
        ("1718000000", "not understood"),
        ("2025-13-45", "not understood"),
        ("13月40日", "not understood"),
        ("25:00", "not understood"),
        ("13pm", "not understood"),
        ("9999999 years ago", "not understood"),
        ("last 999999999 days", "too long"),
        ("last 9000 years", "outside the years"),
        ("today to yesterday", "earlier moment first"),
        ("since tomorrow", "still to come"),
        ("x" * (MAX_EXPRESSION + 1), "longer than"),
    ],
)
def test_what_names_no_time_is_refused_with_what_to_write(expression: str, words: str) -> None:
    with pytest.raises(ClockError) as refused:
        resolve(expression, SHANGHAI, NOW)
    assert words in str(refused.value)


@settings(deadline=None)
@given(st.text(alphabet="0123456789 :-aghilmnoprstuyw年月日点前后上下个小时分钟昨今明天周", max_size=25))
def test_any_expression_gives_a_moment_or_a_sentence(expression: str) -> None:
    try:
        moment = resolve(expression, SHANGHAI, NOW)
    except ClockError:
        return
    assert moment.end is None or moment.start <= moment.end


def test_hours_are_exact_time_where_the_clocks_change() -> None:
    after_spring = datetime(2025, 3, 9, 8, 0, tzinfo=UTC)
    assert iso_utc(resolve("2 hours ago", "America/New_York", after_spring).start) == "2025-03-09T06:00:00Z"


def test_a_time_that_the_clocks_skipped_moves_forward_and_is_said_so() -> None:
    moment = resolve("today 2:30am", "America/New_York", datetime(2025, 3, 9, 18, 0, tzinfo=UTC))
    assert iso_utc(moment.start) == "2025-03-09T07:30:00Z"
    assert "does not exist; 03:30 is used" in moment.note


def test_a_time_that_happened_twice_is_the_first_and_the_second_is_named() -> None:
    moment = resolve("2025-11-02 01:30", "America/New_York", NOW)
    assert iso_utc(moment.start) == "2025-11-02T05:30:00Z"
    assert "the second is 2025-11-02T06:30:00Z" in moment.note


@settings(deadline=None)
@given(
    st.datetimes(datetime(1990, 1, 1), datetime(2037, 1, 1)),  # wall-clock times are what is tested
    st.sampled_from(["Europe/London", "America/New_York", "Australia/Lord_Howe", "Asia/Tokyo", "America/Santiago"]),
)
def test_localising_and_showing_gives_the_same_wall_clock_unless_a_note_says_otherwise(
    wall: datetime, name: str
) -> None:
    instant, note = localize(wall, ZoneInfo(name))
    shown = instant.astimezone(ZoneInfo(name)).replace(tzinfo=None)
    assert shown == wall or "does not exist" in note


def test_the_present_time_is_told_in_the_zone() -> None:
    told = current("Tokyo", NOW)
    assert (told.time_zone, told.local, told.weekday) == ("Asia/Tokyo", "2025-06-11T21:00:00+09:00", "Wednesday")
    assert (told.utc_offset, told.utc) == ("+09:00", "2025-06-11T12:00:00Z")


def test_a_time_is_told_in_both_zones() -> None:
    told = convert("3pm", "London", "纽约", NOW)
    assert told["source"].local == "2025-06-11T15:00:00+01:00"
    assert told["target"].local == "2025-06-11T10:00:00-04:00"
    assert told["difference_hours"] == -5
    assert "note" not in told
    assert "happened twice" in convert("2025-11-02 01:30", "New York", "UTC", NOW)["note"]


@pytest.mark.parametrize(("time", "words"), [("tomorrow", "add a time of day"), ("last hour", "names a range")])
def test_a_range_cannot_be_converted_between_zones(time: str, words: str) -> None:
    with pytest.raises(ClockError) as refused:
        convert(time, "London", "Tokyo", NOW)
    assert words in str(refused.value)


def test_a_resolution_says_instant_or_range_in_utc_and_local_time() -> None:
    assert resolution("yesterday 3pm", "Tokyo", NOW) == {
        "expression": "yesterday 3pm",
        "kind": "instant",
        "time_zone": "Asia/Tokyo",
        "start": "2025-06-10T06:00:00Z",
        "start_local": "2025-06-10T15:00:00+09:00 (Tuesday)",
    }
    ranged = resolution("几分钟前到现在", "Tokyo", NOW)
    assert (ranged["kind"], ranged["end"], ranged["note"]) == (
        "range",
        "2025-06-11T12:00:00Z",
        '"A few" is read as 5.',
    )


async def test_the_skills_use_the_callers_zone_where_none_is_named() -> None:
    async with SkillTester([current_time, convert_time, resolve_time]) as mesh:
        request = mesh.request("current_time")
        request.time_zone = "Asia/Tokyo"
        here = await mesh.invoke(request)
        assert '"time_zone":"Asia/Tokyo"' in here.text
        assert '"time_zone":"UTC"' in (await mesh.call("current_time")).text
        resolved = mesh.request("resolve_time", {"expression": "5 minutes ago"})
        resolved.time_zone = "Asia/Shanghai"
        assert '"time_zone":"Asia/Shanghai"' in (await mesh.invoke(resolved)).text
        converted = await mesh.call("convert_time", {"time": "15:00", "from_zone": "London", "to_zone": "Tokyo"})
        assert '"time_zone":"Europe/London"' in converted.text
        assert "caller_zone" not in str(mesh.parameters("current_time"))


async def test_the_skills_say_no_in_a_sentence() -> None:
    async with SkillTester([current_time, convert_time, resolve_time]) as mesh:
        assert "Perhaps Asia/Tokyo" in (await mesh.call("current_time", {"time_zone": "Tokio"})).text
        assert (await mesh.call("resolve_time", {"expression": "hello"})).status == "failed"
        assert (await mesh.call("convert_time", {"time": "3pm", "to_zone": "CST"})).status == "failed"
