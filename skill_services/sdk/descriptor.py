"""A definition as the SkillDescriptor on the wire, and the fingerprints of skills and services."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

import orjson
from google.protobuf.duration_pb2 import Duration

from skill_services.sdk.definition import SkillDefinition
from skillmesh.v1 import skill_pb2

_FINGERPRINT_CHARS: Final = 32
_ACCESS: Final = {
    "observer": skill_pb2.ACCESS_LEVEL_OBSERVER,
    "operator": skill_pb2.ACCESS_LEVEL_OPERATOR,
    "admin": skill_pb2.ACCESS_LEVEL_ADMIN,
}
_EFFECT: Final = {
    "read": skill_pb2.EFFECT_READ,
    "idempotent": skill_pb2.EFFECT_IDEMPOTENT,
    "write": skill_pb2.EFFECT_WRITE,
}
_SOURCE: Final = {
    "caller": skill_pb2.HIDDEN_SOURCE_CALLER,
    "session": skill_pb2.HIDDEN_SOURCE_SESSION,
    "operator": skill_pb2.HIDDEN_SOURCE_OPERATOR,
}

State = Sequence[tuple[str, str]]
"""Prerequisites in order: name, and the reason why it is unmet; empty where it is met."""


def descriptor_of(
    definition: SkillDefinition, parameters: bytes, output: bytes, prerequisites: Sequence[str]
) -> skill_pb2.SkillDescriptor:
    """The descriptor with its fingerprint; its prerequisites are named and count as unmet until `with_state`."""
    descriptor = skill_pb2.SkillDescriptor(
        name=definition.name,
        version=definition.version,
        owner=definition.owner,
        change_note=definition.change_note,
        description=definition.description,
        scenarios=definition.scenarios,
        llm_hint=definition.llm_hint,
        parameters_schema=parameters,
        output_schema=output,
        examples=[
            skill_pb2.SkillExample(request=request, arguments=orjson.dumps(arguments))
            for request, arguments in definition.examples
        ],
        access_level=_ACCESS[definition.access],
        effect=_EFFECT[definition.effect],
        prerequisites=[skill_pb2.Prerequisite(name=name) for name in prerequisites],
        dependencies=definition.dependencies,
        exclusive=definition.exclusive,
        max_parallel=definition.max_parallel,
        hidden_parameters=[
            skill_pb2.HiddenParameter(name=hidden.name, source=_SOURCE[hidden.source], key=hidden.key)
            for hidden in definition.hidden
        ],
        credentials=definition.credentials,
        tags=definition.tags,
        return_direct=definition.return_direct,
    )
    if definition.timeout is not None:
        descriptor.timeout.CopyFrom(_duration(definition.timeout))
    if definition.cache_ttl:
        descriptor.cache_ttl.CopyFrom(_duration(definition.cache_ttl))
    descriptor.fingerprint = _fingerprint(definition, parameters, output, prerequisites)
    return descriptor


def with_state(descriptor: skill_pb2.SkillDescriptor, state: State) -> skill_pb2.SkillDescriptor:
    """A copy that says which prerequisites are met now."""
    copy = skill_pb2.SkillDescriptor()
    copy.CopyFrom(descriptor)
    del copy.prerequisites[:]
    copy.prerequisites.extend(
        skill_pb2.Prerequisite(name=name, met=not reason, reason=reason) for name, reason in state
    )
    return copy


def service_fingerprint(skills: Iterable[tuple[str, str, State]]) -> str:
    """Over each skill's name, fingerprint and the state of its prerequisites, reasons aside: their words may vary."""
    content = sorted((name, own, [[entry, not reason] for entry, reason in state]) for name, own, state in skills)
    return _hash(orjson.dumps(content))


def _fingerprint(definition: SkillDefinition, parameters: bytes, output: bytes, prerequisites: Sequence[str]) -> str:
    content = {
        "name": definition.name,
        "version": definition.version,
        "owner": definition.owner,
        "change_note": definition.change_note,
        "description": definition.description,
        "scenarios": list(definition.scenarios),
        "llm_hint": definition.llm_hint,
        "parameters": parameters.decode(),
        "output": output.decode(),
        "examples": [[request, dict(arguments)] for request, arguments in definition.examples],
        "access": definition.access,
        "effect": definition.effect,
        "timeout": None if definition.timeout is None else float(definition.timeout),
        "cache_ttl": float(definition.cache_ttl),
        "prerequisites": list(prerequisites),
        "dependencies": list(definition.dependencies),
        "exclusive": definition.exclusive,
        "max_parallel": definition.max_parallel,
        "hidden": [[hidden.name, hidden.source, hidden.key] for hidden in definition.hidden],
        "credentials": list(definition.credentials),
        "tags": list(definition.tags),
        "return_direct": definition.return_direct,
    }
    return _hash(orjson.dumps(content))


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_FINGERPRINT_CHARS]


def _duration(seconds: float) -> Duration:
    duration = Duration()
    duration.FromNanoseconds(round(seconds * 1_000_000_000))
    return duration
