"""What one service offers, out of what its instances say."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from agent_core.discovery.semver import precedence
from agent_core.domain.ports import Description
from agent_core.domain.skill import Descriptor, Instance, Prerequisite, Problem

_MAX_PROBLEMS: Final = 16
_MAX_CHARS: Final = 500


@dataclass(frozen=True, slots=True)
class Offered:
    """One skill as its service offers it; fields as those of Skill."""

    descriptor: Descriptor
    instances: tuple[Instance, ...]
    unmet: tuple[Prerequisite, ...] = ()


@dataclass(frozen=True, slots=True)
class ServiceOffer:
    """`skills` by their own name."""

    service: str
    instances: tuple[Instance, ...]
    skills: Mapping[str, Offered]
    problems: tuple[Problem, ...] = ()


@dataclass(slots=True)
class _Variant:
    """The instances that serve exactly this descriptor."""

    descriptor: Descriptor
    able: list[Instance] = field(default_factory=list)
    unmet: tuple[Prerequisite, ...] = ()


def offer_of(
    service: str,
    instances: Sequence[Instance],
    describe: Callable[[Instance], Description | None],
    problems: Sequence[str] = (),
) -> ServiceOffer:
    """Join the descriptions of a service's instances.

    Where they disagree on a skill, the highest version that can work somewhere is offered, by the instances that
    serve exactly it; where none can work, the highest, with what it lacks.
    """
    variants: dict[str, dict[str, _Variant]] = {}
    sentences = list(problems)
    for instance in instances:
        description = describe(instance)
        if description is None:
            continue
        sentences.extend(sentence for sentence in description.problems if sentence not in sentences)
        for descriptor in description.skills:
            _add(variants.setdefault(descriptor.name, {}), descriptor, instance)
    skills = {}
    for name, by_fingerprint in sorted(variants.items()):
        best = max(by_fingerprint.values(), key=_rank)
        skills[name] = Offered(best.descriptor, tuple(best.able), () if best.able else best.unmet)
    return ServiceOffer(service, tuple(instances), skills, _problems(service, sentences))


def _add(variants: dict[str, _Variant], descriptor: Descriptor, instance: Instance) -> None:
    unmet = tuple(p for p in descriptor.prerequisites if not p.met)
    variant = variants.get(descriptor.fingerprint)
    if variant is None:
        variant = variants[descriptor.fingerprint] = _Variant(descriptor)
    if unmet:
        variant.unmet = variant.unmet or unmet
    else:
        if not variant.able:
            variant.descriptor = descriptor  # the prerequisites shown are those of an instance that can work
        variant.able.append(instance)


def _rank(variant: _Variant) -> tuple[bool, object, int, str]:
    """Able first, then the version; the same version twice is a slip, settled by how many serve it."""
    descriptor = variant.descriptor
    return (bool(variant.able), precedence(descriptor.version), len(variant.able), descriptor.fingerprint)


def _problems(service: str, sentences: Sequence[str]) -> tuple[Problem, ...]:
    shown = [Problem(service, sentence[:_MAX_CHARS]) for sentence in sentences[:_MAX_PROBLEMS]]
    if len(sentences) > _MAX_PROBLEMS:
        shown.append(Problem(service, f"{len(sentences) - _MAX_PROBLEMS} more problems are not shown."))
    return tuple(shown)
