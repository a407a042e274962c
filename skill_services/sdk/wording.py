"""What is wrong with an argument, in words that a model can act on."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Final

import orjson
from jsonschema_rs import ValidationError

from skillmesh.status import Violation

_MAX_SHOWN = 60
_MAX_OPTIONS = 24
_TYPES: Final = {
    "string": "a string", "integer": "an integer", "number": "a number", "boolean": "true or false",
    "array": "an array", "object": "an object", "null": "null",
}  # fmt: skip
Details = Mapping[str, object]

_SENTENCES: Final[dict[str, Callable[[Details], str]]] = {
    "type": lambda kind: f"must be {_any_of(_sequence(kind['types']))}",
    "enum": lambda kind: f"must be one of {_options(_sequence(kind['options']))}",
    "const": lambda kind: f"must be {shown(kind['expected_value'])}",
    "minimum": lambda kind: f"must be at least {kind['limit']}",
    "maximum": lambda kind: f"must be at most {kind['limit']}",
    "exclusiveMinimum": lambda kind: f"must be greater than {kind['limit']}",
    "exclusiveMaximum": lambda kind: f"must be less than {kind['limit']}",
    "multipleOf": lambda kind: f"must be a multiple of {kind['multiple_of']}",
    "minLength": lambda kind: f"must have at least {_count(kind['limit'], 'character')}",
    "maxLength": lambda kind: f"must have at most {_count(kind['limit'], 'character')}",
    "minItems": lambda kind: f"must have at least {_count(kind['limit'], 'item')}",
    "maxItems": lambda kind: f"must have at most {_count(kind['limit'], 'item')}",
    "minProperties": lambda kind: f"must have at least {_count(kind['limit'], 'field')}",
    "maxProperties": lambda kind: f"must have at most {_count(kind['limit'], 'field')}",
    "pattern": lambda kind: f"must match the regular expression {kind['pattern']}",
    "format": lambda kind: f"must be a valid {kind['format']}",
    "falseSchema": lambda _kind: "must be left out",
    "oneOf": lambda _kind: "must fit exactly one of the alternatives, and fits several",
    "uniqueItems": lambda _kind: "must not contain the same item twice",
}


def violations_of(error: ValidationError, schema: object) -> list[Violation]:
    """One broken keyword as one violation, or as several where it names several fields or has nested reasons."""
    kind = error.kind.as_dict()
    match error.kind.name:
        case "required":
            return [Violation(path_of([*error.instance_path, str(kind["property"])]), "is required and missing")]
        case "additionalProperties" | "unevaluatedProperties":
            return _unknown_fields(error, kind, schema)
        case "anyOf" | "oneOf" if any(_sequence(kind["context"])):
            return _no_branch_fits(error, kind, schema)
        case name:
            say = _SENTENCES.get(name)
            problem = say(kind) if say else error.message[:200]
            return [Violation(path_of(error.instance_path), f"{problem}; got {shown(error.instance)}")]


def path_of(steps: Iterable[str | int]) -> str:
    """`a.b[0]`; empty for the whole."""
    path = ""
    for step in steps:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    return path


def shown(value: object) -> str:
    """The value as JSON, shortened."""
    try:
        text = orjson.dumps(value).decode()
    except TypeError:
        text = str(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."


def _unknown_fields(error: ValidationError, kind: Details, schema: object) -> list[Violation]:
    known = _known_fields(error.schema_path, schema)
    violations = []
    for name in map(str, _sequence(kind["unexpected"])):
        problem = "is not a known parameter" if not error.instance_path else "is not a known field"
        close = get_close_matches(name, known, n=1)
        if close:
            problem += f"; did you mean {close[0]}?"
        elif known:
            problem += f"; there are {', '.join(known[:_MAX_OPTIONS])}"
        else:
            problem += "; none is taken here"
        violations.append(Violation(path_of([*error.instance_path, name]), problem))
    return violations


def _known_fields(schema_path: Sequence[str | int], schema: object) -> list[str]:
    found = schema
    for step in schema_path[:-1]:
        if isinstance(step, int):
            found = found[step] if isinstance(found, list) and step < len(found) else None
        else:
            found = found.get(step) if isinstance(found, dict) else None
    properties = found.get("properties") if isinstance(found, dict) else None
    return list(properties) if isinstance(properties, dict) else []


def _no_branch_fits(error: ValidationError, kind: Details, schema: object) -> list[Violation]:
    """Where one branch was clearly meant, what is wrong with it; else what each would take."""
    branches = [branch for branch in _sequence(kind["context"]) if isinstance(branch, list) and branch]
    real = [branch for branch in branches if not _is_null(branch)] or branches
    meant = [branch for branch in real if not _is_elsewhere(branch, error)]
    candidates = real if len(real) == 1 else meant
    if len(candidates) == 1:
        return [violation for inner in candidates[0] for violation in violations_of(inner, schema)]
    wanted = dict.fromkeys(
        " and ".join(_in_place(violation, error) for inner in branch for violation in violations_of(inner, schema))
        for branch in (meant or real)
    )
    problem = ", or ".join(wanted)
    return [Violation(path_of(error.instance_path), f"{problem}; got {shown(error.instance)}")]


def _in_place(violation: Violation, error: ValidationError) -> str:
    below = violation.path.removeprefix(path_of(error.instance_path)).removeprefix(".")
    problem = violation.problem.split("; got ")[0]
    return f"{below} {problem}" if below else problem


def _is_null(branch: Sequence[ValidationError]) -> bool:
    first = branch[0]
    return len(branch) == 1 and first.kind.name == "type" and first.kind.as_dict()["types"] == ["null"]


def _is_elsewhere(branch: Sequence[ValidationError], error: ValidationError) -> bool:
    """True: the value was not meant for this branch, as its very type, or a constant field that names it, differs."""
    here = list(error.instance_path)
    return any(
        (inner.kind.name == "type" and list(inner.instance_path) == here)
        or (inner.kind.name == "const" and list(inner.instance_path)[:-1] == here)
        for inner in branch
    )


def _any_of(types: Sequence[object]) -> str:
    return " or ".join(_TYPES[str(name)] for name in sorted(types, key=lambda name: name == "null"))


def _options(options: Sequence[object]) -> str:
    listed = ", ".join(shown(option) for option in options[:_MAX_OPTIONS])
    return listed if len(options) <= _MAX_OPTIONS else f"{listed}, ..."


def _count(limit: object, noun: str) -> str:
    return f"{limit} {noun}" if limit == 1 else f"{limit} {noun}s"


def _sequence(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else (value,)
