"""Under which name each skill is offered, where services may offer the same.

A name that one service offers is used as it is. A name of two or more is withdrawn, and each is offered as
`service__skill`, shortened by a hash where that is over the limit. The outcome depends on what is offered alone,
not on the order in which it came.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from agent_core.domain.events import Event, NameClashed, NameFreed

MAX_CHARS: Final = 64
_HASH_CHARS: Final = 10

Key = tuple[str, str]
"""Service and skill."""


@dataclass(frozen=True, slots=True)
class Naming:
    """`names` by (service, skill); `clashes`: each withdrawn name and the services that offer it."""

    names: Mapping[Key, str]
    clashes: Mapping[str, tuple[str, ...]]


def name_skills(offers: Mapping[str, Iterable[str]]) -> Naming:
    """Names for the skills that each service offers."""
    owners: dict[str, list[str]] = {}
    for service in sorted(offers):
        for skill in sorted(set(offers[service])):
            owners.setdefault(skill, []).append(service)
    clashes = {skill: tuple(services) for skill, services in owners.items() if len(services) > 1}
    taken: dict[str, Key] = {}
    for skill, services in clashes.items():
        for service in services:
            _qualify((service, skill), taken)
    plain = {skill: services[0] for skill, services in owners.items() if len(services) == 1}
    # A plain name may be spelled like a qualified one, and giving way makes a new qualified one in turn.
    while intruders := sorted(skill for skill in plain if skill in taken):
        for skill in intruders:
            service = plain.pop(skill)
            clashes[skill] = tuple(sorted({service, taken[skill][0]}))
            _qualify((service, skill), taken)
    names = {key: name for name, key in taken.items()}
    names.update(((service, skill), skill) for skill, service in plain.items())
    return Naming(names, clashes)


def changes(old: Naming, new: Naming) -> tuple[Event, ...]:
    """What to tell of the step from one naming to the next."""
    events: list[Event] = [
        NameClashed(name=name, services=services)
        for name, services in sorted(new.clashes.items())
        if old.clashes.get(name) != services
    ]
    freed = sorted(old.clashes.keys() - new.clashes.keys())
    if freed:
        owners = {name: service for (service, _skill), name in new.names.items()}
        events += [NameFreed(name=name, service=owners[name]) for name in freed if name in owners]
    return tuple(events)


def _qualify(key: Key, taken: dict[str, Key]) -> None:
    service, skill = key
    name = f"{service}__{skill}"
    salt = 0
    while len(name) > MAX_CHARS or name in taken:
        digest = hashlib.sha256(f"{service}\0{skill}\0{salt}".encode()).hexdigest()[:_HASH_CHARS]
        name = f"{service}__{skill}"[: MAX_CHARS - _HASH_CHARS - 1] + "_" + digest
        salt += 1
    taken[name] = key
