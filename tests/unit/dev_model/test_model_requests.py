"""How requests are read and refused, and what the stand-in replies to them."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from agent_core.dev.model.chat import BadRequestError, read_request
from agent_core.dev.model.shapes import deltas, pieces, usage
from agent_core.dev.model.stand_in import Reply, reply
from tests.support.offered_tools import BOOK_ROOM, CALCULATE, CONVERT_UNITS, CURRENT_TIME, MESH, WEATHER, tool

NOW = datetime(2026, 11, 30, 20, 30, tzinfo=UTC)


def body(
    question: str = "Hi", *more: dict[str, Any], tools: list[dict[str, Any]] | None = None, **fields: Any
) -> dict[str, Any]:
    asked = {"model": "any", "messages": [{"role": "user", "content": question}, *more], **fields}
    return {**asked, "tools": tools} if tools is not None else asked


def answered(question: str, *more: dict[str, Any], tools: list[dict[str, Any]] | None = None, **fields: Any) -> Reply:
    return reply(read_request(body(question, *more, tools=tools, **fields)), NOW)


def call(name: str, arguments: str = "{}", identity: str = "c1") -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}


def turn(*calls: dict[str, Any], results: list[str]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "assistant", "content": None, "tool_calls": list(calls)}]
    return messages + [
        {"role": "tool", "tool_call_id": c["id"], "content": r} for c, r in zip(calls, results, strict=True)
    ]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ([], "must be a JSON object"),
        ({"messages": []}, "model parameter"),
        ({"model": "x", "messages": []}, "non-empty array"),
        ({"model": "x", "messages": ["hi"]}, "'role'"),
        ({"model": "x", "messages": [{"role": "robot"}]}, "'role'"),
        ({"model": "x", "messages": [{"role": "user", "content": 3}]}, "'content'"),
        (body(stream="yes"), "'stream'"),
        (body(stream_options={"include_usage": True}), "only allowed when 'stream' is true"),
        (body(tools=3), "'tools'"),  # type: ignore[arg-type]  # the point of the test
        (body(tools=[CALCULATE] * 129), "at most 128"),
        (body(tools=[{"type": "function"}]), "'function'"),
        (body(tools=[tool("two words", "x", {})]), "name must match"),
        (body(tools=[{"type": "function", "function": {"name": "x", "description": 3}}]), "description"),
        (body(tools=[{"function": {"name": "x", "parameters": {"type": "string"}}}]), "of type 'object'"),
        (body(tools=[tool("x", "x", {"a": {"type": "strnig"}})]), "Invalid schema for function 'x'"),
        (body(tools=[tool("x", "x", {"a": {"$ref": "http://127.0.0.1:9/s.json"}})]), "Invalid schema for function 'x'"),
        (body(tool_choice="required"), "only allowed when 'tools'"),
        (body(tool_choice={"function": {"name": "nope"}}, tools=[CALCULATE]), "name a tool"),
        (body("?", {"role": "assistant", "tool_calls": 3}), "'tool_calls'"),
        (body("?", {"role": "assistant", "tool_calls": [{}]}), "'id' and 'function'"),
        (body("?", {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "x"}}]}), "strings"),
        (body("?", {"role": "tool", "content": "x"}), "tool_call_id"),
        (body("?", {"role": "tool", "content": "x", "tool_call_id": "a"}), "must be a response to a preceding message"),
        (body("?", {"role": "assistant", "tool_calls": [call("x")]}), "did not have response messages: c1"),
        (body("?", {"role": "assistant", "tool_calls": [call("x")]}, {"role": "user", "content": "y"}), "messages: c1"),
    ],
)  # fmt: skip
def test_what_openai_refuses_is_refused(wrong: Any, says: str) -> None:
    with pytest.raises(BadRequestError, match=says):
        read_request(wrong)


def test_content_in_parts_is_read_as_text() -> None:
    request = read_request(body([{"type": "text", "text": "a"}, {"type": "image_url"}, {"type": "text", "text": "b"}]))  # type: ignore[arg-type]  # parts are allowed, too
    assert request.question == "a\nb"


def test_the_same_tools_are_read_once() -> None:
    first, second = (read_request(body(tools=orjson.loads(orjson.dumps(MESH)))).tools for _ in range(2))
    assert all(a is b for a, b in zip(first, second, strict=True))


def test_two_parts_become_two_calls_side_by_side_with_their_own_ids() -> None:
    said = answered("What is 2357 * 4821, and what time is it in Tokyo?", tools=MESH)
    assert [(c.name, orjson.loads(c.arguments)) for c in said.calls] == [
        ("calculate", {"expression": "2357 * 4821"}),
        ("current_time", {"time_zone": "Tokyo"}),
    ]
    assert said.text == ""
    assert said.finish_reason == "tool_calls"
    assert len({c.id for c in said.calls}) == 2


def test_a_question_too_long_to_be_read_is_not_half_answered() -> None:
    for long in ("1" + "+1" * 30_000, "计算" + "1加" * 10_000 + "1"):
        said = answered(long)
        assert not said.calls
        assert "4000" in said.text


def test_the_same_request_gets_the_same_reply() -> None:
    assert answered("What is 2 * 3?", tools=MESH) == answered("What is 2 * 3?", tools=MESH)


def test_results_are_answered_and_never_called_again() -> None:
    question = "What is 2357 * 4821, and what time is it in Tokyo?"
    first = answered(question, tools=MESH)
    calls = [call(c.name, c.arguments, c.id) for c in first.calls]
    results = ['{"result": 11363097}', '{"time": "05:30", "time_zone": "Asia/Tokyo"}']
    said = answered(question, *turn(*calls, results=results), tools=MESH)
    assert said.calls == ()
    assert said.finish_reason == "stop"
    assert said.text == "2357 * 4821 = 11363097\nCurrent time (Tokyo): time: 05:30, time zone: Asia/Tokyo"


def test_only_the_last_user_message_is_the_question() -> None:
    earlier = [*turn(call("calculate", identity="old"), results=["4"]), {"role": "assistant", "content": "4"}]
    said = answered("What is 2+2?", *earlier, {"role": "user", "content": "And 3 * 3?"}, tools=MESH)
    assert [orjson.loads(c.arguments) for c in said.calls] == [{"expression": "3 * 3"}]
    assert said.calls[0].id != "old"


def test_calls_come_one_by_one_where_parallel_calls_are_off() -> None:
    question = "What is 2+2, and what time is it in Tokyo?"
    more: list[dict[str, Any]] = []
    names = []
    for _ in range(3):
        said = answered(question, *more, tools=MESH, parallel_tool_calls=False)
        names.append([c.name for c in said.calls])
        more += turn(*(call(c.name, c.arguments, c.id) for c in said.calls), results=["4"] * len(said.calls))
        if not said.calls:
            break
    assert names == [["calculate"], ["current_time"], []]


def test_tool_choice_is_obeyed() -> None:
    assert answered("What is 2+2?", tools=MESH, tool_choice="none").calls == ()
    forced = {"type": "function", "function": {"name": "weather"}}
    said = answered("What is 2+2 in Oslo?", tools=[CALCULATE, WEATHER], tool_choice=forced)
    assert [c.name for c in said.calls] == ["weather"]
    assert [c.name for c in answered("Oslo!", tools=[CALCULATE, WEATHER], tool_choice="required").calls] == ["weather"]


def test_without_a_fitting_tool_it_says_what_it_is_and_how_to_get_a_real_model() -> None:
    said = answered("Who wrote Hamlet?", tools=[CALCULATE, WEATHER]).text
    assert "stand-in" in said
    assert "`calculate`, `weather`" in said
    assert "OPENAI_API_KEY" in said
    assert "OPENAI_API_KEY" in answered("Hello").text
    assert "替身" in answered("你好", tools=MESH).text


def test_what_is_missing_is_asked_for_in_the_questions_language() -> None:
    asked = answered("Book a room", tools=[BOOK_ROOM]).text
    assert asked == (
        "To use `book_room` I still need: room (Name of the room), start (Start of the meeting), "
        "minutes (Length of the meeting)."
    )
    assert "还需要：expression" in answered("计算一下", tools=[CALCULATE]).text
    both = answered("convert 5 miles; book a room", tools=[CONVERT_UNITS, BOOK_ROOM]).text
    assert "For “convert 5 miles” I would use `convert_units`, but I still need: to_unit (Unit wanted)." in both


def test_an_answer_names_the_parts_that_nothing_was_done_for() -> None:
    question = "What is 2+2, who wrote Hamlet, and convert 5 miles"
    said = answered(question, *turn(call("calculate", '{"expression": "2 + 2"}'), results=["4"]), tools=MESH).text
    assert said.splitlines() == [
        "2 + 2 = 4",
        "For “convert 5 miles” I would use `convert_units`, but I still need: to_unit (Unit wanted).",
        "No skill that I was offered fits “who wrote Hamlet”.",
    ]


def test_results_are_answered_when_no_tools_are_offered_any_more() -> None:
    said = answered("What is 2+2?", *turn(call("calculate", '{"expression": "2 + 2"}'), results=["4"]))
    assert said.text == "2 + 2 = 4"


def test_an_empty_question_is_answered_too() -> None:
    request = read_request(
        {"model": "x", "messages": [{"role": "system", "content": "Be brief."}], "tools": [CURRENT_TIME]}
    )
    assert "stand-in" in reply(request, NOW).text


def test_pieces_join_to_the_text_and_calls_to_their_arguments() -> None:
    text = "Some words,  and\n\nmore of them."
    assert "".join(pieces(text)) == text
    assert len(pieces(text)) > 2
    assert pieces(" \n") == [" \n"]
    said = answered("What is 2357 * 4821, and what time is it in Tokyo?", tools=MESH)
    written = ["", ""]
    for delta in deltas(said):
        for part in orjson.loads(orjson.dumps(delta))["tool_calls"]:
            written[part["index"]] += part["function"]["arguments"]
    assert written == [c.arguments for c in said.calls]


def test_usage_counts_four_bytes_a_token() -> None:
    assert usage(9, Reply("12345")) == {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
