"""Protocols through which the rooms of the core meet; app/wiring joins the implementations."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from agent_core.domain.call import CallContext, Principal, SkillCall, SkillResult
from agent_core.domain.errors import CallError
from agent_core.domain.events import Event
from agent_core.domain.model import ModelChunk, ModelRequest
from agent_core.domain.skill import Catalogue, Descriptor, Instance, Skill

Emit = Callable[[Event], None]
Clock = Callable[[], float]
"""Monotonic seconds."""


class CatalogueSource(Protocol):
    """The live catalogue. Reading it never waits."""

    @property
    def catalogue(self) -> Catalogue: ...

    async def changed(self, since: int) -> Catalogue:
        """Wait until there is a catalogue of a version above `since`, and return it."""
        ...

    async def refresh(self, service: str) -> None:
        """Describe the service's instances anew; returns when the result, if any, is in the catalogue."""
        ...


@dataclass(frozen=True, slots=True)
class Description:
    """What one instance says of itself, checked: its usable skills and a sentence for each that is not."""

    skills: tuple[Descriptor, ...]
    problems: tuple[str, ...] = ()


Describe = Callable[[Instance], Awaitable[Description]]
"""Ask an instance for its skills, bounded in time. Raises CallError."""


@dataclass(frozen=True, slots=True)
class Shortlist:
    """Skills offered this turn, in their order; `notes` are warnings, such as how many were left out."""

    skills: tuple[Skill, ...]
    notes: tuple[str, ...] = ()


class Shortlister(Protocol):
    """Chooses what the model is offered. CPU only."""

    def shortlist(self, question: str, catalogue: Catalogue, principal: Principal) -> Shortlist: ...


class Verdict(StrEnum):
    ALLOW = "allow"
    APPROVAL = "approval"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Decision:
    verdict: Verdict
    reason: str


class Policy(Protocol):
    def visible(self, skill: Skill, principal: Principal) -> bool: ...

    def decide(self, call: SkillCall, context: CallContext) -> Decision: ...


class ResultCache(Protocol):
    """Results by key; bounded. What it returns is shared and immutable."""

    def get(self, key: bytes) -> SkillResult | None: ...

    def put(self, key: bytes, result: SkillResult, ttl: float) -> None: ...


class Outcome(StrEnum):
    """What an attempt says about who served it. NOTHING: a cancellation, or the caller's own mistake."""

    SUCCESS = "success"
    FAILURE = "failure"
    NOTHING = "nothing"


class Permit(Protocol):
    """Leave to call a skill; report exactly once."""

    @property
    def state(self) -> str:
        """The breaker's state when the permit was given: `closed` or `half-open`."""
        ...

    def report(self, outcome: Outcome) -> None: ...


class Breakers(Protocol):
    """One circuit breaker per skill, over all its instances."""

    def admit(self, skill: Skill) -> Permit:
        """Raises TryLaterError (`breaker_open`)."""
        ...

    def state(self, skill: Skill) -> str: ...


@dataclass(frozen=True, slots=True)
class Pick:
    """The instance chosen and why; call `done` exactly once, with what the attempt said of the instance."""

    instance: Instance
    reason: str
    done: Callable[[Outcome], None] = field(repr=False)


class Balancer(Protocol):
    """Picks an instance; never waits."""

    def pick(self, skill: Skill, avoid: frozenset[str]) -> Pick:
        """`avoid`: ids of instances that this call has tried. Raises CallError (`no_instance`)."""
        ...


class RetryBudget(Protocol):
    """Bounds the extra load that retries make, per skill."""

    def deposit(self, skill: str) -> None:
        """Count a first attempt."""
        ...

    def withdraw(self, skill: str) -> bool:
        """Take leave for one retry; False where the budget is spent."""
        ...


class Transport(Protocol):
    def method(self, call: SkillCall, instance: Instance, context: CallContext) -> str:
        """What `send` would call there, as traces name it: `package.Service/Method`."""
        ...

    async def send(self, call: SkillCall, instance: Instance, context: CallContext, timeout: float) -> SkillResult:
        """One attempt, within `timeout` seconds. Raises CallError."""
        ...


class ChatModel(Protocol):
    @property
    def name(self) -> str: ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """Chunks as they come, then one ModelReply. Closing it ends the request. Raises ModelError."""
        ...


FanOut = Callable[[Sequence[SkillCall], CallContext], Awaitable[Sequence[SkillResult | CallError]]]
"""Runs the calls of one turn together; one outcome a call, in their order. Cancelling it cancels them all."""
