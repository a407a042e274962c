import json

import pytest

from skill_services.sdk.errors import SkillDefinitionError
from skill_services.sdk.schema import closed_at_top, depth_of, plain


def keys_of(value: object) -> set[str]:
    if isinstance(value, dict):
        return set(value) | {key for inner in value.values() for key in keys_of(inner)}
    if isinstance(value, list):
        return {key for inner in value for key in keys_of(inner)}
    return set()


def test_references_are_inlined_and_a_type_within_itself_is_cut_with_a_note() -> None:
    node = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
    }
    schema = {"type": "object", "properties": {"root": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}}

    result = plain(schema)

    assert not {"$ref", "$defs"} & keys_of(result)
    inner = result["properties"]["root"]["properties"]["kids"]["items"]  # type: ignore[index]  # a JSON tree
    assert inner["type"] == "object"
    assert "Node" in inner["description"]


def test_a_reference_to_the_whole_schema_is_cut_as_well() -> None:
    result = plain({"type": "object", "properties": {"next": {"$ref": "#"}}})

    assert result["properties"]["next"]["type"] == "object"  # type: ignore[index]  # a JSON tree


def test_a_property_called_title_stays_and_titles_go() -> None:
    result = plain({"title": "Book", "type": "object", "properties": {"title": {"title": "Title", "type": "string"}}})

    assert result == {"type": "object", "properties": {"title": {"type": "string"}}}


def test_data_inside_a_schema_is_left_as_it_is() -> None:
    result = plain({"default": {"title": "x", "$ref": "#/nowhere"}, "enum": [{"title": "y"}], "const": {"$id": "z"}})

    assert result == {"default": {"title": "x", "$ref": "#/nowhere"}, "enum": [{"title": "y"}], "const": {"$id": "z"}}


def test_what_stands_beside_a_reference_wins_over_what_it_refers_to() -> None:
    result = plain(
        {"$ref": "#/$defs/a~1b", "description": "mine", "$defs": {"a/b": {"type": "string", "description": "its"}}}
    )

    assert result == {"type": "string", "description": "mine"}


@pytest.mark.parametrize("reference", ["https://example.org/schema", "#/$defs/missing", "#anchor"])
def test_a_reference_that_leads_nowhere_is_refused(reference: str) -> None:
    with pytest.raises(SkillDefinitionError, match="refers to"):
        plain({"properties": {"a": {"$ref": reference}}})


def test_a_schema_that_explodes_when_inlined_is_refused() -> None:
    definitions: dict[str, object] = {"d0": {"type": "string"}}
    for level in range(1, 20):
        reference = {"$ref": f"#/$defs/d{level - 1}"}
        definitions[f"d{level}"] = {"type": "object", "properties": {"a": reference, "b": reference}}

    with pytest.raises(SkillDefinitionError, match="too large"):
        plain({"$ref": "#/$defs/d19", "$defs": definitions})


def test_what_is_no_schema_is_refused() -> None:
    with pytest.raises(SkillDefinitionError, match="must be an object"):
        plain({"properties": {"a": 5}})


def test_closing_spares_objects_that_say_what_they_take() -> None:
    schema = {"anyOf": [{"properties": {"a": True}}, {"properties": {}, "additionalProperties": {"type": "string"}}]}

    assert plain(schema, close=True)["anyOf"] == [
        {"properties": {"a": True}, "additionalProperties": False},
        {"properties": {}, "additionalProperties": {"type": "string"}},
    ]


def test_only_a_schema_that_says_nothing_of_others_is_closed_at_the_top() -> None:
    closed = {"type": "object", "properties": {}, "additionalProperties": False}

    assert closed_at_top({"type": "object"}) == closed
    assert closed_at_top({"type": "object", "allOf": []}) == {"type": "object", "allOf": []}


def test_depth_counts_objects_and_arrays() -> None:
    assert depth_of({"a": [{"b": 1}]}) == 3
    assert depth_of({}) == 1
    assert depth_of("x") == 0


def test_the_public_case_of_recursive_types_behaves_as_it_expects() -> None:
    node = json.loads('{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/definitions/Node"}}}}')

    result = plain(
        {"type": "object", "properties": {"root": {"$ref": "#/definitions/Node"}}, "definitions": {"Node": node}}
    )

    assert not {"$ref", "definitions"} & keys_of(result)
