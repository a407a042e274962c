"""Skills, calls and contexts for tests of the call path, each with what matters given and the rest plain."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from agent_core.domain.call import CallContext, Principal, SkillCall
from agent_core.domain.events import Event
from agent_core.domain.skill import AccessLevel, Catalogue, Descriptor, Effect, Instance, Skill

ANYTHING = b'{"type":"object"}'


class FakeClock:
    """Monotonic time that stands until it is moved."""

    def __init__(self, now: float = 1_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


def instance(number: int = 1, *, service: str = "calculator", weight: int = 1) -> Instance:
    return Instance(f"{service}-{number}", service, f"ipv4:127.0.0.1:{7_000 + number}", weight=weight)


def skill(name: str = "calculate", *, instances: Sequence[Instance] = (instance(),), **fields: Any) -> Skill:
    """A read that anybody may run; `fields` are those of Descriptor."""
    values = {
        "version": "1.0.0",
        "description": "Use when a number must be computed.",
        "parameters": ANYTHING,
        "fingerprint": "f1",
        "access": AccessLevel.OBSERVER,
        "effect": Effect.READ,
        "timeout": 2.0,
        **fields,
    }
    return Skill(name, "calculator", Descriptor(name=name, **values), tuple(instances))


def call_of(one: Skill | None = None, arguments: bytes = b"{}", *, call_id: str = "c1") -> SkillCall:
    return SkillCall(call_id, one or skill(), arguments)


def context(
    *,
    seconds: float = 30.0,
    now: Callable[[], float] = time.monotonic,
    emit: Callable[[Event], None] | None = None,
    principal: Principal = Principal(),
    **fields: Any,
) -> CallContext:
    if emit is not None:
        fields["emit"] = emit
    return CallContext(run_id="r1", deadline=now() + seconds, principal=principal, **fields)


class FixedCatalogue:
    """A CatalogueSource that holds what it is given; `refresh` makes `after_refresh` current."""

    def __init__(self, *skills: Skill, after_refresh: Sequence[Skill] = ()) -> None:
        self.catalogue = catalogue_of(*skills)
        self.refreshed: list[str] = []
        self._after_refresh = after_refresh

    async def changed(self, since: int) -> Catalogue:
        raise NotImplementedError

    async def refresh(self, service: str) -> None:
        self.refreshed.append(service)
        if self._after_refresh:
            self.catalogue = catalogue_of(*self._after_refresh)


def catalogue_of(*skills: Skill, version: int = 1) -> Catalogue:
    by_name = {one.name: one for one in sorted(skills, key=lambda one: one.name)}
    by_service: dict[str, tuple[Instance, ...]] = {}
    for one in skills:
        by_service[one.service] = tuple(dict.fromkeys((*by_service.get(one.service, ()), *one.instances)))
    return Catalogue(skills=by_name, instances=by_service, version=version, ready=True)
