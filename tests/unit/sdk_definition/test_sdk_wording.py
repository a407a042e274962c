import pytest

from skill_services.sdk.validation import SchemaCheck


def problems(schema: dict[str, object], value: object) -> dict[str, str]:
    check = SchemaCheck({"type": "object", "properties": {"x": schema}}, formats=True)
    assert not check.accepts({"x": value})
    return {violation.path: violation.problem for violation in check.violations({"x": value})}


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"type": "integer"}, 1.5, "must be an integer; got 1.5"),
        ({"type": ["integer", "null"]}, "a", 'must be an integer or null; got "a"'),
        ({"type": "boolean"}, "yes", 'must be true or false; got "yes"'),
        ({"type": "string"}, 2**70, f"must be a string; got {2**70}"),
        ({"type": "string"}, ["x" * 100], 'must be a string; got ["' + "x" * 58 + "..."),
        ({"enum": list(range(30))}, 99, "must be one of " + ", ".join(map(str, range(24))) + ", ...; got 99"),
        ({"const": "a"}, "b", 'must be "a"; got "b"'),
        ({"maximum": 5}, 6, "must be at most 5; got 6"),
        ({"exclusiveMinimum": 5}, 5, "must be greater than 5; got 5"),
        ({"exclusiveMaximum": 5}, 5, "must be less than 5; got 5"),
        ({"multipleOf": 2}, 3, "must be a multiple of 2; got 3"),
        ({"minLength": 2}, "a", 'must have at least 2 characters; got "a"'),
        ({"maxLength": 1}, "ab", 'must have at most 1 character; got "ab"'),
        ({"minItems": 1}, [], "must have at least 1 item; got []"),
        ({"maxItems": 1}, [1, 2], "must have at most 1 item; got [1,2]"),
        ({"minProperties": 1}, {}, "must have at least 1 field; got {}"),
        ({"maxProperties": 0}, {"a": 1}, 'must have at most 0 fields; got {"a":1}'),
        ({"pattern": "^a"}, "b", 'must match the regular expression ^a; got "b"'),
        ({"format": "date"}, "b", 'must be a valid date; got "b"'),
        ({"uniqueItems": True}, [1, 1], "must not contain the same item twice; got [1,1]"),
        (
            {"oneOf": [{"type": "integer"}, {"minimum": 0}]},
            1,
            "must fit exactly one of the alternatives, and fits several; got 1",
        ),
        (False, 1, "must be left out; got 1"),
        ({"anyOf": [{"type": "integer", "minimum": 3}, {"type": "null"}]}, 1, "must be at least 3; got 1"),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, [], "must be an integer, or must be a string; got []"),
    ],
)
def test_a_broken_rule_is_said_in_words(schema: dict[str, object], value: object, expected: str) -> None:
    assert problems(schema, value) == {"x": expected}


def test_the_alternative_that_was_meant_says_what_is_wrong_with_it() -> None:
    cat = {"properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}}, "required": ["kind", "lives"]}
    dog = {"properties": {"kind": {"const": "dog"}, "name": {"type": "string"}}, "required": ["kind", "name"]}

    assert problems({"oneOf": [cat, dog]}, {"kind": "dog"}) == {"x.name": "is required and missing"}
    assert problems({"oneOf": [cat, dog]}, {"kind": "cow", "lives": 1, "name": "a"}) == {
        "x": 'kind must be "cat", or kind must be "dog"; got {"kind":"cow","lives":1,"name":"a"}'
    }


def test_unknown_fields_are_answered_with_those_there_are() -> None:
    closed = {"type": "object", "properties": {"alpha": True, "beta": True}, "additionalProperties": False}
    empty = {"type": "object", "properties": {}, "additionalProperties": False}

    assert problems(closed, {"alhpa": 1}) == {"x.alhpa": "is not a known field; did you mean alpha?"}
    assert problems(closed, {"zzz": 1}) == {"x.zzz": "is not a known field; there are alpha, beta"}
    assert problems(empty, {"zzz": 1}) == {"x.zzz": "is not a known field; none is taken here"}
    assert problems({"type": "array", "items": closed}, [{"zzz": 1}]) == {
        "x[0].zzz": "is not a known field; there are alpha, beta"
    }


def test_a_rule_without_words_of_its_own_still_says_something() -> None:
    assert "not" in problems({"not": {"type": "integer"}}, 1)["x"]


def test_violations_are_bounded_in_number() -> None:
    check = SchemaCheck({"type": "object", "additionalProperties": {"type": "integer"}})

    assert len(check.violations({f"x{index}": "a" for index in range(100)})) == 32
