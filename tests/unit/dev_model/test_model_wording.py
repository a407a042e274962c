"""How results become an answer."""

import json

import pytest

from agent_core.dev.model.sentences import Sentences
from agent_core.dev.model.wording import MAX_ANSWER_CHARS, Outcome, answer

ENGLISH, CHINESE = Sentences(chinese=False), Sentences(chinese=True)


def worded(text: str, name: str = "get_thing", arguments: str = "{}", sentences: Sentences = ENGLISH) -> str:
    return answer([Outcome(name, arguments, text)], sentences)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain words", "plain words"),
        ("42", "42"),
        ('"text"', "text"),
        ("true", "yes"),
        ("null", "no result"),
        ("", "no result"),
        ("[]", "none"),
        ("{}", "none"),
        ('{"a": null}', "no result"),
        ('{"a": null, "b": null}', "no result"),
        ("[1, 2, 3]", "1, 2, 3"),
        ('{"result": 11363097}', "11363097"),
        ('{"only": "one"}', "one"),
        ('{"utc_offset": "+09:00", "day": "Monday", "note": null}', "utc offset: +09:00, day: Monday"),
        ('{"lines": [{"a": 1, "b": {"c": 2}}, {"a": 3}], "count": 2}', "count: 2\nlines: \n- a: 1; b: c: 2\n- a: 3"),
        ('{"value": 1.0, "truncated": true}', "1.0 (The result was cut short.)"),
        ('{"matches": 0}\n[The skill left part of its result out for size.]', "0 (The result was cut short.)"),
        ("12 lines\n[... 30 of 42 bytes left out ...]", "12 lines\n[... 30 of 42 bytes left out ...]"),
        ("12345678901234567890123", "12345678901234567890123"),
        ("{broken", "{broken"),
        ("3 apples", "3 apples"),
        ("NaN", "NaN"),
    ],
)
def test_a_result_becomes_short_text_with_its_values(text: str, expected: str) -> None:
    assert worded(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Error: The skill is not known.", "`get_thing` failed: The skill is not known."),
        ("The skill failed: division by zero", "`get_thing` failed: division by zero"),
        ("OUTCOME_UNKNOWN: it may have run", "`get_thing` failed: OUTCOME_UNKNOWN: it may have run"),
        ("No result: the call was interrupted.", "`get_thing` failed: No result: the call was interrupted."),
        ('{"error": "no such city"}', "`get_thing` failed: no such city"),
        ('{"error": {"message": "no such city", "code": 3}}', "`get_thing` failed: no such city"),
        ('{"error": {"code": 3}}', '`get_thing` failed: {"code": 3}'),
        ('{"status": "failed", "message": "too late"}', "`get_thing` failed: too late"),
        ('{"status": "retryable"}', '`get_thing` failed: {"status": "retryable"}'),
    ],
)
def test_an_error_is_said_to_be_one(text: str, expected: str) -> None:
    assert worded(text) == expected


@pytest.mark.parametrize(
    "text", ['{"error": 3, "warnings": 1}', '{"errors": ["a"], "lines": 4}', "There were 3 errors."]
)
def test_a_result_about_errors_is_no_error(text: str) -> None:
    assert "failed" not in worded(text)


def test_arithmetic_is_told_as_an_equation() -> None:
    said = worded('{"expression": "2357 * 4821", "result": 11363097}', "calculate", '{"expression": "2357 * 4821"}')
    assert said == "2357 * 4821 = 11363097"
    exact = worded('{"result": 1e30, "exact": "1000000000000000000000000000007"}', "c", '{"x": "10 ** 30 + 7"}')
    assert exact == "10 ** 30 + 7 = 1000000000000000000000000000007"


def test_several_results_are_told_apart() -> None:
    said = answer(
        [Outcome("clock__current_time", '{"zone": "Tokyo"}', '"05:30"'), Outcome("x", "broken", "1")], ENGLISH
    )
    assert said == "Current time (Tokyo): 05:30\nX: 1"


def test_chinese_questions_are_answered_in_chinese() -> None:
    assert worded("Error: nothing there", sentences=CHINESE) == "`get_thing` 失败：nothing there"
    assert worded("[]", sentences=CHINESE) == "无"
    assert worded('{"a": true, "b": 2}', sentences=CHINESE) == "a：是，b：2"


def test_long_results_are_bounded() -> None:
    assert worded(json.dumps(list(range(100)))).endswith("… and 88 more")
    assert len(worded("x " * 50_000)) < MAX_ANSWER_CHARS
    many = [Outcome("t", json.dumps({"i": i}), "y" * 5_000) for i in range(10)]
    assert len(answer(many, ENGLISH)) < MAX_ANSWER_CHARS + 100


def test_hostile_json_is_worded_without_harm() -> None:
    deep = "[" * 100_000
    assert worded(deep)
    nested: object = 1
    for _ in range(30):
        nested = {"k": [nested]}
    assert "k" in worded(json.dumps(nested))
    assert worded("9" * 5_000)
    assert worded('{"a": ' + "9" * 4_000 + "}")
