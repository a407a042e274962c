"""What the extractors read from a text."""

from datetime import UTC, datetime

import pytest

from agent_core.dev.model import entities, expressions, languages, numbers, places, times, units
from agent_core.dev.model.found import fold
from agent_core.dev.model.split import atoms
from agent_core.dev.model.words import words_of

NOW = datetime(2026, 11, 30, 20, 30, tzinfo=UTC)  # a Monday


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2,357 and 4821", [2357, 4821]),
        ("１２ 个", [12]),
        ("-3.5, .25", [-3.5, 0.25]),
        ("1e3", [1000.0]),
        ("3万 2.5亿", [30_000, 250_000_000]),
        ("twenty-one", [21]),
        ("two hundred and five thousand", [205_000]),
        ("two three", []),
        ("一万二千三百零五", [12_305]),
        ("二〇二六", [2026]),
        ("三点五公里", [3.5]),
        ("十二个", [12]),
        ("统一, 周一, 一下", []),
        ("百", []),
        ("v2 x86_64", []),
        ("9" * 400, []),
        ("1e999", []),
        ("5km", [5]),
    ],
)
def test_numbers_are_read_in_digits_words_and_numerals(text: str, expected: list[float]) -> None:
    assert [f.value for f in numbers.find(fold(text))] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is 2357 * 4821?", ["2357 * 4821"]),
        ("计算 2357 乘以 4821", ["2357 * 4821"]),
        ("２３５７×４８２１", ["2357 * 4821"]),
        ("2,357 times 4,821", ["2357 * 4821"]),
        ("seven times eight", ["7 * 8"]),
        ("三乘以五", ["3 * 5"]),
        ("12 minus 5 divided by 2", ["12 - 5 / 2"]),
        ("10 plus 2, 8 减去 3", ["10 + 2", "8 - 3"]),
        ("square root of 144", ["144 ** 0.5"]),
        ("square root of 16 plus 4", ["(16 ** 0.5) + 4"]),
        ("15% of 80", ["80 * 15 / 100"]),
        ("50 的 20%", ["50 * 20 / 100"]),
        ("200 + 15%", ["200 + 15 / 100"]),
        ("17 % 5", ["17 % 5"]),
        ("2 的 10 次方", ["2 ** 10"]),
        ("12 squared", ["12 ** 2"]),
        ("(1 + 2) * -3", ["(1 + 2) * -3"]),
        ("sqrt(16) + max(3, 5)", ["sqrt(16) + max(3, 5)"]),
        ("the sum of 3 and 4", ["3 + 4"]),
        ("3 和 4 的乘积", ["3 * 4"]),
        ("3 x 4", ["3 * 4"]),
        ("a-1, b+2", []),
        ("2 plus", []),
        ("(2", []),
        ("just 5", []),
        ("10:00", []),
        (f"{'9' * 400} squared of {'9' * 400}% of {'9' * 400}", []),
    ],
)
def test_arithmetic_becomes_one_expression_in_symbols(text: str, expected: list[str]) -> None:
    assert [f.value for f in expressions.find(fold(text))] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sin(30 degrees) + log10(1000)", "sin(30 degrees) + log10(1000)"),
        ("What is x + 2 * 3?", "x + 2 * 3"),
        ("What is pi * 2 + 3?", "pi * 2 + 3"),
        ("x - 2 * 3", "x - 2 * 3"),
        ("5! + 2 * 3", "5! + 2 * 3"),
        ("2 + 3 * foo", "2 + 3 * foo"),
        ("100 - 20 - y", "100 - 20 - y"),
        ("(2 + 3) * apples", "(2 + 3) * apples"),
        ("(2+3)(4+5)", "(2+3)(4+5)"),
        ("2(3 + 4)", "2(3 + 4)"),
        ("sinh(2 + 3)", "sinh(2 + 3)"),
        ("cosh(2) + 1 + 1", "cosh(2) + 1 + 1"),
        ("gcd(2 + 3, 4)", "gcd(2 + 3, 4)"),
        ("(pi + 2 * 3) * 4", "(pi + 2 * 3) * 4"),
        ("√(2 + 7)", "√(2 + 7)"),
        ("2 + 3²", "2 + 3²"),
        ("2 + 3x", "2 + 3x"),
        ("2 * 3 km + 4 m", "2 * 3 km + 4 m"),
        ("price times 2 plus 3", "price times 2 plus 3"),
        ("速度 * 2 + 3", "速度 * 2 + 3"),
        ("速度乘以 2 加 3", "速度乘以 2 加 3"),
        ("|2 - 5|", None),
        ("\0 + 2 * 3", None),
        ("(what is 2 + 3)", "2 + 3"),
        ("What is **2 + 3**?", "2 + 3"),
        ("2 + 3 - thanks", "2 + 3"),
        ("请计算 -5 + 3", "-5 + 3"),
        ("2 * 3 times faster", "2 * 3"),
        ("2 * 3 km in miles", "2 * 3"),
        ("2+3是多少", "2 + 3"),
        ("2 + 2 (please)", "2 + 2"),
    ],
)
def test_arithmetic_within_a_formula_is_given_as_the_whole_formula_or_not_at_all(
    text: str, expected: str | None
) -> None:
    assert [f.value for f in expressions.find(fold(text))] == ([] if expected is None else [expected])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5 minutes ago", "2026-11-30T20:25:00"),
        ("half an hour ago", "2026-11-30T20:00:00"),
        ("5分钟前", "2026-11-30T20:25:00"),
        ("in two hours", "2026-11-30T22:30:00"),
        ("two weeks later", "2026-12-14T20:30:00"),
        ("a month ago", "2026-10-30T20:30:00"),
        ("two years ago", "2024-11-30T20:30:00"),
        ("last 30 minutes", "2026-11-30T20:00:00"),
        ("最近一小时", "2026-11-30T19:30:00"),
        ("2026-12-01T10:00:00Z", "2026-12-01T10:00:00"),
        ("2026-12-01 10:00+08:00", "2026-12-01T02:00:00"),
        ("2026-12-01 10:00-05:00", "2026-12-01T15:00:00"),
        ("2027年1月5日", "2027-01-05T00:00:00"),
        ("May 5, 2027", "2027-05-05T00:00:00"),
        ("3rd of March", "2026-03-03T00:00:00"),
        ("tomorrow at 10:30 pm", "2026-12-01T22:30:00"),
        ("noon", "2026-11-30T12:00:00"),
        ("midnight", "2026-11-30T00:00:00"),
        ("昨天下午3点一刻", "2026-11-29T15:15:00"),
        ("中午12点半", "2026-11-30T12:30:00"),
        ("晚上8点20分", "2026-11-30T20:20:00"),
        ("next Friday", "2026-12-04T00:00:00"),
        ("last Sunday", "2026-11-29T00:00:00"),
        ("next Monday", "2026-12-07T00:00:00"),
        ("下周三", "2026-12-09T00:00:00"),
        ("上周日", "2026-11-29T00:00:00"),
        ("周五", "2026-12-04T00:00:00"),
        ("现在", "2026-11-30T20:30:00"),
    ],
)
def test_moments_are_resolved_against_now(text: str, expected: str) -> None:
    (moment,) = times.find(fold(text), NOW)
    assert moment.at is not None
    assert moment.at.strftime("%Y-%m-%dT%H:%M:%S") == expected


@pytest.mark.parametrize("text", ["31 February", "25:00", "13pm", "几点", "may I", "1.5 GB", "ratio 3:2", "99点"])
def test_what_is_no_time_is_not_read_as_one(text: str) -> None:
    assert times.find(text, NOW) == []


def test_a_moment_outside_the_calendar_has_words_but_no_instant() -> None:
    (moment,) = times.find("in 99999999999 years", NOW)
    assert moment.at is None
    assert times.find(f"{'9' * 290} hours ago", NOW) == []


def test_a_time_of_day_shares_its_neighbours_date() -> None:
    first, second = times.find("between 10:00 and 11:00 yesterday", NOW)
    assert first.at == datetime(2026, 11, 29, 10, tzinfo=UTC)
    assert second.at == datetime(2026, 11, 29, 11, tzinfo=UTC)


def test_durations_are_read_in_seconds() -> None:
    assert [d.seconds for d in times.find_durations("30 minutes, two hours, 半小时, 3个月")] == [
        1800,
        7200,
        1800,
        7_776_000,
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5 miles in km", [(5, "miles", "km")]),
        ("How many km is 5 miles?", [(5, "miles", "km")]),
        ("5英里等于多少公里", [(5, "英里", "公里")]),
        ("72F to celsius", [(72, "fahrenheit", "celsius")]),
        ("20 C in fahrenheit", [(20, "celsius", "fahrenheit")]),
        ("100 USD to EUR", [(100, "USD", "EUR")]),
        ("60 mph in m/s", [(60, "mph", "m/s")]),
        ("5 smoots in furlongs", [(5, "smoots", "furlongs")]),
        ("30 minutes", [(30, "minutes", "")]),
        ("top 5", []),
    ],
)
def test_quantities_are_read_with_the_unit_they_are_wanted_in(
    text: str, expected: list[tuple[float, str, str]]
) -> None:
    assert [(c.value, c.source, c.target) for c in units.find(text)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What time is it in Tokyo?", [("Tokyo", "Asia/Tokyo")]),
        ("in new york and London", [("new york", "America/New_York"), ("London", "Europe/London")]),
        ("东京和旧金山", [("东京", "Asia/Tokyo"), ("旧金山", "America/Los_Angeles")]),
        ("America/Sao_Paulo", [("America/Sao_Paulo", "America/Sao_Paulo")]),
        ("the UK", [("UK", "Europe/London")]),
        ("in general, the eastern part of us", []),
    ],
)
def test_known_places_have_a_zone(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(f.value, places.zone_of(f.value)) for f in places.find(text)] == expected


def test_an_unknown_place_has_no_zone() -> None:
    assert places.zone_of("Atlantis") is None


def test_languages_are_known_by_name_code_and_in_chinese() -> None:
    assert [f.value for f in languages.find("from French 翻译成日语")] == ["French", "日语"]
    assert languages.code_of("日语") == "ja"
    assert languages.same("fr", "法语")
    assert not languages.same("fr", "德语")


def test_quotations_lose_their_marks_and_apostrophes_are_none() -> None:
    assert [f.value for f in entities.quoted("say \"a b\" and 'c' and “d” but don't and it's")] == ["a b", "c", "d"]


def test_files_are_told_from_numbers_hosts_and_abbreviations() -> None:
    text = "check app.log, /var/log/x.txt and ./a but not 3.5, e.g. example.com or 10 a.m. of /"
    assert [f.value for f in entities.files(text)] == ["app.log", "/var/log/x.txt", "./a", "/"]


def test_addresses_leave_the_full_stop_of_the_sentence() -> None:
    urls, emails = entities.addresses("see https://example.org/a?b=1. Write bob@example.org.")
    assert [f.value for f in urls] == ["https://example.org/a?b=1"]
    assert [f.value for f in emails] == ["bob@example.org"]


def test_names_follow_prepositions_up_to_the_first_word_that_is_no_name() -> None:
    found = entities.after_preposition("in New York right now, at the Old Mill tomorrow, for it", "in at for")
    assert [f.value for f in found] == ["New York", "Old Mill"]


def test_proper_names_do_not_start_a_sentence() -> None:
    assert [f.value for f in entities.proper_names("Please call Alice Smith. Then wait")] == ["Alice Smith"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("请问克拉科现在几点", ["克拉科"]), ("清水湾的天气", ["清水湾"]), ("现在几点", []), ("什么的时间", [])],
)
def test_chinese_places_stand_before_what_is_asked_of_them(text: str, expected: list[str]) -> None:
    assert [f.value for f in entities.chinese_places(text)] == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("calculate", "计算"),
        ("searching", "查找"),
        ("errors", "错误"),
        ("disk_usage", "磁盘使用"),
        ("bookRoom", "预订房间"),
    ],
)
def test_words_of_one_idea_come_out_alike(one: str, other: str) -> None:
    assert set(words_of(one)) <= set(words_of(other))


@pytest.mark.parametrize("form", ["restart", "restarts", "restarted", "restarting", "Restart", "RESTART"])
def test_forms_of_a_word_come_out_alike(form: str) -> None:
    assert words_of(form) == words_of("restart")


def test_questions_are_split_at_separators_but_not_within_values() -> None:
    text = "What is 2,357 * 4, and between 10 and 11? Then (a, b); 计算和东京"
    parts = [text[a.start : a.end].strip() for a in atoms(text, numbers.find(text))]
    assert parts == ["What is 2,357 * 4", "between 10 and 11", "(a, b)", "计算", "东京"]


def test_the_last_part_takes_what_is_too_much() -> None:
    text = ", ".join("word" for _ in range(40))
    parts = atoms(text, [])
    assert len(parts) == 16
    assert parts[-1].end == len(text)
