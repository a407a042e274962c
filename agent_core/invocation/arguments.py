"""Checking a call's arguments against its skill's schema."""

from functools import lru_cache
from typing import Final

import jsonschema_rs
import orjson

from agent_core.domain.errors import CallError, InvalidArgumentsError, NotSentError, Violation
from agent_core.domain.skill import Skill
from skillmesh.conventions import MAX_ARGUMENT_BYTES
from skillmesh.errors import ErrorKind

MAX_DEPTH: Final = 64
_MAX_VIOLATIONS: Final = 32
_MAX_PROBLEM_CHARS: Final = 300
_PATTERNS: Final = jsonschema_rs.FancyRegexOptions(backtrack_limit=10_000)  # a skill's pattern holds up all calls
_COMPILED: Final = 1_024  # schemas kept; as many as a large mesh has skills


def check_arguments(skill: Skill, text: bytes) -> None:
    """Raises InvalidArgumentsError with all violations at once, NotSentError where the text is too large."""
    if len(text) > MAX_ARGUMENT_BYTES:
        sentence = f"The arguments of {skill.label} take {len(text)} bytes, and the limit is {MAX_ARGUMENT_BYTES}."
        raise NotSentError(ErrorKind.MESSAGE_TOO_LARGE, sentence, for_model=f"{sentence} Send less at once.")
    try:
        arguments = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise InvalidArgumentsError(f"The arguments of {skill.label} are not valid JSON: {error}.") from error
    if not isinstance(arguments, dict):
        raise InvalidArgumentsError(f"The arguments of {skill.label} must be one JSON object.")
    # Few brackets cannot nest deep; only a text with many is walked.
    if text.count(b"{") + text.count(b"[") > MAX_DEPTH and _too_deep(arguments):
        raise InvalidArgumentsError(f"The arguments of {skill.label} are nested deeper than {MAX_DEPTH} levels.")
    hidden = [one.name for one in skill.descriptor.hidden if one.name in arguments]
    validator = _validator(skill)
    if hidden or not validator.is_valid(arguments):
        violations = [Violation(name, "it is filled in by the system; leave it out") for name in hidden]
        violations += _violations(validator, arguments, hidden)
        raise InvalidArgumentsError(
            f"The arguments of {skill.label} do not fit its parameters; correct them and call it again.",
            tuple(violations[:_MAX_VIOLATIONS]),
        )


def _validator(skill: Skill) -> jsonschema_rs.Validator:
    try:
        return _compiled(skill.descriptor.parameters)
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        raise CallError(
            ErrorKind.PREREQUISITE_UNMET, f"{skill.label} cannot be called: its parameters are no usable JSON Schema."
        ) from error


@lru_cache(maxsize=_COMPILED)
def _compiled(schema: bytes) -> jsonschema_rs.Validator:
    """Keyed by the schema itself: one fingerprint has one schema, and no service can borrow another's."""
    return jsonschema_rs.validator_for(orjson.loads(schema), offline=True, pattern_options=_PATTERNS)


def _violations(validator: jsonschema_rs.Validator, arguments: dict[str, object], hidden: list[str]) -> list[Violation]:
    shown = {name: value for name, value in arguments.items() if name not in hidden}
    found = []
    for error in validator.iter_errors(shown):
        found.append(Violation(_path(error.instance_path), error.message[:_MAX_PROBLEM_CHARS]))
        if len(found) == _MAX_VIOLATIONS:
            break
    return found


def _path(steps: list[str | int]) -> str:
    path = ""
    for step in steps:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    return path


def _too_deep(value: object) -> bool:
    waiting = [(value, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > MAX_DEPTH:
            return True
        children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        waiting += [(child, depth + 1) for child in children if isinstance(child, dict | list)]
    return False
