import datetime as dt
import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal, Optional

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from skill_services.sdk import FromCaller, SkillContext, SkillDefinitionError, skill
from skill_services.sdk.testing import InvalidArguments, SkillTester


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: int
    y: int = 0


class Node(BaseModel):
    """A node of a tree."""

    name: str
    kids: list["Node"] = []


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str


class Exact(BaseModel):
    model_config = ConfigDict(strict=True)

    day: dt.date
    colour: Colour


class Lenient(BaseModel):
    model_config = ConfigDict(extra="allow")

    name: str


def even(value: int) -> int:
    if value % 2:
        raise ValueError("must be even")
    return value


@skill(version="1.0.0")
async def many(
    count: Annotated[int, Field(ge=1, description="How many.")],
    day: dt.date,
    *,
    colour: Colour = Colour.RED,
    at: dt.datetime | None = None,
    time: dt.time = dt.time(3),
    span: dt.timedelta = dt.timedelta(seconds=3),
    point: Optional[Point] = None,  # noqa: UP045  # both spellings must work
    node: Node | None = None,
    pet: Annotated[Cat | Dog, Field(discriminator="kind")] | None = None,
    names: list[str] = [],  # noqa: B006  # a default as authors write it; each call gets a copy
    sizes: dict[str, int] = {},  # noqa: B006
    words: set[str] = {"b", "a"},  # noqa: B006
    doubled: Annotated[int, AfterValidator(even)] = 2,
    json: str = "j",
    _hidden_from_nobody: int = 1,
    mode: Literal["fast", "slow"] = "fast",
    either: int | str = 3,
    ratio: float = 0.5,
    made: Annotated[list[int], Field(default_factory=lambda: [7])],
    context: SkillContext,
    who: Annotated[str, FromCaller("subject")],
) -> dict[str, object]:
    """Use when everything is wanted.

    Args:
        count: Not this one, as Field says it.
        day: The day.
        node: The tree.
    """
    values: dict[str, object] = dict(locals())
    del values["context"]
    return values | {"types": {name: type(value).__name__ for name, value in values.items()}}


async def value_of(arguments: dict[str, object]) -> dict[str, object]:
    async with SkillTester([many]) as mesh:
        value = (await mesh.call("many", arguments)).value
    assert isinstance(value, dict)
    return value


async def problems_of(arguments: dict[str, object] | str) -> dict[str, str]:
    async with SkillTester([many]) as mesh:
        with pytest.raises(InvalidArguments) as caught:
            await mesh.call("many", arguments)
    return {violation.path: violation.problem for violation in caught.value.violations}


def schema() -> dict[str, dict[str, object]]:
    properties = many.definition().parameters["properties"]
    assert isinstance(properties, dict)
    return properties


def test_the_schema_lists_visible_parameters_only_in_their_order_and_closes_itself() -> None:
    parameters = many.definition().parameters

    assert parameters["type"] == "object"
    assert parameters["additionalProperties"] is False
    assert parameters["required"] == ["count", "day"]
    assert list(schema())[:3] == ["count", "day", "colour"]
    assert "context" not in schema()
    assert "who" not in schema()


def test_the_schema_says_types_defaults_and_descriptions() -> None:
    assert schema()["count"] == {"description": "How many.", "minimum": 1, "type": "integer"}
    assert schema()["day"] == {"description": "The day.", "format": "date", "type": "string"}
    assert schema()["colour"] == {"enum": ["red", "blue"], "type": "string", "default": "red"}
    assert schema()["span"] == {"default": "PT3S", "format": "duration", "type": "string"}
    assert schema()["words"]["default"] == ["a", "b"]
    assert schema()["mode"] == {"default": "fast", "enum": ["fast", "slow"], "type": "string"}
    assert schema()["node"]["description"] == "The tree."
    assert schema()["sizes"] == {"additionalProperties": {"type": "integer"}, "default": {}, "type": "object"}


async def test_values_arrive_as_the_annotated_types() -> None:
    value = await value_of(
        {
            "count": 2.0,
            "day": "2026-01-31",
            "at": "2026-01-31T10:00:00Z",
            "colour": "blue",
            "point": {"x": 1},
            "node": {"name": "a", "kids": [{"name": "b"}]},
            "pet": {"kind": "cat", "lives": 9},
            "ratio": 1,
        }
    )

    types = value["types"]
    assert isinstance(types, dict)
    assert (types["count"], types["day"], types["at"], types["colour"]) == ("int", "date", "datetime", "Colour")
    assert (types["point"], types["node"], types["pet"], types["ratio"]) == ("Point", "Node", "Cat", "float")
    assert (types["span"], types["words"], types["time"]) == ("timedelta", "set", "time")
    assert value["made"] == [7]
    assert value["who"] == "tester"
    assert value["either"] == 3


async def test_every_violation_is_reported_at_once_in_words() -> None:
    problems = await problems_of(
        {
            "count": 0,
            "day": "soon",
            "color": "red",
            "colour": "green",
            "pet": {"kind": "cat", "lives": "nine"},
            "point": {"x": "1", "z": 2},
            "doubled": 3,
            "either": [],
            "node": {"name": 1, "kids": [{"name": 2}]},
            "names": "a",
            "words": ["a", "a"],
            "mode": "fastest",
        }
    )

    assert problems.pop("day").startswith("must be a valid date")
    assert problems == {
        "count": "must be at least 1; got 0",
        "color": "is not a known parameter; did you mean colour?",
        "colour": 'must be one of "red", "blue"; got "green"',
        "pet.lives": 'must be an integer; got "nine"',
        "point.x": 'must be an integer; got "1"',
        "point.z": "is not a known field; there are x, y",
        "doubled": "must be even; got 3",
        "either": "must be an integer, or must be a string; got []",
        "node.name": "must be a string; got 1",
        "node.kids[0].name": "must be a string; got 2",
        "names": 'must be an array; got "a"',
        "words": 'must not contain the same item twice; got ["a","a"]',
        "mode": 'must be one of "fast", "slow"; got "fastest"',
    }


async def test_what_the_schema_cuts_off_is_checked_all_the_same() -> None:
    kids = [{"name": "b", "kids": [{"nam": "c"}]}]

    problems = await problems_of({"count": 1, "day": "2026-01-31", "node": {"name": "a", "kids": kids}})

    assert problems == {
        "node.kids[0].kids[0].name": "is required and missing",
        "node.kids[0].kids[0].nam": "is not a known field; did you mean name?",
    }


async def test_missing_parameters_are_named() -> None:
    assert await problems_of({}) == {"count": "is required and missing", "day": "is required and missing"}


@pytest.mark.parametrize("text", ["[1]", '"x"', "null", "3"])
async def test_arguments_that_are_no_object_are_refused(text: str) -> None:
    assert (await problems_of(text))[""].startswith("must be one JSON object; got")


@pytest.mark.parametrize("text", ['{"count": ', "{'count': 1}", '{"count": NaN}', "[" * 5_000])
async def test_arguments_that_are_no_json_are_refused(text: str) -> None:
    assert "no valid JSON" in (await problems_of(text))[""]


async def test_a_hidden_parameter_cannot_be_smuggled_in() -> None:
    problems = await problems_of({"count": 1, "day": "2026-01-31", "who": "root"})

    assert list(problems) == ["who"]


async def test_strict_models_take_dates_and_enums_as_text() -> None:
    @skill(version="1.0.0")
    async def strict(exact: Exact) -> str:
        """Reads strictly."""
        return f"{exact.day:%Y} {exact.colour.name}"

    async with SkillTester([strict]) as mesh:
        result = await mesh.call("strict", {"exact": {"day": "2026-01-31", "colour": "red"}})

    assert result.value == "2026 RED"


async def test_a_model_that_allows_more_gets_more() -> None:
    @skill(version="1.0.0")
    async def lenient(thing: Lenient) -> dict[str, object]:
        """Takes more."""
        return thing.model_dump()

    async with SkillTester([lenient]) as mesh:
        result = await mesh.call("lenient", {"thing": {"name": "a", "more": 1}})

    assert result.value == {"name": "a", "more": 1}


async def test_whole_numbers_of_any_size_stay_exact() -> None:
    @skill(version="1.0.0")
    async def same(number: int) -> int:
        """Returns it."""
        return number

    async with SkillTester([same]) as mesh:
        result = await mesh.call("same", '{"number": 123456789012345678901234567890}')

    assert result.text == "123456789012345678901234567890"


async def test_a_default_that_json_cannot_show_still_reaches_the_function() -> None:
    marker = object()

    @skill(version="1.0.0")
    async def odd(thing: Annotated[object, Field(description="x")] = marker) -> bool:
        """Compares."""
        return thing is marker

    async with SkillTester([odd]) as mesh:
        assert (await mesh.call("odd")).value is True
        assert "default" not in str(mesh.parameters("odd"))


def test_a_field_as_default_works_as_in_other_frameworks() -> None:
    @skill(version="1.0.0")
    async def fielded(count: int = Field(3, le=5, description="How many.")) -> int:
        """Counts."""
        return count

    assert fielded.definition().parameters["properties"] == {
        "count": {"default": 3, "description": "How many.", "maximum": 5, "type": "integer"}
    }


def test_a_skill_without_parameters_has_an_empty_closed_schema() -> None:
    @skill(version="1.0.0")
    async def nothing() -> None:
        """Does nothing."""

    assert nothing.definition().parameters == {"type": "object", "properties": {}, "additionalProperties": False}


def untyped(x) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001  # what is tested
    """Has no annotation."""


def starred(*args: int) -> None:
    """Takes any number."""


def keyworded(**options: int) -> None:
    """Takes any names."""


def positional(x: int, /) -> None:
    """Is positional."""


def unfit(x: SkillTester) -> None:
    """Has a type that JSON cannot fill."""


def callable_parameter(ok: int, x: type(print)) -> None:  # type: ignore[valid-type]  # what is tested
    """Has another."""


def bad_pattern(x: Annotated[str, Field(pattern="(")]) -> None:
    """Has a pattern that is none."""


def no_schema(ok: int, x: Callable[[], int]) -> None:
    """Has a type that has no JSON Schema."""


def two_contexts(a: SkillContext, b: SkillContext | None) -> None:
    """Wants two."""


def aliased(x: Annotated[int, Field(alias="y")]) -> None:
    """Has an alias."""


def unknown_in_docstring(x: int) -> None:
    """Describes another.

    Args:
        y: What is this?
    """


def wrong_key(x: Annotated[str, FromCaller("salary")]) -> None:
    """Asks for what no caller has."""


def unresolved(x: "Nowhere") -> None:  # type: ignore[name-defined]  # noqa: F821  # what is tested
    """Has an annotation that leads nowhere."""


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (untyped, "'x' has no annotation"),
        (starred, r"cannot take '\*args: int'"),
        (keyworded, "cannot take"),
        (positional, "positional-only"),
        (unfit, "'x' has a type that JSON arguments cannot fill"),
        (callable_parameter, "'x' has a type"),
        (bad_pattern, "'x' has a type"),
        (no_schema, "'x' has a type"),
        (two_contexts, "keep one"),
        (aliased, "alias"),
        (unknown_in_docstring, "describes 'y'"),
        (wrong_key, "no 'salary'"),
        (unresolved, "'Nowhere' cannot be resolved"),
    ],
)
def test_a_parameter_that_a_call_cannot_fill_is_an_authors_error(function: object, sentence: str) -> None:
    with pytest.raises(SkillDefinitionError, match=sentence):
        skill(version="1.0.0")(function)  # type: ignore[arg-type]  # functions of every kind
