"""A skill's descriptor from the wire: checked against every limit, so that one bad skill harms no other."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import orjson
from google.protobuf.duration_pb2 import Duration
from google.protobuf.json_format import MessageToDict

from agent_core.domain.ports import Description
from agent_core.domain.skill import (
    AccessLevel,
    Descriptor,
    Effect,
    Example,
    HiddenParameter,
    HiddenSource,
    Prerequisite,
)
from agent_core.transport.schemas import output_problem, parameters_problem, property_names
from skillmesh.conventions import (
    DEFAULT_TIMEOUT_SECONDS,
    MAX_ARGUMENT_BYTES,
    MAX_DESCRIPTION_CHARS,
    MAX_HINT_CHARS,
    MAX_SCENARIO_CHARS,
    MAX_SCENARIOS,
    MAX_SKILLS_PER_SERVICE,
    MAX_TIMEOUT_SECONDS,
    SKILL_NAME,
)
from skillmesh.v1 import skill_pb2 as pb

_MAX_SHORT_CHARS: Final = 256  # version, owner, fingerprint, a tag, a parameter's name
_MAX_LINE_CHARS: Final = 1_024
_MAX_LIST: Final = 64

_ACCESS: Final = {pb.ACCESS_LEVEL_OBSERVER: AccessLevel.OBSERVER, pb.ACCESS_LEVEL_OPERATOR: AccessLevel.OPERATOR}
_EFFECT: Final = {pb.EFFECT_READ: Effect.READ, pb.EFFECT_IDEMPOTENT: Effect.IDEMPOTENT}
_SOURCE: Final = {pb.HIDDEN_SOURCE_CALLER: HiddenSource.CALLER, pb.HIDDEN_SOURCE_SESSION: HiddenSource.SESSION}


class DescriptorError(ValueError):
    """A descriptor that cannot be used; the message says why."""


def describe_all(skills: Sequence[pb.SkillDescriptor]) -> Description:
    """The usable skills of one process, and a sentence for each that is not."""
    problems = []
    if len(skills) > MAX_SKILLS_PER_SERVICE:
        left_out = len(skills) - MAX_SKILLS_PER_SERVICE
        problems.append(f"{left_out} skills are left out: a service may have {MAX_SKILLS_PER_SERVICE} at most.")
        skills = skills[:MAX_SKILLS_PER_SERVICE]
    counts = Counter(one.name for one in skills)
    problems += [f"{_shown(name)} is left out: {n} skills have this name." for name, n in counts.items() if n > 1]
    usable = []
    for one in skills:
        if counts[one.name] > 1:
            continue
        try:
            usable.append(descriptor_from_pb(one))
        except DescriptorError as error:
            problems.append(f"{_shown(one.name)} is left out: {error}.")
    return Description(tuple(usable), tuple(problems))


def descriptor_from_pb(skill: pb.SkillDescriptor) -> Descriptor:
    """Raises DescriptorError."""
    _check(skill)
    effect = _EFFECT.get(skill.effect, Effect.WRITE)
    return Descriptor(
        name=skill.name,
        version=skill.version,
        description=skill.description,
        parameters=skill.parameters_schema,
        fingerprint=skill.fingerprint or _fingerprint(skill),
        owner=skill.owner,
        change_note=skill.change_note,
        scenarios=tuple(skill.scenarios),
        llm_hint=skill.llm_hint,
        output=skill.output_schema,
        examples=tuple(Example(one.request, one.arguments) for one in skill.examples),
        access=_ACCESS.get(skill.access_level, AccessLevel.ADMIN),
        effect=effect,
        timeout=_seconds(skill.timeout) if skill.HasField("timeout") else DEFAULT_TIMEOUT_SECONDS,
        cache_ttl=_seconds(skill.cache_ttl) if effect is Effect.READ else 0.0,
        prerequisites=tuple(Prerequisite(one.name, one.met, one.reason) for one in skill.prerequisites),
        dependencies=tuple(skill.dependencies),
        exclusive=skill.exclusive,
        max_parallel=skill.max_parallel,
        hidden=tuple(
            HiddenParameter(one.name, _SOURCE.get(one.source, HiddenSource.OPERATOR), one.key or one.name)
            for one in skill.hidden_parameters
        ),
        credentials=tuple(skill.credentials),
        tags=tuple(skill.tags),
        return_direct=skill.return_direct,
    )


def _check(skill: pb.SkillDescriptor) -> None:
    if not SKILL_NAME.fullmatch(skill.name):
        raise DescriptorError(f"its name does not match {SKILL_NAME.pattern}")
    if not skill.version:
        raise DescriptorError("it has no version")
    if not skill.description.strip():
        raise DescriptorError("it has no description")
    _check_texts(skill)
    problem = parameters_problem(skill.parameters_schema)
    if problem is not None:
        raise DescriptorError(f"its parameters_schema cannot be used: {problem}")
    problem = output_problem(skill.output_schema)
    if problem is not None:
        raise DescriptorError(f"its output_schema cannot be used: {problem}")
    shown = property_names(skill.parameters_schema).intersection(one.name for one in skill.hidden_parameters)
    if shown:
        raise DescriptorError(f"its hidden parameter {_shown(min(shown))} is in parameters_schema, too")
    if skill.HasField("timeout") and not 0 < _seconds(skill.timeout) <= MAX_TIMEOUT_SECONDS:
        raise DescriptorError(
            f"its timeout is {_seconds(skill.timeout):g} s, not above 0 and at most {MAX_TIMEOUT_SECONDS:g}"
        )
    if _seconds(skill.cache_ttl) < 0:
        raise DescriptorError("its cache_ttl is negative")
    for example in skill.examples:
        _check_example(example)


def _check_texts(skill: pb.SkillDescriptor) -> None:
    _at_most("description", (skill.description,), MAX_DESCRIPTION_CHARS)
    _at_most("llm_hint", (skill.llm_hint,), MAX_HINT_CHARS)
    _at_most("scenarios", skill.scenarios, MAX_SCENARIO_CHARS, MAX_SCENARIOS)
    _at_most("version, owner or fingerprint", (skill.version, skill.owner, skill.fingerprint), _MAX_SHORT_CHARS)
    _at_most("change_note", (skill.change_note,), _MAX_LINE_CHARS)
    _at_most("dependencies", skill.dependencies, _MAX_SHORT_CHARS)
    _at_most("credentials", skill.credentials, _MAX_SHORT_CHARS)
    _at_most("tags", skill.tags, _MAX_SHORT_CHARS)
    _at_most("examples", [one.request for one in skill.examples], _MAX_LINE_CHARS)
    _at_most("prerequisites", [one.name + one.reason for one in skill.prerequisites], _MAX_LINE_CHARS)
    _at_most("hidden_parameters", [one.name + one.key for one in skill.hidden_parameters], _MAX_SHORT_CHARS)


def _at_most(what: str, texts: Iterable[str], chars: int, count: int = _MAX_LIST) -> None:
    for number, text in enumerate(texts, 1):
        if number > count:
            raise DescriptorError(f"it has more than {count} {what}")
        if len(text) > chars:
            raise DescriptorError(f"its {what} has {len(text)} characters, and the limit is {chars}")


def _check_example(example: pb.SkillExample) -> None:
    if len(example.arguments) > MAX_ARGUMENT_BYTES:
        raise DescriptorError(f"an example has arguments of {len(example.arguments)} bytes")
    try:
        arguments = orjson.loads(example.arguments or b"{}")
    except orjson.JSONDecodeError:
        arguments = None
    if not isinstance(arguments, dict):
        raise DescriptorError(f"the arguments of the example {_shown(example.request)} are no JSON object")


def _seconds(duration: Duration) -> float:
    return duration.seconds + duration.nanos / 1e9


def _fingerprint(skill: pb.SkillDescriptor) -> str:
    """Hash of the canonical JSON of everything but the prerequisites' state."""
    bare = pb.SkillDescriptor()
    bare.CopyFrom(skill)
    for prerequisite in bare.prerequisites:
        prerequisite.ClearField("met")
        prerequisite.ClearField("reason")
    canonical = orjson.dumps(MessageToDict(bare), option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(canonical).hexdigest()[:32]


def _shown(text: str) -> str:
    """A name of the service's choosing, fit for a sentence."""
    return repr(text if len(text) <= 80 else text[:80] + "…")
