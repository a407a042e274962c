import contextlib
from typing import Any

import orjson
import pytest
from google.protobuf.duration_pb2 import Duration
from hypothesis import given
from hypothesis import strategies as st

from agent_core.domain.skill import (
    AccessLevel,
    Effect,
    Example,
    HiddenParameter,
    HiddenSource,
    Prerequisite,
)
from agent_core.transport.descriptors import DescriptorError, describe_all, descriptor_from_pb
from agent_core.transport.schemas import output_problem, parameters_problem
from skillmesh.conventions import MAX_SKILLS_PER_SERVICE
from skillmesh.v1 import skill_pb2 as pb

OBJECT = b'{"type":"object"}'


def wire(name: str = "calculate", **fields: Any) -> pb.SkillDescriptor:
    values = {"version": "1.0.0", "description": "Use it.", "parameters_schema": OBJECT, **fields}
    return pb.SkillDescriptor(name=name, **values)


def test_a_full_descriptor_arrives_whole() -> None:
    descriptor = descriptor_from_pb(
        wire(
            owner="team",
            change_note="new",
            scenarios=["What is 2 + 2?", "计算"],
            llm_hint="Mind the brackets.",
            output_schema=b'{"type":"number"}',
            examples=[pb.SkillExample(request="2 + 2", arguments=b'{"expression":"2+2"}')],
            access_level=pb.ACCESS_LEVEL_OPERATOR,
            effect=pb.EFFECT_READ,
            timeout=Duration(seconds=2, nanos=500_000_000),
            cache_ttl=Duration(seconds=60),
            prerequisites=[pb.Prerequisite(name="env:A", met=False, reason="A is not set")],
            dependencies=["units"],
            exclusive=True,
            max_parallel=3,
            hidden_parameters=[
                pb.HiddenParameter(name="user", source=pb.HIDDEN_SOURCE_CALLER, key="subject"),
                pb.HiddenParameter(name="repository", source=pb.HIDDEN_SOURCE_SESSION),
                pb.HiddenParameter(name="endpoint"),
            ],
            credentials=["github"],
            tags=["math"],
            return_direct=True,
            fingerprint="f1",
        )
    )
    assert descriptor.timeout == 2.5
    assert descriptor.cache_ttl == 60.0
    assert (descriptor.access, descriptor.effect) == (AccessLevel.OPERATOR, Effect.READ)
    assert descriptor.scenarios == ("What is 2 + 2?", "计算")
    assert descriptor.examples == (Example("2 + 2", b'{"expression":"2+2"}'),)
    assert descriptor.prerequisites == (Prerequisite("env:A", met=False, reason="A is not set"),)
    assert descriptor.hidden == (
        HiddenParameter("user", HiddenSource.CALLER, "subject"),
        HiddenParameter("repository", HiddenSource.SESSION, "repository"),
        HiddenParameter("endpoint", HiddenSource.OPERATOR, "endpoint"),
    )
    assert (descriptor.exclusive, descriptor.max_parallel, descriptor.return_direct) == (True, 3, True)
    assert descriptor.fingerprint == "f1"


def test_what_is_left_out_is_read_strictly() -> None:
    descriptor = descriptor_from_pb(wire(cache_ttl=Duration(seconds=60)))
    assert (descriptor.access, descriptor.effect) == (AccessLevel.ADMIN, Effect.WRITE)
    assert (descriptor.timeout, descriptor.cache_ttl) == (10.0, 0.0)
    unknown = wire()
    unknown.access_level = 99  # type: ignore[assignment]  # a value of a later version
    unknown.effect = 99  # type: ignore[assignment]
    assert descriptor_from_pb(unknown).access is AccessLevel.ADMIN


def test_without_a_fingerprint_one_is_made_of_everything_but_the_prerequisites_state() -> None:
    def fingerprint(**fields: Any) -> str:
        return descriptor_from_pb(wire(**fields)).fingerprint

    met = [pb.Prerequisite(name="env:A", met=True)]
    unmet = [pb.Prerequisite(name="env:A", met=False, reason="not set")]
    assert fingerprint() == fingerprint() != fingerprint(version="1.0.1")
    assert fingerprint(prerequisites=met) == fingerprint(prerequisites=unmet) != fingerprint()
    assert len(fingerprint()) == 32


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"name": "has.dot"}, "its name does not match"),
        ({"name": "x" * 65}, "its name does not match"),
        ({"version": ""}, "it has no version"),
        ({"description": " \n"}, "it has no description"),
        ({"description": "x" * 4_097}, "its description has 4097 characters, and the limit is 4096"),
        ({"llm_hint": "x" * 8_193}, "its llm_hint has 8193 characters"),
        ({"scenarios": ["x"] * 33}, "it has more than 32 scenarios"),
        ({"scenarios": ["x" * 257]}, "its scenarios has 257 characters"),
        ({"tags": ["x"] * 65}, "it has more than 64 tags"),
        ({"parameters_schema": b""}, "its parameters_schema cannot be used: it is missing"),
        ({"parameters_schema": b"{"}, "it is not valid JSON"),
        ({"parameters_schema": b"[]"}, "it is no JSON Schema"),
        ({"parameters_schema": b"true"}, "it is no object schema"),
        ({"parameters_schema": b'{"type":"array"}'}, "it is no object schema"),
        ({"parameters_schema": b'{"type":"object","properties":{"a":{"type":"strin"}}}'}, "it does not compile"),
        ({"parameters_schema": b'{"type":"object","title":"' + b"x" * 65_536 + b'"}'}, "and the limit is 65536"),
        ({"parameters_schema": b'{"type":"object","properties":{"a":{"$ref":"#/$defs/b"}}}'}, "it uses $ref"),
        ({"output_schema": b'{"type":7}'}, "its output_schema cannot be used: it does not compile"),
        ({"output_schema": b'{"$ref":"http://127.0.0.1:1/x"}'}, "it uses $ref"),
        ({"timeout": Duration()}, "its timeout is 0 s"),
        ({"timeout": Duration(seconds=3_601)}, "its timeout is 3601 s"),
        ({"cache_ttl": Duration(seconds=-1)}, "its cache_ttl is negative"),
        ({"examples": [pb.SkillExample(request="r", arguments=b"[]")]}, "are no JSON object"),
        ({"examples": [pb.SkillExample(request="r", arguments=b"{")]}, "are no JSON object"),
        ({"examples": [pb.SkillExample(arguments=b" " * 1_048_577)]}, "an example has arguments of 1048577 bytes"),
        (
            {
                "parameters_schema": b'{"type":"object","properties":{"user":{}}}',
                "hidden_parameters": [pb.HiddenParameter(name="user")],
            },
            "its hidden parameter 'user' is in parameters_schema, too",
        ),
    ],
)
def test_a_descriptor_that_breaks_a_limit_is_left_out_with_a_sentence(fields: dict[str, Any], says: str) -> None:
    description = describe_all([wire(**fields), wire("healthy")])
    assert [one.name for one in description.skills] == ["healthy"]
    (problem,) = description.problems
    assert says in problem
    assert problem.endswith(".")
    assert len(problem) < 400


def test_names_that_a_service_offers_twice_are_left_out() -> None:
    description = describe_all([wire("a"), wire("b"), wire("a")])
    assert [one.name for one in description.skills] == ["b"]
    assert description.problems == ("'a' is left out: 2 skills have this name.",)


def test_skills_beyond_the_limit_are_left_out() -> None:
    description = describe_all([wire(f"s{number}") for number in range(MAX_SKILLS_PER_SERVICE + 3)])
    assert len(description.skills) == MAX_SKILLS_PER_SERVICE
    assert description.problems == ("3 skills are left out: a service may have 512 at most.",)


def nested(levels: int) -> bytes:
    return b'{"type":"object","properties":{"a":' * levels + b"{}" + b"}}" * levels


def test_a_schema_may_nest_sixteen_levels() -> None:
    assert parameters_problem(nested(7)) is None
    assert parameters_problem(nested(8)) == "it is nested deeper than 16 levels"
    assert parameters_problem(b'{"a":' * 500 + b"1" + b"}" * 500) == "it is nested deeper than 16 levels"
    assert output_problem(b'{"enum":[' + b"[" * 20 + b"]" * 20 + b"]}") == "it is nested deeper than 16 levels"


def test_a_parameter_may_be_called_ref() -> None:
    assert parameters_problem(b'{"type":"object","properties":{"$ref":{"type":"string"}}}') is None


SCHEMA_LIKE = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["object", "string", "integer", "$ref", "(", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "properties", "items", "$ref", "required", "pattern", "enum", "anyOf", "not", "$id"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(SCHEMA_LIKE)
def test_no_schema_breaks_the_check(schema: object) -> None:
    problem = parameters_problem(orjson.dumps(schema))
    if problem is None:
        assert isinstance(schema, dict)
        assert descriptor_from_pb(wire(parameters_schema=orjson.dumps(schema))).parameters == orjson.dumps(schema)


@given(st.binary(max_size=300))
def test_no_bytes_break_a_descriptor(data: bytes) -> None:
    with contextlib.suppress(DescriptorError):
        descriptor_from_pb(wire(parameters_schema=data, output_schema=data, fingerprint=data.hex()))
