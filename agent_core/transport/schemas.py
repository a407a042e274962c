"""What a JSON Schema from the wire must be like before the core trusts it."""

from typing import Final

import jsonschema_rs
import orjson

from skillmesh.conventions import MAX_SCHEMA_BYTES, MAX_SCHEMA_DEPTH

_OBJECTS_OF_SCHEMAS: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")


def parameters_problem(text: bytes) -> str | None:
    """Why these bytes cannot be a skill's parameters, None where they can."""
    if not text:
        return "it is missing"
    schema, problem = _read(text)
    if problem is not None:
        return problem
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return 'it is no object schema ("type": "object")'
    return None


def output_problem(text: bytes) -> str | None:
    """Why these bytes cannot be a skill's output schema, None where they can; empty is any JSON."""
    return _read(text)[1] if text else None


def property_names(text: bytes) -> frozenset[str]:
    """Names of the parameters that a checked schema lists."""
    properties = orjson.loads(text).get("properties", {})
    return frozenset(properties)


def _read(text: bytes) -> tuple[object, str | None]:
    if len(text) > MAX_SCHEMA_BYTES:
        return None, f"it takes {len(text)} bytes, and the limit is {MAX_SCHEMA_BYTES}"
    try:
        schema: object = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return None, f"it is not valid JSON: {error}"
    if not isinstance(schema, dict | bool):
        return None, "it is no JSON Schema"
    problem = _shape_problem(schema)
    if problem is not None:
        return None, problem
    try:
        jsonschema_rs.validator_for(schema, offline=True)
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        return None, f"it does not compile: {str(error).splitlines()[0]}"
    return schema, None


def _shape_problem(schema: object) -> str | None:
    """Depth and references; iterative, so that no depth can break it."""
    waiting: list[tuple[object, int, bool]] = [(schema, 1, False)]
    while waiting:
        node, depth, names = waiting.pop()
        if depth > MAX_SCHEMA_DEPTH:
            return f"it is nested deeper than {MAX_SCHEMA_DEPTH} levels"
        if isinstance(node, dict):
            if not names and isinstance(node.get("$ref", node.get("$dynamicRef")), str):
                return "it uses $ref: every part must be written where it is used"
            waiting += [
                (value, depth + 1, not names and key in _OBJECTS_OF_SCHEMAS)
                for key, value in node.items()
                if isinstance(value, dict | list)
            ]
        elif isinstance(node, list):
            waiting += [(value, depth + 1, False) for value in node if isinstance(value, dict | list)]
    return None
