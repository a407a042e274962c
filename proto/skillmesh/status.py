"""How an error of ours travels as a gRPC status, and how it is read back. google.rpc error model, AIP-193."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import grpc
from google.protobuf.any_pb2 import Any
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status
from grpc_status import rpc_status

from skillmesh.conventions import ERROR_DOMAIN
from skillmesh.errors import RULES, ErrorKind, kind_of

_MAX_SENTENCE = 2_000
_MAX_VIOLATIONS = 32
_CONNECT_FAILURES = ("failed to connect to all addresses", "connection refused", "name resolution failed")


@dataclass(frozen=True, slots=True)
class Violation:
    """One argument that breaks the schema: `path` as `a.b[0]` (empty: the whole), `problem` as a sentence."""

    path: str
    problem: str


@dataclass(frozen=True, slots=True)
class WireError:
    """An error as it crosses the wire. `retry_after` is in seconds; `reason` is ErrorInfo's, where it is ours."""

    kind: ErrorKind
    message: str
    retry_after: float | None = None
    violations: Sequence[Violation] = field(default=())
    reason: str | None = None


def to_status(error: WireError) -> grpc.Status:
    """For `context.abort_with_status`."""
    status_code: grpc.StatusCode = getattr(grpc.StatusCode, RULES[error.kind].status)
    message = error.message[:_MAX_SENTENCE]
    status = Status(code=status_code.value[0], message=message)
    _attach(status, ErrorInfo(reason=error.kind.value.upper(), domain=ERROR_DOMAIN))
    if error.retry_after is not None:
        delay = Duration()
        delay.FromMilliseconds(int(error.retry_after * 1_000))
        _attach(status, RetryInfo(retry_delay=delay))
    if error.violations:
        fields = [
            BadRequest.FieldViolation(field=violation.path, description=violation.problem[:_MAX_SENTENCE])
            for violation in error.violations[:_MAX_VIOLATIONS]
        ]
        _attach(status, BadRequest(field_violations=fields))
    return rpc_status.to_status(status)


def from_rpc_error(error: grpc.aio.AioRpcError) -> WireError:
    """Read a failed call's status; details that are absent or unreadable leave the status to speak alone."""
    name = error.code().name
    message = (error.details() or name)[:_MAX_SENTENCE]
    reason, retry_after, violations = _details(error)
    kind = kind_of(name, reason)
    if reason is None:
        kind = _from_grpc_itself(kind, name, message)
    return WireError(kind, message, retry_after, violations, reason)


def _from_grpc_itself(kind: ErrorKind, status: str, message: str) -> ErrorKind:
    """Tell apart what gRPC reports under one status without details: only its sentence differs."""
    lowered = message.lower()
    if status == "UNAVAILABLE" and any(sign in lowered for sign in _CONNECT_FAILURES):
        return ErrorKind.CONNECT_FAILED
    if status == "RESOURCE_EXHAUSTED" and "message larger than max" in lowered:
        return ErrorKind.MESSAGE_TOO_LARGE if lowered.startswith("sent") else ErrorKind.REPLY_TOO_LARGE
    return kind


def _details(error: grpc.aio.AioRpcError) -> tuple[str | None, float | None, tuple[Violation, ...]]:
    reason: str | None = None
    retry_after: float | None = None
    violations: tuple[Violation, ...] = ()
    try:
        status = rpc_status.from_call(error)  # type: ignore[arg-type]  # takes what has code, details, trailers
        for detail in status.details if status is not None else ():
            if detail.Is(ErrorInfo.DESCRIPTOR):
                info = ErrorInfo()
                detail.Unpack(info)
                reason = info.reason if info.domain == ERROR_DOMAIN else reason
            elif detail.Is(RetryInfo.DESCRIPTOR):
                retry = RetryInfo()
                detail.Unpack(retry)
                retry_after = max(0.0, retry.retry_delay.ToTimedelta().total_seconds())
            elif detail.Is(BadRequest.DESCRIPTOR):
                bad = BadRequest()
                detail.Unpack(bad)
                violations = tuple(
                    Violation(v.field, v.description[:_MAX_SENTENCE]) for v in bad.field_violations[:_MAX_VIOLATIONS]
                )
    except (ValueError, DecodeError):
        return None, None, ()
    return reason, retry_after, violations


def _attach(status: Status, detail: ErrorInfo | RetryInfo | BadRequest) -> None:
    packed = Any()
    packed.Pack(detail)
    status.details.append(packed)
