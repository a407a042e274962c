"""Keeping what the call path remembers in step with the catalogue."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from agent_core.domain.ports import CatalogueSource
from agent_core.domain.skill import Catalogue, Instance

_Process = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """Who is told of a new catalogue.

    The first two get all that are left. `arrived` gets each instance that came: it has just passed the registry's
    check, which says more than failures before it. So has one that comes back under its old id as another process, at
    another address or with another fingerprint. `gained` gets the label of each skill that an instance serves which
    did not before: one that came, or one of the version that is now offered.
    """

    retain_targets: Sequence[Callable[[frozenset[str]], None]] = field(default=())
    retain_skills: Sequence[Callable[[frozenset[str]], None]] = field(default=())
    arrived: Sequence[Callable[[Instance], None]] = field(default=())
    gained: Sequence[Callable[[str], None]] = field(default=())


@dataclass(frozen=True, slots=True)
class _Seen:
    """The last catalogue: its instances, and those that serve each skill by its label."""

    processes: frozenset[_Process] = frozenset()
    serving: Mapping[str, frozenset[_Process]] = field(default_factory=dict)


async def follow(source: CatalogueSource, upkeep: Upkeep) -> None:
    """Run until cancelled; each catalogue is told once."""
    seen = _Seen()
    version = 0
    while True:
        catalogue = await source.changed(version)
        version = catalogue.version
        seen = _apply(catalogue, upkeep, seen)


def _apply(catalogue: Catalogue, upkeep: Upkeep, seen: _Seen) -> _Seen:
    instances = [one for of_service in catalogue.instances.values() for one in of_service]
    processes = {_process(one): one for one in instances}
    for tell in upkeep.arrived:
        for process, instance in processes.items():
            if process not in seen.processes:
                tell(instance)
    for retain in upkeep.retain_targets:
        retain(frozenset(one.target for one in instances))
    skills = {skill.label: frozenset(map(_process, skill.instances)) for skill in catalogue.skills.values()}
    for retain in upkeep.retain_skills:
        retain(frozenset(skills))
    for tell_of in upkeep.gained:
        for label, serving in skills.items():
            if not serving <= seen.serving.get(label, frozenset()):
                tell_of(label)
    return _Seen(frozenset(processes), skills)


def _process(instance: Instance) -> _Process:
    return instance.id, instance.target, instance.fingerprint
