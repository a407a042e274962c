"""One call of a skill, what surrounds it, what it gives, and the shape that every layer of the call path has."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from uuid import uuid4

from agent_core.domain.events import Event
from agent_core.domain.skill import Skill


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks. An empty subject is anonymous."""

    subject: str = ""
    roles: tuple[str, ...] = ()


class ResultStatus(StrEnum):
    SUCCESS = "success"
    FAILED = "failed"
    RETRYABLE = "retryable"


@dataclass(frozen=True, slots=True)
class TextPart:
    text: str


@dataclass(frozen=True, slots=True)
class JsonPart:
    """One JSON value, UTF-8."""

    data: bytes


@dataclass(frozen=True, slots=True)
class BlobPart:
    data: bytes
    mime_type: str


@dataclass(frozen=True, slots=True)
class LinkPart:
    uri: str
    name: str = ""
    mime_type: str = ""


Part = TextPart | JsonPart | BlobPart | LinkPart


@dataclass(frozen=True, slots=True)
class SkillResult:
    """What a skill answered. `structured` is one JSON value, UTF-8; empty where the skill gave none.

    `instance` is empty and `attempts` 0 where the result came from the cache.
    """

    status: ResultStatus
    structured: bytes = b""
    parts: tuple[Part, ...] = ()
    truncated: bool = False
    replayed: bool = False
    instance: str = ""
    attempts: int = 0
    cached: bool = False


@dataclass(frozen=True, slots=True)
class SkillCall:
    """One invocation. `arguments` is one JSON object, UTF-8, passed through as the model wrote it.

    `id` is the same for all attempts; `attempt` counts from 1. `hidden` is filled on the way from the context.
    `tried` holds the ids of instances that earlier attempts have asked.
    """

    id: str
    skill: Skill
    arguments: bytes
    attempt: int = 1
    idempotency_key: str = ""
    approval_token: str = ""
    hidden: bytes = b""
    tried: frozenset[str] = frozenset()


def nobody_listens(_event: Event) -> None:
    """The `emit` of a context whose events nobody wants; known by identity, so that none is fetched either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext:
    """What surrounds a call. `deadline` is monotonic time in seconds; `emit` takes progress and partial output.

    `session` holds what the session's owner has set, for parameters injected from it.
    """

    run_id: str
    deadline: float
    principal: Principal = Principal()
    emit: Callable[[Event], None] = nobody_listens
    session_id: str = ""
    depth: int = 0
    time_zone: str = "UTC"
    locale: str = ""
    principal_token: str = ""
    session: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def new_run_id() -> str:
    """Unique, and never to be taken for a trace id (32 hex digits): people look traces up by either."""
    return f"run-{uuid4().hex[:20]}"


Invoke = Callable[[SkillCall, CallContext], Awaitable[SkillResult]]
"""Runs one call. Raises CallError where there is no result; a skill's own failure is a result."""

Layer = Callable[[Invoke], Invoke]
