"""Keeping what the call path remembers in step with the catalogue."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agent_core.domain.ports import CatalogueSource
from agent_core.domain.skill import Catalogue, Instance


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """Who is told of a new catalogue: the first three get all that are left, the last each instance that came.

    An instance that (re)appears has just passed the registry's check, which says more than failures before it.
    """

    retain_targets: Sequence[Callable[[frozenset[str]], None]] = field(default=())
    retain_instances: Sequence[Callable[[frozenset[str]], None]] = field(default=())
    retain_skills: Sequence[Callable[[frozenset[str]], None]] = field(default=())
    arrived: Sequence[Callable[[Instance], None]] = field(default=())


async def follow(source: CatalogueSource, upkeep: Upkeep) -> None:
    """Run until cancelled; each catalogue is told once."""
    seen: frozenset[str] = frozenset()
    version = 0
    while True:
        catalogue = await source.changed(version)
        version = catalogue.version
        seen = _apply(catalogue, upkeep, seen)


def _apply(catalogue: Catalogue, upkeep: Upkeep, seen: frozenset[str]) -> frozenset[str]:
    instances = [one for of_service in catalogue.instances.values() for one in of_service]
    ids = frozenset(one.id for one in instances)
    for tell in upkeep.arrived:
        for instance in instances:
            if instance.id not in seen:
                tell(instance)
    for retain in upkeep.retain_targets:
        retain(frozenset(one.target for one in instances))
    for retain in upkeep.retain_instances:
        retain(ids)
    for retain in upkeep.retain_skills:
        retain(frozenset(skill.label for skill in catalogue.skills.values()))
    return ids
