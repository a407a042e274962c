import datetime as dt
import decimal
import enum
import json
import math
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, SecretStr
from pydantic_core import from_json

from skill_services.sdk import Blob, Json, Link, Output, Part, SkillError, Text
from skill_services.sdk.errors import CallFailedError
from skill_services.sdk.output import failure_of, result_of, to_json
from skillmesh.digests import result_digest
from skillmesh.errors import ErrorKind
from skillmesh.v1.result_pb2 import ResultStatus

LIMIT = 10_000


class Model(BaseModel):
    ratio: float | None = None
    secret: SecretStr = SecretStr("hush")
    renamed: int = Field(default=1, serialization_alias="newName")


@dataclass
class Data:
    ratio: float | None
    span: dt.timedelta = dt.timedelta(seconds=90)


class Colour(enum.Enum):
    RED = "red"


class Point(NamedTuple):
    x: int
    y: int


def kind_and_sentence(value: object) -> tuple[ErrorKind, str]:
    with pytest.raises(CallFailedError) as caught:
        result_of("sample", value, LIMIT)
    return caught.value.error.kind, str(caught.value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ("text", "text"),
        ({"a": [1, None, True]}, {"a": [1, None, True]}),
        (Model(), {"ratio": None, "secret": "**********", "newName": 1}),
        ([Data(None)], [{"ratio": None, "span": "PT1M30S"}]),
        ({Colour.RED: Colour.RED}, {"red": "red"}),
        ({1: {2}}, {"1": [2]}),
        (Point(1, 2), [1, 2]),
        (dt.datetime(2026, 1, 31, 10, tzinfo=dt.UTC), "2026-01-31T10:00:00Z"),
        (dt.date(2026, 1, 31), "2026-01-31"),
        (decimal.Decimal("1.10"), "1.10"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Path("/a"), "/a"),
        (2**100, 2**100),
        (
            {"big": -(2**70), "day": dt.date(2026, 1, 31), "text": "ä"},
            {"big": -(2**70), "day": "2026-01-31", "text": "ä"},
        ),
        ({"says": "null and NaN"}, {"says": "null and NaN"}),
    ],
)
def test_a_jsonable_value_becomes_structured_alone(value: object, expected: object) -> None:
    result = result_of("sample", value, LIMIT)

    assert json.loads(result.structured) == expected
    assert result.status == ResultStatus.RESULT_STATUS_SUCCESS
    assert not result.parts
    assert result.digest == result_digest(result)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    ("wrap", "place"),
    [
        (lambda number: number, "the value is"),
        (lambda number: {"a": [1, {"b": number}]}, r"a[1].b is"),
        (lambda number: Model(ratio=number), "ratio is"),
        (lambda number: [Data(number)], "[0].ratio is"),
        (lambda number: {"a": number, "big": 2**80}, "a is"),
        (lambda number: Output(structured=[number]), "[0] is"),
        (lambda number: Json({"a": number}), "a is"),
    ],
)
def test_a_number_that_is_not_finite_is_an_error_that_names_its_place(number: float, wrap: object, place: str) -> None:
    assert callable(wrap)
    kind, sentence = kind_and_sentence(wrap(number))

    assert kind is ErrorKind.BAD_REPLY
    assert place in sentence


def circular() -> object:
    value: list[object] = []
    value.append(value)
    return value


async def coroutine() -> None:
    pass


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (b"x", "return a Blob"),
        ({"a": b"x"}, "return a Blob"),
        ({"a": object()}, "object"),
        ("\ud800", "UTF-8"),
        ({"a": "\ud800", "big": 2**80}, "surrogate"),
        (Text("\ud800"), "surrogate"),
        (circular(), "Recursion limit"),
        ({math.nan: 1}, "has the key nan"),
        ([{"a": {-math.inf: None}}], "[0].a has the key -inf"),
        ((number for number in (1, 2)), "return a list"),
        ([{"all": map(str, [1])}], "return a list"),
        (Output([1]), "not int"),  # type: ignore[list-item]  # what is tested
        (Output([Blob("x", "image/png")]), "not Blob"),  # type: ignore[arg-type]  # what is tested
    ],
)
def test_a_value_that_json_does_not_know_is_an_error(value: object, sentence: str) -> None:
    kind, found = kind_and_sentence(value)

    assert kind is ErrorKind.BAD_REPLY
    assert sentence in found


def test_a_result_over_the_limit_names_size_and_limit() -> None:
    kind, sentence = kind_and_sentence("x" * 20_000)

    assert kind is ErrorKind.REPLY_TOO_LARGE
    assert "20,0" in sentence
    assert "10,000" in sentence


def test_parts_and_flags_reach_the_wire() -> None:
    parts: list[Part] = [
        Text("hello"),
        Json({"a": 1}),
        Blob(b"\x89PNG", "image/png"),
        Link("file:///a", "a", "text/plain"),
    ]

    result = result_of("sample", Output(parts, structured={"n": 4}, truncated=True), LIMIT)

    assert [part.WhichOneof("content") for part in result.parts] == ["text", "json", "blob", "link"]
    assert (result.parts[2].mime_type, result.parts[3].link.name) == ("image/png", "a")
    assert (result.structured, result.truncated) == (b'{"n":4}', True)
    assert result.digest == result_digest(result)


def test_a_part_or_a_list_of_parts_may_be_returned_as_it_is() -> None:
    assert result_of("sample", Text("a"), LIMIT).parts[0].text == "a"
    assert len(result_of("sample", [Text("a"), Text("b")], LIMIT).parts) == 2
    assert result_of("sample", Text("a"), LIMIT).structured == b""
    assert result_of("sample", Output(structured=None), LIMIT).structured == b"null"
    assert result_of("sample", [], LIMIT).structured == b"[]"


def test_a_skills_own_no_has_a_sentence_for_people_and_one_for_the_model() -> None:
    failed = failure_of("sample", SkillError("Disk is full.", for_model="Ask for a smaller file."), LIMIT)
    retryable = failure_of("sample", SkillError("Database is down.", retryable=True), LIMIT)

    assert failed.status == ResultStatus.RESULT_STATUS_FAILED
    assert (failed.structured, failed.parts[0].text) == (b'{"error":"Disk is full."}', "Ask for a smaller file.")
    assert retryable.status == ResultStatus.RESULT_STATUS_RETRYABLE
    assert retryable.parts[0].text == "Database is down."
    assert failed.digest == result_digest(failed)


TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(TREES)
def test_what_json_can_say_survives_unchanged(tree: object) -> None:
    assert from_json(to_json("sample", tree)) == tree
