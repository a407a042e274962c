"""The rules for arguments hold at any depth and for any type."""

from typing import Any

import pytest
from pydantic import BaseModel

from skill_services.sdk import skill
from skill_services.sdk.schema import takes_anything
from skill_services.sdk.testing import InvalidArguments, SkillTester


class Node(BaseModel):
    name: str
    weight: float = 1.0
    kids: list["Node"] = []


@skill(version="1.0.0")
async def weigh(node: Node) -> float:
    """Weighs."""
    return node.weight


@pytest.mark.parametrize(
    ("deep", "place", "problem"),
    [
        ({"name": "c", "weight": "NaN"}, "weight", 'must be a number; got "NaN"'),
        ({"name": "c", "weight": "2"}, "weight", 'must be a number; got "2"'),
        ({"name": "c", "weight": True}, "weight", "must be a number; got true"),
        ({"name": "c", "wieght": 2}, "wieght", "is not a known field; did you mean weight?"),
    ],
)
async def test_where_a_recursive_schema_is_cut_the_same_rules_hold_below(
    deep: object, place: str, problem: str
) -> None:
    async with SkillTester([weigh]) as mesh:
        with pytest.raises(InvalidArguments) as refused:
            await mesh.call("weigh", {"node": {"name": "a", "kids": [{"name": "b", "kids": [deep]}]}})

    assert [(v.path, v.problem) for v in refused.value.violations] == [(f"node.kids[0].kids[0].{place}", problem)]


@pytest.mark.parametrize("number", ["1e999", "-1E+999", "1" + "0" * 400 + ".0"])
async def test_numbers_that_are_not_finite_are_refused_whatever_the_type(number: str) -> None:
    @skill(version="1.0.0")
    async def anything(value: Any = None, ratio: float = 0) -> object:
        """Takes anything."""
        return value

    async with SkillTester([anything]) as mesh:
        for text in (f'{{"ratio": {number}}}', f'{{"value": {number}}}', f'{{"value": [{{"deep": {number}}}]}}'):
            with pytest.raises(InvalidArguments) as refused:
                await mesh.call("anything", text)
            assert "finite" in refused.value.violations[0].problem
        for harmless in ("1e999 is much", "Infinity"):
            assert (await mesh.call("anything", {"value": harmless})).value == harmless


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "object", "properties": {"a": {"type": "number"}}, "additionalProperties": False}, False),
        ({"type": "object", "properties": {"a": {}}, "additionalProperties": False}, True),
        ({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "additionalProperties": False,
          "$defs": {"A": {"description": "Anything."}}}, True),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, False),
        ({"type": "object", "additionalProperties": True}, True),
        ({"type": "object"}, True),
        ({"type": ["array", "null"]}, True),
        ({"type": "array", "items": {"anyOf": [{"const": 1}, {"enum": ["a"]}]}}, False),
        ({"type": "array", "items": {"anyOf": [{"const": 1}, True]}}, True),
        ({"type": "array", "prefixItems": [{"type": "string"}], "minItems": 1, "maxItems": 1}, False),
    ],
)  # fmt: skip
def test_a_schema_is_known_to_leave_a_place_for_anything(schema: dict[str, object], expected: bool) -> None:
    assert takes_anything(schema) is expected
