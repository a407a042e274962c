"""Skills, the instances that serve them, and the catalogue: one immutable snapshot of all."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from skillmesh.conventions import DEFAULT_TIMEOUT_SECONDS


class AccessLevel(StrEnum):
    """Who may run a skill without asking anybody."""

    OBSERVER = "observer"
    OPERATOR = "operator"
    ADMIN = "admin"


class Effect(StrEnum):
    """What running a skill twice does."""

    READ = "read"
    IDEMPOTENT = "idempotent"
    WRITE = "write"


class HiddenSource(StrEnum):
    """Where a parameter that the model never sees gets its value."""

    CALLER = "caller"
    SESSION = "session"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class HiddenParameter:
    name: str
    source: HiddenSource
    key: str


@dataclass(frozen=True, slots=True)
class Prerequisite:
    name: str
    met: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Example:
    """A request in a user's words and the arguments (one JSON object, UTF-8) that fit it."""

    request: str
    arguments: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Descriptor:
    """What a skill says of itself. `parameters` and `output` are JSON Schema texts, UTF-8; times are seconds."""

    name: str
    version: str
    description: str
    parameters: bytes
    fingerprint: str
    owner: str = ""
    change_note: str = ""
    scenarios: tuple[str, ...] = ()
    llm_hint: str = ""
    output: bytes = b""
    examples: tuple[Example, ...] = ()
    access: AccessLevel = AccessLevel.ADMIN
    effect: Effect = Effect.WRITE
    timeout: float = DEFAULT_TIMEOUT_SECONDS
    cache_ttl: float = 0.0
    prerequisites: tuple[Prerequisite, ...] = ()
    dependencies: tuple[str, ...] = ()
    exclusive: bool = False
    max_parallel: int = 0
    hidden: tuple[HiddenParameter, ...] = ()
    credentials: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    return_direct: bool = False


@dataclass(frozen=True, slots=True)
class Instance:
    """One process of a skill service. `target` is a gRPC target such as `ipv4:127.0.0.1:7001`.

    `fingerprint` is the service's as Consul tells it; empty where it tells none. `weight` is Consul's, at least 1.
    """

    id: str
    service: str
    target: str
    fingerprint: str = ""
    weight: int = 1
    version: str = ""


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill as the catalogue offers it.

    `name` is what the model and callers use; on the wire it is `descriptor.name`, which differs where two services
    offer the same. `instances` are those that pass their checks, serve exactly this descriptor and meet its
    prerequisites. `unmet` says, where there are instances but none that could work, what is missing.
    """

    name: str
    service: str
    descriptor: Descriptor
    instances: tuple[Instance, ...]
    unmet: tuple[Prerequisite, ...] = ()

    @property
    def label(self) -> str:
        """For sentences: `service.skill`, as its service names it."""
        return f"{self.service}.{self.descriptor.name}"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something of a service that keeps (part of) it out of the catalogue, as a sentence."""

    service: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All skills and instances at one moment; replaced as a whole, never changed.

    `skills` is in name order. `stale_since` is the monotonic time in seconds since when the registry has not
    answered; None while it does. `ready` is False until the registry has answered once.
    """

    skills: Mapping[str, Skill] = field(default_factory=lambda: MappingProxyType({}))
    instances: Mapping[str, tuple[Instance, ...]] = field(default_factory=lambda: MappingProxyType({}))
    problems: tuple[Problem, ...] = ()
    version: int = 0
    stale_since: float | None = None
    ready: bool = False
