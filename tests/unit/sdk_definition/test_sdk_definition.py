import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

import orjson
import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict as ExtendedTypedDict

from skill_services.sdk import BaseSkill, SkillContext, SkillDefinition, SkillDefinitionError, check, env_set, skill
from skill_services.sdk.runtime import Runtime, RuntimeOptions
from skill_services.sdk.testing import InvalidArguments, SkillTester
from skillmesh.v1 import skill_pb2


def add(first: int, second: int = 2) -> int:
    """Use when a sum is needed."""
    return first + second


def declared(**settings: Any) -> SkillDefinition:
    return skill(**{"version": "1.0.0", **settings})(add).definition()


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"name": "a b"}, "a name holds"),
        ({"name": "天气"}, "a name holds"),
        ({"name": "x" * 65}, "a name holds"),
        ({"version": "1.0"}, "semantic version"),
        ({"version": 1}, "semantic version"),
        ({"description": " "}, "no description"),
        ({"description": "x" * 5_000}, "move advice to llm_hint"),
        ({"llm_hint": "x" * 9_000}, "llm_hint has over"),
        ({"access": "foo"}, "choose 'observer'"),
        ({"effect": "foo"}, "choose 'read'"),
        ({"cache_ttl": 5}, "only for a skill with effect='read'"),
        ({"cache_ttl": 5, "effect": "write"}, "only for a skill with effect='read'"),
        ({"cache_ttl": -1, "effect": "read"}, "0 or more"),
        ({"cache_ttl": float("nan"), "effect": "read"}, "0 or more"),
        ({"timeout": 0}, "above 0"),
        ({"timeout": 1e9}, "above 0"),
        ({"timeout": "2"}, "above 0"),
        ({"max_parallel": -1}, "whole number"),
        ({"max_parallel": True}, "whole number"),
        ({"max_parallel": 2, "exclusive": True}, "remove it, or max_parallel"),
        ({"tags": "math"}, "tags must be a list"),
        ({"scenarios": [""]}, "scenarios must be a list"),
        ({"scenarios": ["x"] * 33}, "33 scenarios"),
        ({"scenarios": ["x" * 300]}, "a scenario has over"),
        ({"dependencies": ["a b"]}, "not a skill's name"),
        ({"prerequisites": ["env"]}, "must be made by env_set"),
        ({"prerequisites": [env_set("A"), env_set("A")]}, "same name"),
        ({"examples": ["text"]}, "must be a pair"),
        ({"examples": [("add", {"first": "x"})]}, "'add' does not fit: first must be an integer"),
        ({"examples": [("add", {"first": object()})]}, "'add' is no JSON"),
        ({"timeuot": 1}, "no setting 'timeuot'"),
    ],
)
def test_a_wrong_setting_is_an_authors_error_that_says_what_to_do(settings: dict[str, object], sentence: str) -> None:
    with pytest.raises(SkillDefinitionError, match=sentence):
        declared(**settings)


def test_a_missing_version_or_docstring_is_named() -> None:
    def silent() -> None:
        pass

    with pytest.raises(SkillDefinitionError, match="write @skill\\(version"):
        skill(name="x")(silent)  # type: ignore[call-arg]  # what is tested
    with pytest.raises(SkillDefinitionError, match="'silent': it has no description; write a docstring"):
        skill(version="1.0.0")(silent)


def test_what_is_no_plain_function_is_refused() -> None:
    async def streaming() -> AsyncIterator[int]:
        """Yields."""
        yield 1

    def generating() -> Iterator[int]:
        """Yields."""
        yield 1

    for function, sentence in ((streaming, "cannot yield"), (generating, "cannot yield"), (3, "above a function")):
        with pytest.raises(SkillDefinitionError, match=sentence):
            skill(version="1.0.0")(function)  # type: ignore[arg-type]  # what is tested


def test_a_skill_that_does_not_say_its_risk_gets_the_strictest() -> None:
    definition = declared()

    assert (definition.access, definition.effect) == ("admin", "write")


def test_a_decorated_function_stays_callable_and_keeps_its_name() -> None:
    decorated = skill(version="1.0.0")(add)

    assert decorated(1) == 3
    assert decorated.__name__ == "add"  # type: ignore[attr-defined]  # set by update_wrapper


class Sum(BaseModel):
    value: int


@dataclass
class Pair:
    left: int


class Row(TypedDict):
    name: str
    size: NotRequired[int]


def test_the_output_schema_follows_a_return_type_with_fields() -> None:
    @skill(version="1.0.0")
    async def model() -> Sum:
        """Returns a model."""
        return Sum(value=1)

    @skill(version="1.0.0")
    async def pair() -> Pair:
        """Returns a dataclass."""
        return Pair(1)

    @skill(version="1.0.0")
    async def row() -> Row:
        """Returns a row."""
        return {"name": "a"}

    @skill(version="1.0.0")
    async def anything() -> dict[str, object]:
        """Returns anything."""
        return {}

    integer = {"type": "integer"}
    assert model.definition().output == {"properties": {"value": integer}, "required": ["value"], "type": "object"}
    assert pair.definition().output == {"properties": {"left": integer}, "required": ["left"], "type": "object"}
    output = row.definition().output
    assert output is not None
    assert output["required"] == ["name"]
    assert anything.definition().output is None


def test_the_output_schema_follows_a_dict_with_fields_from_either_library() -> None:
    plain = TypedDict("plain", {"json": int, "_hidden": int, "a-b": NotRequired[str]})

    class Inner(ExtendedTypedDict):
        json: int

    class Outer(ExtendedTypedDict):
        inner: Inner
        note: NotRequired[str]

    class Wrapping(TypedDict):
        inner: Row

    def output_of(returned: object) -> Mapping[str, object] | None:
        async def made() -> object:
            """Returns fields."""
            return None

        made.__annotations__["return"] = returned
        return skill(version="1.0.0")(made).definition().output

    integer, text = {"type": "integer"}, {"type": "string"}
    json_schema = {"properties": {"json": integer}, "required": ["json"], "type": "object"}
    assert output_of(Inner) == json_schema
    assert output_of(Outer) == {
        "properties": {"inner": json_schema, "note": text}, "required": ["inner"], "type": "object"
    }  # fmt: skip
    assert output_of(plain) == {
        "properties": {"json": integer, "_hidden": integer, "a-b": text}, "required": ["json", "_hidden"],
        "type": "object",
    }  # fmt: skip
    if sys.version_info < (3, 12):
        with pytest.raises(SkillDefinitionError, match=r"typing_extensions\.TypedDict"):
            output_of(Wrapping)


def test_the_descriptor_carries_everything_that_was_declared() -> None:
    full = skill(
        version="1.2.3-rc.1",
        name="sum",
        access="operator",
        effect="read",
        timeout=1.5,
        cache_ttl=60,
        scenarios=["计算 1 加 2"],
        llm_hint="Only whole numbers.",
        examples=[("add one and two", {"first": 1})],
        owner="numbers",
        change_note="new",
        prerequisites=[check("luck", lambda: True)],
        dependencies=["mean"],
        credentials=["github"],
        max_parallel=4,
        tags=["math"],
        return_direct=True,
    )(add)

    (found,) = Runtime([full], RuntimeOptions()).describe().skills

    assert (found.name, found.version, found.owner, found.change_note) == ("sum", "1.2.3-rc.1", "numbers", "new")
    assert (found.access_level, found.effect) == (skill_pb2.ACCESS_LEVEL_OPERATOR, skill_pb2.EFFECT_READ)
    assert (found.timeout.ToTimedelta().total_seconds(), found.cache_ttl.seconds) == (1.5, 60)
    assert (list(found.scenarios), found.llm_hint, list(found.tags)) == (
        ["计算 1 加 2"],
        "Only whole numbers.",
        ["math"],
    )
    assert (found.examples[0].request, found.examples[0].arguments) == ("add one and two", b'{"first":1}')
    assert (found.prerequisites[0].name, found.prerequisites[0].met) == ("luck", False)
    assert (list(found.dependencies), list(found.credentials)) == (["mean"], ["github"])
    assert (found.exclusive, found.max_parallel, found.return_direct) == (False, 4, True)
    assert orjson.loads(found.parameters_schema)["required"] == ["first"]
    assert found.fingerprint


def test_a_schema_that_is_too_large_or_too_deep_is_refused() -> None:
    names = [f"field_{index:05}_{'x' * 40}" for index in range(1_500)]
    wide = BaseSkillOf({"type": "object", "properties": {name: {"type": "string"} for name in names}})
    deep: dict[str, object] = {"type": "string"}
    for _ in range(9):
        deep = {"type": "object", "properties": {"a": deep}}

    with pytest.raises(SkillDefinitionError, match="the limit is 65,536"):
        Runtime([wide], RuntimeOptions())
    with pytest.raises(SkillDefinitionError, match="nested 19 deep; the limit is 16"):
        Runtime([BaseSkillOf(deep)], RuntimeOptions())


class BaseSkillOf(BaseSkill):
    def __init__(self, parameters: dict[str, object], **settings: Any) -> None:
        self._definition = SkillDefinition(
            **{"name": "raw", "version": "1.0.0", "description": "Takes what it is given.", **settings},
            parameters=parameters,
        )

    def definition(self) -> SkillDefinition:
        return self._definition

    async def execute(self, arguments: dict[str, object], context: SkillContext) -> object:
        return {"arguments": arguments, "call": context.call_id}


async def test_the_class_form_validates_by_its_own_schema_and_refuses_unknown_arguments() -> None:
    properties = {"path": {"type": "string", "minLength": 1}, "day": {"type": "string", "format": "date"}}
    raw = BaseSkillOf({"type": "object", "properties": properties, "required": ["path"]})

    async with SkillTester([raw]) as mesh:
        result = await mesh.call("raw", {"path": "a"})
        with pytest.raises(InvalidArguments) as caught:
            await mesh.call("raw", {"path": "", "pth": 1, "day": "soon"})

    assert result.value == {"arguments": {"path": "a"}, "call": "call-1"}
    assert {violation.path: violation.problem for violation in caught.value.violations} == {
        "path": 'must have at least 1 character; got ""',
        "pth": "is not a known parameter; did you mean path?",
        "day": 'must be a valid date; got "soon"',
    }


async def test_the_class_form_checks_recursive_types_by_the_original_schema() -> None:
    node = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
    }
    raw = BaseSkillOf({"type": "object", "properties": {"root": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}})

    async with SkillTester([raw]) as mesh:
        assert b"$ref" not in mesh.describe("raw").parameters_schema
        with pytest.raises(InvalidArguments) as caught:
            await mesh.call("raw", {"root": {"kids": [{"kids": [{"name": 1}]}]}})

    assert [violation.path for violation in caught.value.violations] == ["root.kids[0].kids[0].name"]


def test_wrong_class_forms_are_refused() -> None:
    class Blocking(BaseSkillOf):
        def execute(self, arguments: dict[str, object], context: SkillContext) -> object:  # type: ignore[override]  # what is tested
            return None

    empty: dict[str, object] = {"type": "object"}
    for wrong, sentence in (
        (Blocking(empty), "must be an `async def`"),
        (BaseSkillOf, "pass an instance of it"),
        (add, "put @skill"),
        (BaseSkillOf({"type": "string"}), "object schema"),
        (BaseSkillOf({"type": "object", "properties": {"a": {"type": "strnig"}}}), "no valid JSON Schema"),
        (BaseSkillOf({"type": "object", "default": object()}), "no valid JSON Schema"),
        (BaseSkillOf(empty, version="x"), "semantic version"),
        (BaseSkillOf(empty, hidden=["x"]), "hidden must hold"),
        (BaseSkillOf(empty, examples=[("do it", {"x": 1})]), "'do it' does not fit: x is not a known parameter; none"),
    ):
        with pytest.raises(SkillDefinitionError, match=sentence):
            Runtime([wrong], RuntimeOptions())


def test_a_service_needs_skills_with_names_of_their_own() -> None:
    one = skill(version="1.0.0")(add)

    with pytest.raises(SkillDefinitionError, match="at least one"):
        Runtime([], RuntimeOptions())
    with pytest.raises(SkillDefinitionError, match="Two skills are called 'add'"):
        Runtime([one, one], RuntimeOptions())
    with pytest.raises(SkillDefinitionError, match="at most 512"):
        Runtime([one] * 513, RuntimeOptions())
