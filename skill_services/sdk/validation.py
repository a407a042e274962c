"""Arguments against a JSON Schema: read once, checked once, every violation at once."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import jsonschema_rs
import orjson
from pydantic_core import from_json
from pydantic_core import to_json as spell_out

from skill_services.sdk.errors import CallFailedError, SkillDefinitionError, failed
from skill_services.sdk.schema import takes_anything
from skill_services.sdk.wording import path_of, shown, violations_of
from skillmesh.errors import ErrorKind
from skillmesh.status import Violation

_MAX_VIOLATIONS = 32
_INFINITE: Final = "must be a finite number; what was sent is beyond the range of a float"


def parse_arguments(skill: str, data: bytes) -> dict[str, object]:
    """The JSON object in `data`; whole numbers of any size stay exact.

    Raises CallFailedError (INVALID_ARGUMENTS) where it is none.
    """
    if not data:
        return {}
    try:
        arguments = from_json(data, allow_inf_nan=False)
    except ValueError as error:
        raise invalid_arguments(
            skill, [Violation("", f"must be one JSON object; it is no valid JSON: {error}")]
        ) from None
    if not isinstance(arguments, dict):
        raise invalid_arguments(skill, [Violation("", f"must be one JSON object; got {shown(arguments)}")])
    return arguments


def invalid_arguments(skill: str, violations: Sequence[Violation]) -> CallFailedError:
    """INVALID_ARGUMENTS with all its violations."""
    message = f"The arguments do not fit skill {skill!r}; mend every point and call again."
    return failed(ErrorKind.INVALID_ARGUMENTS, message, violations[:_MAX_VIOLATIONS])


def check_example(skill: str, request: str, arguments: Mapping[str, object], read: Callable[[bytes], object]) -> None:
    """Raises SkillDefinitionError where the arguments of an example do not fit its skill."""
    try:
        read(orjson.dumps(arguments))
    except CallFailedError as error:
        points = "; ".join(f"{violation.path} {violation.problem}" for violation in error.error.violations)
        raise SkillDefinitionError(f"Skill {skill!r}: the example {request!r} does not fit: {points}.") from None
    except TypeError as error:
        raise SkillDefinitionError(f"Skill {skill!r}: the example {request!r} is no JSON: {error}.") from None


class SchemaCheck:
    """A compiled JSON Schema 2020-12. Raises SkillDefinitionError where it is none."""

    def __init__(self, schema: Mapping[str, object], *, formats: bool = False) -> None:
        self._schema = schema
        try:
            self._validator = jsonschema_rs.Draft202012Validator(dict(schema), validate_formats=formats)
        except ValueError as error:
            reason = str(error).split("\n", 1)[0]
            raise SkillDefinitionError(f"This is no valid JSON Schema (2020-12): {reason}.") from None
        self._open = takes_anything(schema)

    def accepts(self, arguments: Mapping[str, object]) -> bool:
        return self._validator.is_valid(arguments) and not (self._open and _has_infinity(arguments))

    def violations(self, arguments: Mapping[str, object]) -> list[Violation]:
        infinite = [Violation(path_of(path), _INFINITE) for path in _infinities(arguments, ())]
        if infinite:
            return infinite[:_MAX_VIOLATIONS]
        found: dict[Violation, None] = {}
        for error in self._validator.iter_errors(arguments):
            found.update(dict.fromkeys(violations_of(error, self._schema)))
            if len(found) >= _MAX_VIOLATIONS:
                break
        return list(found)


def _has_infinity(arguments: Mapping[str, object]) -> bool:
    """The parser makes infinity of what no float can hold, such as 1e999; text with that word is looked at closely."""
    spelled = b"Infinity" in spell_out(arguments, inf_nan_mode="constants")
    return spelled and any(True for _ in _infinities(arguments, ()))


def _infinities(value: object, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _infinities(inner, (*path, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _infinities(inner, (*path, index))
    elif isinstance(value, float) and math.isinf(value):
        yield path
