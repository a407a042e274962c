"""The one table of errors: kind, gRPC status, whose fault, and what may be done about it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Fault(StrEnum):
    """Whose mistake an error is; decides which plane of blame it counts on."""

    CALLER = "caller"
    SKILL = "skill"
    MESH = "mesh"


class Ran(StrEnum):
    """What is known of whether the skill's code ran."""

    NO = "no"
    MAYBE = "maybe"
    YES = "yes"


class ErrorKind(StrEnum):
    """What went wrong with a call; the value, upper-cased, is ErrorInfo.reason on the wire."""

    INVALID_ARGUMENTS = "invalid_arguments"
    UNKNOWN_SKILL = "unknown_skill"
    UNAUTHENTICATED = "unauthenticated"
    PERMISSION_DENIED = "permission_denied"
    APPROVAL_REQUIRED = "approval_required"
    PREREQUISITE_UNMET = "prerequisite_unmet"
    DEPTH_EXCEEDED = "depth_exceeded"
    MESSAGE_TOO_LARGE = "message_too_large"
    SCHEMA_MOVED = "schema_moved"
    CORRUPTED_REQUEST = "corrupted_request"
    CORRUPTED_REPLY = "corrupted_reply"
    OVERLOADED = "overloaded"
    DRAINING = "draining"
    CONNECT_FAILED = "connect_failed"
    UNAVAILABLE = "unavailable"
    NO_INSTANCE = "no_instance"
    BREAKER_OPEN = "breaker_open"
    DEADLINE_EXCEEDED = "deadline_exceeded"
    CANCELLED = "cancelled"
    CRASHED = "crashed"
    BAD_REPLY = "bad_reply"
    REPLY_TOO_LARGE = "reply_too_large"
    OUTCOME_UNKNOWN = "outcome_unknown"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ErrorRule:
    """How one kind of error is spelled on the wire and treated on both sides of it.

    `retryable`: another attempt may succeed (that a write is not sent again is decided by `ran`).
    `breaker`: counts as a failure of the skill. `instance`: counts as a failure of the instance.
    """

    status: str
    fault: Fault
    ran: Ran
    retryable: bool = False
    breaker: bool = False
    instance: bool = False


_CALLER, _SKILL, _MESH = Fault.CALLER, Fault.SKILL, Fault.MESH

RULES: Final[dict[ErrorKind, ErrorRule]] = {
    ErrorKind.INVALID_ARGUMENTS: ErrorRule("INVALID_ARGUMENT", _CALLER, Ran.NO),
    ErrorKind.UNKNOWN_SKILL: ErrorRule("NOT_FOUND", _CALLER, Ran.NO),
    ErrorKind.UNAUTHENTICATED: ErrorRule("UNAUTHENTICATED", _CALLER, Ran.NO),
    ErrorKind.PERMISSION_DENIED: ErrorRule("PERMISSION_DENIED", _CALLER, Ran.NO),
    ErrorKind.APPROVAL_REQUIRED: ErrorRule("PERMISSION_DENIED", _CALLER, Ran.NO),
    ErrorKind.PREREQUISITE_UNMET: ErrorRule("FAILED_PRECONDITION", _SKILL, Ran.NO),
    ErrorKind.DEPTH_EXCEEDED: ErrorRule("FAILED_PRECONDITION", _CALLER, Ran.NO),
    ErrorKind.MESSAGE_TOO_LARGE: ErrorRule("RESOURCE_EXHAUSTED", _CALLER, Ran.NO),
    ErrorKind.SCHEMA_MOVED: ErrorRule("FAILED_PRECONDITION", _MESH, Ran.NO, retryable=True),
    ErrorKind.CORRUPTED_REQUEST: ErrorRule("DATA_LOSS", _MESH, Ran.NO, retryable=True),
    ErrorKind.CORRUPTED_REPLY: ErrorRule("DATA_LOSS", _MESH, Ran.YES, retryable=True, instance=True),
    ErrorKind.OVERLOADED: ErrorRule("RESOURCE_EXHAUSTED", _SKILL, Ran.NO, retryable=True),
    ErrorKind.DRAINING: ErrorRule("UNAVAILABLE", _MESH, Ran.NO, retryable=True),
    ErrorKind.CONNECT_FAILED: ErrorRule("UNAVAILABLE", _MESH, Ran.NO, retryable=True, breaker=True, instance=True),
    ErrorKind.UNAVAILABLE: ErrorRule("UNAVAILABLE", _SKILL, Ran.MAYBE, retryable=True, breaker=True, instance=True),
    ErrorKind.NO_INSTANCE: ErrorRule("UNAVAILABLE", _MESH, Ran.NO),
    ErrorKind.BREAKER_OPEN: ErrorRule("UNAVAILABLE", _SKILL, Ran.NO),
    ErrorKind.DEADLINE_EXCEEDED: ErrorRule(
        "DEADLINE_EXCEEDED", _SKILL, Ran.MAYBE, retryable=True, breaker=True, instance=True
    ),
    ErrorKind.CANCELLED: ErrorRule("CANCELLED", _CALLER, Ran.MAYBE),
    ErrorKind.CRASHED: ErrorRule("INTERNAL", _SKILL, Ran.MAYBE, retryable=True, breaker=True),
    ErrorKind.BAD_REPLY: ErrorRule("INTERNAL", _SKILL, Ran.YES, breaker=True),
    ErrorKind.REPLY_TOO_LARGE: ErrorRule("RESOURCE_EXHAUSTED", _SKILL, Ran.YES),
    ErrorKind.OUTCOME_UNKNOWN: ErrorRule("ABORTED", _MESH, Ran.MAYBE),
    ErrorKind.UNKNOWN: ErrorRule("UNKNOWN", _SKILL, Ran.MAYBE, breaker=True),
}

_REASONS: Final[dict[str | None, ErrorKind]] = {kind.value.upper(): kind for kind in ErrorKind}

# A status that came without a reason of ours: from gRPC itself, a proxy, or a service in another language.
_BARE_STATUS: Final[dict[str, ErrorKind]] = {
    "CANCELLED": ErrorKind.CANCELLED,
    "INVALID_ARGUMENT": ErrorKind.INVALID_ARGUMENTS,
    "OUT_OF_RANGE": ErrorKind.INVALID_ARGUMENTS,
    "DEADLINE_EXCEEDED": ErrorKind.DEADLINE_EXCEEDED,
    "NOT_FOUND": ErrorKind.UNKNOWN_SKILL,
    "PERMISSION_DENIED": ErrorKind.PERMISSION_DENIED,
    "UNAUTHENTICATED": ErrorKind.UNAUTHENTICATED,
    "RESOURCE_EXHAUSTED": ErrorKind.OVERLOADED,
    "FAILED_PRECONDITION": ErrorKind.PREREQUISITE_UNMET,
    "UNIMPLEMENTED": ErrorKind.BAD_REPLY,
    "INTERNAL": ErrorKind.CRASHED,
    "UNAVAILABLE": ErrorKind.UNAVAILABLE,
    "DATA_LOSS": ErrorKind.CORRUPTED_REPLY,
}


def kind_of(status: str, reason: str | None) -> ErrorKind:
    """The kind for a gRPC status name and, where the error carries one of ours, ErrorInfo.reason."""
    if reason in _REASONS:
        return _REASONS[reason]
    return _BARE_STATUS.get(status, ErrorKind.UNKNOWN)
