"""The whole call path over real channels, as app/wiring joins it, with its events at hand."""

import itertools
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from agent_core.cache.memory import MemoryCache
from agent_core.domain.call import CallContext, Invoke, SkillCall, SkillResult
from agent_core.domain.events import Event
from agent_core.domain.skill import AccessLevel, Descriptor, Effect, Instance, Skill
from agent_core.invocation.pipeline import CallPath, compose
from agent_core.invocation.retried import RetryRules
from agent_core.invocation.routed import Routing
from agent_core.policy.access import AccessPolicy
from agent_core.resilience.backoff import backoff
from agent_core.resilience.balancer import TwoChoices
from agent_core.resilience.breaker import SkillBreakers
from agent_core.resilience.budget import SlidingBudget
from agent_core.resilience.ejector import Ejector
from agent_core.transport.channels import Channels
from agent_core.transport.skill_client import GrpcTransport
from skillmesh.conventions import MAX_MESSAGE_BYTES
from tests.support.call_path_values import ANYTHING, FixedCatalogue


@dataclass
class Core:
    invoke: Invoke
    channels: Channels
    transport: GrpcTransport
    breakers: SkillBreakers
    ejector: Ejector
    balancer: TwoChoices
    source: FixedCatalogue
    events: list[Event] = field(default_factory=list)
    _ids: Any = field(default_factory=lambda: itertools.count(1))

    def of(self, kind: type[Event]) -> list[Any]:
        return [one for one in self.events if isinstance(one, kind)]

    async def call(
        self, skill: Skill, arguments: bytes = b"{}", *, seconds: float = 10.0, **fields: Any
    ) -> SkillResult:
        """A call that somebody listens to; `fields` are those of CallContext."""
        context = CallContext(
            run_id="r1", deadline=time.monotonic() + seconds, **{"emit": self.events.append, **fields}
        )
        return await self.invoke(SkillCall(f"c{next(self._ids)}", skill, arguments), context)


def scripted(name: str, *instances: Instance, effect: Effect = Effect.READ, timeout: float = 2.0) -> Skill:
    """A skill of tests.support.scripted_skill."""
    descriptor = Descriptor(
        name=name,
        version="1.0.0",
        description="Use when a test wants it.",
        parameters=ANYTHING,
        fingerprint=f"scripted-{name}",
        access=AccessLevel.OBSERVER,
        effect=effect,
        timeout=timeout,
    )
    return Skill(name, "scripted", descriptor, instances)


@asynccontextmanager
async def running_core(
    *, max_message_bytes: int = MAX_MESSAGE_BYTES, reset_seconds: float = 10.0, skills: tuple[Skill, ...] = ()
) -> AsyncIterator[Core]:
    core = make_core(max_message_bytes=max_message_bytes, reset_seconds=reset_seconds, skills=skills)
    try:
        yield core
    finally:
        await core.channels.close()


def make_core(
    *, max_message_bytes: int = MAX_MESSAGE_BYTES, reset_seconds: float = 10.0, skills: tuple[Skill, ...] = ()
) -> Core:
    events: list[Event] = []
    channels = Channels(max_message_bytes=max_message_bytes)
    transport = GrpcTransport(channels, max_message_bytes=max_message_bytes)
    ejector = Ejector(events.append)
    balancer = TwoChoices(ejector, reachable=channels.reachable)
    breakers = SkillBreakers(events.append, reset_seconds=reset_seconds)
    source = FixedCatalogue(*skills)
    path = CallPath(
        source=source,
        policy=AccessPolicy(),
        cache=MemoryCache(),
        retries=RetryRules(SlidingBudget(), backoff),
        routing=Routing(breakers, balancer, transport),
    )
    return Core(compose(path, os.environ), channels, transport, breakers, ejector, balancer, source, events)
