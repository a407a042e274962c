"""Whatever is asked with whatever tools: a valid reply, and arguments that the tool's own schema allows."""

import json
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import jsonschema_rs
import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.dev.model import expressions, numbers, times, units
from agent_core.dev.model.chat import BadRequestError, read_request
from agent_core.dev.model.found import Spanned, fold
from agent_core.dev.model.shapes import deltas, message
from agent_core.dev.model.split import atoms
from agent_core.dev.model.stand_in import reply
from tests.support.offered_tools import MESH, OTHERS

NOW = datetime(2026, 11, 30, 20, 30, tzinfo=UTC)

PHRASES = (
    "what is", "2357 * 4821", "and", ",", "time", "in Tokyo", "东京", "计算", "乘以", "3", "三十",
    "tomorrow at 10am", "errors", "“quoted, text”", "app.log", "/var", "5 miles", "in km", "5分钟前",
    "last 30 minutes", "from", "to", "between", "?", "。", "large", "pizzas", "book room", "translate",
    "French", "memory", "top 5", "(", ")", "-", "+", "'", "\n", "weather", "二", "点", "e.g.",
    "https://x.org/a", "a@b.io", "99999999999", "1e9", ".5", "limit", "not", "zone", "2026-13-45", "25:61",
    "％", "，",
)  # fmt: skip
questions = st.one_of(st.text(max_size=80), st.lists(st.sampled_from(PHRASES), max_size=14).map(" ".join))

NAMES = (
    "expression", "city", "from_unit", "to_unit", "value", "start", "end", "limit", "query", "text", "file", "flag",
    "time_zone", "language", "level", "minutes", "items", "x", "名字",
)  # fmt: skip
DESCRIPTIONS = (
    "", "A place.", "IANA time zone", "An arithmetic formula such as '1+1'.", "单位",
    "ISO 8601 time, e.g. `2026-01-01`",
)  # fmt: skip
EXAMPLES = ("2 + 2", "Asia/Tokyo", "km", "5 minutes ago", "a.txt", 3)
CHOICES = ("large", "small", "error", "东京", "km", 3, 2.5, True, None)
texts = st.sampled_from(DESCRIPTIONS)
leaves: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["string", "integer", "number", "boolean", "null"])},
        optional={
            "description": texts,
            "format": st.sampled_from(["date-time", "date", "time", "duration", "uri", "email", "uuid"]),
            "minimum": st.integers(-5, 5),
            "maximum": st.integers(0, 3000),
            "minLength": st.integers(0, 4),
            "maxLength": st.integers(0, 12),
            "pattern": st.sampled_from(["^[a-z]+$", "\\d+", "^(a+)+$"]),
            "examples": st.lists(st.sampled_from(EXAMPLES), max_size=2),
        },
    ),
    st.fixed_dictionaries({"enum": st.lists(st.sampled_from(CHOICES), min_size=1, unique_by=repr)}),
    st.just({}),
    st.just({"$ref": "#/$defs/Self"}),
)  # fmt: skip


def _wider(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    more: dict[str, st.SearchStrategy[Any]] = {"minItems": st.integers(0, 3), "uniqueItems": st.booleans()}
    return st.one_of(
        st.fixed_dictionaries({"type": st.just("array"), "items": inner}, optional=more),
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"allOf": st.lists(inner, min_size=1, max_size=2)}),
        objects(inner),
    )


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(
        lambda properties, needed: {
            "type": "object",
            "properties": properties,
            "required": [n for n in properties if n in needed],
            "$defs": {
                "Self": {"type": "object", "properties": {"again": {"$ref": "#/$defs/Self"}}, "required": ["again"]}
            },
        },
        st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
        st.sets(st.sampled_from(NAMES)),
    )


schemas = objects(st.recursive(leaves, _wider, max_leaves=6))


@st.composite
def tool_lists(draw: st.DrawFn) -> list[dict[str, Any]]:
    made = [
        {
            "type": "function",
            "function": {
                "name": f"{draw(st.sampled_from(['calculate', 'find', 'time', 'book_room', 'x']))}_{index}",
                "description": draw(st.text(max_size=40) | st.just("Use when time in Tokyo or errors are asked.")),
                "parameters": draw(schemas),
            },
        }
        for index in range(draw(st.integers(0, 3)))
    ]
    shipped: list[dict[str, Any]] = draw(st.sampled_from([[], MESH, OTHERS]))
    return made + shipped


@settings(max_examples=150, deadline=None)
@given(question=questions, tools=tool_lists(), choice=st.sampled_from(["auto", "auto", "none", "required"]))
def test_every_question_with_any_tools_gets_a_valid_reply(question: str, tools: list[Any], choice: str) -> None:
    body = {"model": "x", "messages": [{"role": "user", "content": question}], "tools": tools}
    if tools:
        body["tool_choice"] = choice
    try:
        request = read_request(orjson.loads(orjson.dumps(body, default=str)))
    except (BadRequestError, orjson.JSONEncodeError):
        return  # an impossible schema, or text that is no UTF-8
    said = reply(request, NOW)
    assert bool(said.text) != bool(said.calls)
    assert orjson.dumps(message(said))
    assert orjson.dumps(list(deltas(said)))
    offered = {t["function"]["name"]: t["function"]["parameters"] for t in tools}
    for call in said.calls:
        arguments = orjson.loads(call.arguments)
        assert jsonschema_rs.validator_for(offered[call.name], validate_formats=True).is_valid(arguments)
    assert reply(request, NOW) == said


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(result=st.text(max_size=200) | values.map(json.dumps), arguments=st.text(max_size=40))
def test_every_result_is_answered_and_ends_the_conversation(result: str, arguments: str) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "calculate", "arguments": arguments}}
    messages = [
        {"role": "user", "content": "What is 2 + 2?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": result},
    ]
    said = reply(read_request({"model": "x", "messages": messages, "tools": MESH}), NOW)
    assert said.text
    assert not said.calls


@settings(max_examples=300, deadline=None)
@given(text=questions)
def test_extractors_give_spans_within_the_text_and_never_fail(text: str) -> None:
    folded = fold(text)
    assert len(folded) == len(text)
    found: list[Spanned] = [
        *numbers.find(folded),
        *expressions.find(folded),
        *times.find(folded, NOW),
        *units.find(folded),
        *times.find_durations(folded),
    ]
    assert all(0 <= f.start < f.end <= len(text) for f in found)
    parts = atoms(folded, [])
    assert all(one.end <= other.start for one, other in pairwise(parts))


OPERATORS = (("plus", "+"), ("乘以", "*"), ("minus", "-"), ("除以", "/"))


@settings(max_examples=150, deadline=None)
@given(a=st.integers(0, 10**9), b=st.integers(1, 10**6), operator=st.sampled_from(OPERATORS))
def test_any_two_numbers_and_an_operator_make_that_expression(a: int, b: int, operator: tuple[str, str]) -> None:
    word, symbol = operator
    assert [f.value for f in expressions.find(f"what is {a:,} {word} {b}?")] == [f"{a} {symbol} {b}"]
