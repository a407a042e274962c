"""The catalogue's content out of what the services offer. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from agent_core.discovery.names import Naming, name_skills
from agent_core.discovery.offers import ServiceOffer
from agent_core.domain.skill import Instance, Problem, Skill


@dataclass(frozen=True, slots=True)
class Content:
    """What a catalogue holds, and how its names came about; the mappings are read-only."""

    skills: Mapping[str, Skill] = field(default_factory=lambda: MappingProxyType({}))
    instances: Mapping[str, tuple[Instance, ...]] = field(default_factory=lambda: MappingProxyType({}))
    problems: tuple[Problem, ...] = ()
    naming: Naming = field(default_factory=lambda: Naming({}, {}))

    def same_as(self, other: "Content") -> bool:
        """Whether a reader could tell no difference."""
        return (
            self.instances == other.instances
            and self.problems == other.problems
            and self.skills == other.skills
            and self.naming.clashes == other.naming.clashes
        )


def assemble(offers: Iterable[ServiceOffer], unusable: tuple[Problem, ...] = ()) -> Content:
    """Skills under their offered names in name order, instances by service, problems in service order.

    `unusable` are problems of what is no service.
    """
    ordered = sorted(offers, key=lambda offer: offer.service)
    naming = name_skills({offer.service: offer.skills for offer in ordered})
    skills = {}
    for offer in ordered:
        for own_name, offered in offer.skills.items():
            name = naming.names[offer.service, own_name]
            skills[name] = Skill(name, offer.service, offered.descriptor, offered.instances, offered.unmet)
    return Content(
        MappingProxyType(dict(sorted(skills.items()))),
        MappingProxyType({offer.service: offer.instances for offer in ordered if offer.instances}),
        (*unusable, *(problem for offer in ordered for problem in offer.problems)),
        naming,
    )
