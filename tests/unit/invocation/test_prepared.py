import time

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.domain.call import CallContext, Principal, ResultStatus, SkillCall, SkillResult
from agent_core.domain.errors import CallError, InvalidArgumentsError, NotSentError, RegistryError
from agent_core.domain.skill import HiddenParameter, HiddenSource, Prerequisite, Skill
from agent_core.invocation.arguments import check_arguments
from agent_core.invocation.prepared import prepared
from skillmesh.conventions import MAX_ARGUMENT_BYTES
from skillmesh.errors import ErrorKind
from tests.support.call_path_values import FixedCatalogue, call_of, context, instance, skill

SCHEMA = orjson.dumps(
    {
        "type": "object",
        "properties": {
            "expression": {"type": "string", "maxLength": 10},
            "options": {"type": "object", "properties": {"digits": {"type": "array", "items": {"type": "integer"}}}},
        },
        "required": ["expression"],
        "additionalProperties": False,
    }
)


class Inner:
    """What lies below: answers, and remembers the calls; `moved` answers come first."""

    def __init__(self, moved: int = 0) -> None:
        self.calls: list[SkillCall] = []
        self._moved = moved

    async def __call__(self, call: SkillCall, _context: CallContext) -> SkillResult:
        self.calls.append(call)
        if len(self.calls) <= self._moved:
            raise CallError(ErrorKind.SCHEMA_MOVED, "moved")
        return SkillResult(ResultStatus.SUCCESS, b"1")


async def refused(one: Skill, arguments: bytes) -> CallError:
    inner = Inner()
    with pytest.raises(CallError) as caught:
        await prepared(FixedCatalogue(one))(inner)(call_of(one, arguments), context())
    assert not inner.calls
    return caught.value


@pytest.mark.parametrize("text", [b'{"expression":"1"}', b'{ "expression" :\n"1\\u0031", "options":{"digits":[1]} }'])
async def test_valid_arguments_pass_through_byte_for_byte(text: bytes) -> None:
    inner = Inner()
    one = skill(parameters=SCHEMA)
    await prepared(FixedCatalogue(one))(inner)(call_of(one, text), context())
    assert inner.calls[0].arguments is text


async def test_no_arguments_are_an_empty_object() -> None:
    inner = Inner()
    await prepared(FixedCatalogue())(inner)(call_of(skill(), b""), context())
    assert inner.calls[0].arguments == b"{}"


async def test_every_violation_is_told_at_once_with_its_place() -> None:
    error = await refused(
        skill(parameters=SCHEMA), b'{"expression":"far too long to fit","options":{"digits":[1,"x"]},"more":1}'
    )
    assert isinstance(error, InvalidArgumentsError)
    assert {one.path for one in error.violations} == {"expression", "options.digits[1]", ""}
    assert error.for_model.startswith("The arguments of calculator.calculate do not fit its parameters; correct them")
    assert '- options.digits[1]: "x" is not of type "integer"' in error.for_model


async def test_the_number_of_violations_is_bounded() -> None:
    schema = b'{"type":"object","additionalProperties":{"type":"integer"}}'
    error = await refused(skill(parameters=schema), orjson.dumps({f"p{n}": "x" * 5_000 for n in range(100)}))
    assert isinstance(error, InvalidArgumentsError)
    assert len(error.violations) == 32
    assert len(error.for_model) < 15_000


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"{", "not valid JSON"),
        (b'{"a": NaN}', "not valid JSON"),
        (b'"text"', "must be one JSON object"),
        (b'{"a":' + b"[" * 70 + b"]" * 70 + b"}", "nested deeper than 64 levels"),
        (b'{"a":"\xff"}', "not valid JSON"),
    ],
)
async def test_what_is_no_plain_json_object_is_refused(text: bytes, says: str) -> None:
    error = await refused(skill(), text)
    assert error.kind is ErrorKind.INVALID_ARGUMENTS
    assert says in error.for_model


async def test_many_brackets_that_do_not_nest_are_no_depth() -> None:
    check_arguments(skill(), b'{"a":[' + b",".join([b"{}"] * 500) + b"]}")


async def test_arguments_over_the_limit_are_refused_with_size_and_limit() -> None:
    error = await refused(skill(), b'{"a":"' + b"x" * MAX_ARGUMENT_BYTES + b'"}')
    assert isinstance(error, NotSentError)
    assert error.kind is ErrorKind.MESSAGE_TOO_LARGE
    assert f"take {MAX_ARGUMENT_BYTES + 8} bytes, and the limit is {MAX_ARGUMENT_BYTES}" in error.for_model


async def test_a_hidden_parameter_cannot_be_named_by_the_model() -> None:
    hidden = (HiddenParameter("user", HiddenSource.CALLER, "subject"),)
    error = await refused(skill(hidden=hidden), b'{"user":"root"}')
    assert error.kind is ErrorKind.INVALID_ARGUMENTS
    assert "user: it is filled in by the system" in error.for_model


async def test_hidden_parameters_are_filled_from_caller_and_session_only() -> None:
    hidden = (
        HiddenParameter("user", HiddenSource.CALLER, "subject"),
        HiddenParameter("roles", HiddenSource.CALLER, "roles"),
        HiddenParameter("zone", HiddenSource.CALLER, "time_zone"),
        HiddenParameter("language", HiddenSource.CALLER, "locale"),
        HiddenParameter("odd", HiddenSource.CALLER, "shoe_size"),
        HiddenParameter("session", HiddenSource.SESSION, "session_id"),
        HiddenParameter("repository", HiddenSource.SESSION, "repository"),
        HiddenParameter("branch", HiddenSource.SESSION, "branch"),
        HiddenParameter("endpoint", HiddenSource.OPERATOR, "endpoint"),
    )
    inner = Inner()
    asked = context(principal=Principal("ann", ("dev",)), session_id="s1", session={"repository": "mesh"})
    await prepared(FixedCatalogue())(inner)(call_of(skill(hidden=hidden)), asked)
    assert orjson.loads(inner.calls[0].hidden) == {
        "user": "ann",
        "roles": ["dev"],
        "zone": "UTC",
        "session": "s1",
        "repository": "mesh",
    }


async def test_hidden_parameters_that_have_no_value_leave_nothing_to_send() -> None:
    inner = Inner()
    one = skill(hidden=(HiddenParameter("endpoint", HiddenSource.OPERATOR, "endpoint"),))
    await prepared(FixedCatalogue())(inner)(call_of(one), context())
    assert inner.calls[0].hidden == b""


async def test_a_skill_whose_prerequisites_are_unmet_says_what_is_missing() -> None:
    one = Skill(
        "logs", "logs", skill().descriptor, (), (Prerequisite("env:LOGS", met=False, reason="LOGS is not set."),)
    )
    error = await refused(one, b"{}")
    assert error.kind is ErrorKind.PREREQUISITE_UNMET
    assert "is not available: LOGS is not set." in error.for_model


async def test_a_skill_whose_schema_cannot_be_used_is_refused() -> None:
    error = await refused(skill(parameters=b'{"type":"nonsense"}'), b"{}")
    assert error.kind is ErrorKind.PREREQUISITE_UNMET


async def test_a_skill_that_moved_is_resolved_anew_checked_anew_and_called_again() -> None:
    old, new = skill(fingerprint="f1"), skill(fingerprint="f2", parameters=SCHEMA)
    source = FixedCatalogue(old, after_refresh=(new,))
    inner = Inner(moved=1)
    await prepared(source)(inner)(call_of(old, b'{"expression":"1"}'), context())
    assert source.refreshed == ["calculator"]
    assert [one.skill.descriptor.fingerprint for one in inner.calls] == ["f1", "f2"]


async def test_where_one_instance_has_moved_on_the_others_are_asked() -> None:
    both = skill(instances=(instance(1), instance(2)))
    rest = skill(instances=(instance(2),))
    inner = Inner(moved=1)
    await prepared(FixedCatalogue(both, after_refresh=(rest,)))(inner)(call_of(both), context())
    assert [one.skill for one in inner.calls] == [both, rest]


async def test_arguments_that_do_not_fit_the_moved_skill_are_told_so() -> None:
    old, new = skill(fingerprint="f1"), skill(fingerprint="f2", parameters=SCHEMA)
    with pytest.raises(InvalidArgumentsError):
        await prepared(FixedCatalogue(old, after_refresh=(new,)))(Inner(moved=1))(call_of(old), context())


async def test_a_skill_that_keeps_moving_is_refreshed_once() -> None:
    old, new = skill(fingerprint="f1"), skill(fingerprint="f2")
    source = FixedCatalogue(old, after_refresh=(new,))
    inner = Inner(moved=2)
    with pytest.raises(CallError) as caught:
        await prepared(source)(inner)(call_of(old), context())
    assert caught.value.kind is ErrorKind.SCHEMA_MOVED
    assert len(inner.calls) == 2
    assert len(source.refreshed) == 1


@pytest.mark.parametrize("seconds", [30.0, 0.0])
async def test_where_a_refresh_brings_nothing_new_the_error_stands(seconds: float) -> None:
    class Broken(FixedCatalogue):
        async def refresh(self, service: str) -> None:
            raise RegistryError("gone")

    for source in (FixedCatalogue(skill()), Broken(skill())):
        inner = Inner(moved=1)
        with pytest.raises(CallError) as caught:
            await prepared(source)(inner)(call_of(), context(seconds=seconds))
        assert caught.value.kind is ErrorKind.SCHEMA_MOVED
        assert len(inner.calls) == 1


def checked(text: bytes) -> CallError | None:
    try:
        check_arguments(skill(parameters=SCHEMA), text)
    except CallError as error:
        return error
    return None


@given(st.binary(max_size=200))
def test_no_text_breaks_the_check(text: bytes) -> None:
    error = checked(text)
    assert error is None or error.kind is ErrorKind.INVALID_ARGUMENTS


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=9), st.lists, max_leaves=9
)


@given(st.dictionaries(st.sampled_from(["expression", "options", "x"]), JSON))
def test_whatever_is_refused_says_why(arguments: dict[str, object]) -> None:
    error = checked(orjson.dumps(arguments))
    assert error is None or (isinstance(error, InvalidArgumentsError) and error.violations)


def test_a_pattern_that_backtracks_without_end_is_given_up_soon() -> None:
    one = skill(parameters=b'{"type":"object","properties":{"s":{"type":"string","pattern":"^(a|aa)+(?=b)c$"}}}')
    began = time.process_time()
    with pytest.raises(InvalidArgumentsError) as refused:
        check_arguments(one, b'{"s":"' + b"a" * 5_000 + b'"}')
    assert time.process_time() - began < 1.0
    assert [violation.path for violation in refused.value.violations] == ["s"]
