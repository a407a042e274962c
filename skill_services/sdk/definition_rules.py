"""The rules that a definition must keep, each with the sentence that says how."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, get_args

import orjson

from skill_services.sdk.definition import Access, Effect, SkillDefinition
from skill_services.sdk.errors import SkillDefinitionError
from skill_services.sdk.hidden import Hidden
from skill_services.sdk.prerequisites import Prerequisite
from skill_services.sdk.schema import depth_of
from skillmesh.conventions import (
    MAX_DESCRIPTION_CHARS,
    MAX_HINT_CHARS,
    MAX_SCENARIO_CHARS,
    MAX_SCENARIOS,
    MAX_SCHEMA_BYTES,
    MAX_SCHEMA_DEPTH,
    MAX_TIMEOUT_SECONDS,
    SKILL_NAME,
)

_VERSION: Final = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?"
    r"(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?",
    re.ASCII,
)
_LISTS: Final = ("scenarios", "tags", "dependencies", "credentials")


def checked(definition: SkillDefinition) -> SkillDefinition:
    """The same definition. Raises SkillDefinitionError for the first rule that it breaks."""
    for rule in _RULES:
        for problem in rule(definition):
            raise SkillDefinitionError(f"Skill {str(definition.name)[:80]!r}: {problem}")
    return definition


def schema_text(schema: object, what: str) -> bytes:
    """A schema as UTF-8 JSON, within the limits on size and depth."""
    try:
        text = orjson.dumps(schema)
    except TypeError as error:
        raise SkillDefinitionError(f"{what} is no JSON: {error}.") from None
    if len(text) > MAX_SCHEMA_BYTES:
        raise SkillDefinitionError(f"{what} has {len(text):,} bytes; the limit is {MAX_SCHEMA_BYTES:,}. Simplify it.")
    depth = depth_of(schema)
    if depth > MAX_SCHEMA_DEPTH:
        raise SkillDefinitionError(f"{what} is nested {depth} deep; the limit is {MAX_SCHEMA_DEPTH}. Flatten it.")
    return text


def _identity(definition: SkillDefinition) -> Iterator[str]:
    if not _matches(SKILL_NAME, definition.name):
        yield "a name holds 1 to 64 letters, digits, underscores and hyphens; set name=... to one that does."
    if not _matches(_VERSION, definition.version):
        yield f"the version {definition.version!r} is not a semantic version; write one such as '1.0.0'."


def _texts(definition: SkillDefinition) -> Iterator[str]:
    if not definition.description.strip():
        yield "it has no description; write a docstring that says when to use it and what it does."
    if len(definition.description) > MAX_DESCRIPTION_CHARS:
        yield f"the description has over {MAX_DESCRIPTION_CHARS:,} characters; move advice to llm_hint."
    if len(definition.llm_hint) > MAX_HINT_CHARS:
        yield f"llm_hint has over {MAX_HINT_CHARS:,} characters; shorten it."


def _lists(definition: SkillDefinition) -> Iterator[str]:
    for name in _LISTS:
        values: Sequence[object] = getattr(definition, name)
        if isinstance(values, str) or not all(isinstance(value, str) and value.strip() for value in values):
            yield f"{name} must be a list of texts that are not empty, such as {name}=['...']."
    if len(definition.scenarios) > MAX_SCENARIOS:
        yield f"there are {len(definition.scenarios)} scenarios; keep the {MAX_SCENARIOS} that differ most."
    if any(len(scenario) > MAX_SCENARIO_CHARS for scenario in definition.scenarios):
        yield f"a scenario has over {MAX_SCENARIO_CHARS} characters; shorten it."
    for dependency in definition.dependencies:
        if not SKILL_NAME.fullmatch(dependency):
            yield f"the dependency {dependency!r} is not a skill's name."


def _risk(definition: SkillDefinition) -> Iterator[str]:
    if definition.access not in get_args(Access):
        yield f"access={definition.access!r} is unknown; choose 'observer', 'operator' or 'admin'."
    if definition.effect not in get_args(Effect):
        yield f"effect={definition.effect!r} is unknown; choose 'read', 'idempotent' or 'write'."
    if definition.cache_ttl and definition.effect != "read":
        yield "cache_ttl is only for a skill with effect='read'; set that, or remove cache_ttl."


def _numbers(definition: SkillDefinition) -> Iterator[str]:
    timeout, ttl, parallel = definition.timeout, definition.cache_ttl, definition.max_parallel
    if timeout is not None and not (_is_number(timeout) and 0 < timeout <= MAX_TIMEOUT_SECONDS):
        yield f"timeout={timeout!r} must be seconds above 0 and at most {MAX_TIMEOUT_SECONDS:g}."
    if not (_is_number(ttl) and ttl >= 0):
        yield f"cache_ttl={ttl!r} must be seconds, 0 or more."
    if not _is_count(parallel):
        yield f"max_parallel={parallel!r} must be a whole number, 0 for no limit."
    elif definition.exclusive and parallel > 1:
        yield "exclusive means one call at a time; remove it, or max_parallel."


def _parts(definition: SkillDefinition) -> Iterator[str]:
    if not all(isinstance(item, Prerequisite) for item in definition.prerequisites):
        yield "prerequisites must be made by env_set(...), reachable(...) or check(...)."
    names = [item.name for item in definition.prerequisites]
    if len(set(names)) < len(names):
        yield "two prerequisites have the same name; rename one."
    if not all(isinstance(item, Hidden) for item in definition.hidden):
        yield "hidden must hold Hidden(name=..., source=...) entries."


def _examples(definition: SkillDefinition) -> Iterator[str]:
    for example in definition.examples:
        if not _is_example(example):
            yield "each of the examples must be a pair: a request in a user's words, and its arguments as a dict."


def _matches(pattern: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_example(value: object) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) == 2
        and isinstance(value[0], str)
        and bool(value[0])
        and isinstance(value[1], Mapping)
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


_RULES: Final[tuple[Callable[[SkillDefinition], Iterator[str]], ...]] = (
    _identity, _texts, _lists, _risk, _numbers, _parts, _examples,
)  # fmt: skip
