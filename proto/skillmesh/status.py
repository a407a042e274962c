"""How an error of ours travels as a gRPC status, and how it is read back. google.rpc error model, AIP-193."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

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
# A status and its details travel as HTTP/2 headers, which clients refuse above a soft limit of 8 KiB at random and
# above 16 KiB always, and then report RESOURCE_EXHAUSTED: the caller's mistake would read as our overload. In the
# message's header each byte outside ASCII takes 3; the message is in the details' header once more, in base64.
# Together: 1.5 + 4/3 * (1.5 + 2.4 + 0.2) = 7 KB at most.
_MESSAGE_BYTES = 1_500
_VIOLATIONS_BYTES = 2_400
_ONE_VIOLATION_BYTES = 600
_CUT = "..."
_REQUEST_TOO_LARGE = ("server: received message", "client: sent message")
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
    """For `context.abort_with_status`; a message or violations too large for gRPC's headers are cut to fit."""
    status_code: grpc.StatusCode = getattr(grpc.StatusCode, RULES[error.kind].status)
    message = _cut(error.message, _MESSAGE_BYTES)
    status = Status(code=status_code.value[0], message=message)
    _attach(status, ErrorInfo(reason=error.kind.value.upper(), domain=ERROR_DOMAIN))
    if error.retry_after is not None:
        delay = Duration()
        delay.FromMilliseconds(int(error.retry_after * 1_000))
        _attach(status, RetryInfo(retry_delay=delay))
    violations = _fitting(error.violations)
    if violations:
        _attach(status, BadRequest(field_violations=violations))
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
        of_request = any(sign in lowered for sign in _REQUEST_TOO_LARGE) or lowered.startswith("sent")
        return ErrorKind.MESSAGE_TOO_LARGE if of_request else ErrorKind.REPLY_TOO_LARGE
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
                delay = retry.retry_delay  # not by its ToTimedelta, which a large one overflows
                retry_after = max(0.0, (delay.seconds * 1_000_000_000 + delay.nanos) / 1e9)
            elif detail.Is(BadRequest.DESCRIPTOR):
                bad = BadRequest()
                detail.Unpack(bad)
                violations = tuple(
                    Violation(v.field, v.description[:_MAX_SENTENCE]) for v in bad.field_violations[:_MAX_VIOLATIONS]
                )
    except (ValueError, DecodeError):
        return None, None, ()
    return reason, retry_after, violations


def _fitting(violations: Sequence[Violation]) -> list[BadRequest.FieldViolation]:
    """As many of the first as fit."""
    fields, left = [], _VIOLATIONS_BYTES
    for violation in violations[:_MAX_VIOLATIONS]:
        path = _cut(violation.path, _ONE_VIOLATION_BYTES // 2)
        problem = _cut(violation.problem, _ONE_VIOLATION_BYTES)
        left -= len(path.encode()) + len(problem.encode()) + 8
        if left < 0:
            break
        fields.append(BadRequest.FieldViolation(field=path, description=problem))
    return fields


def _cut(text: str, limit: int) -> str:
    """At most `limit` bytes as a percent-encoded header; lone surrogates, which UTF-8 has no place for, become `?`."""
    text = text[:limit].encode(errors="replace").decode() + text[limit : limit + 1]
    kept = text[:limit]
    while (excess := len(quote(kept, safe=" ")) - limit) > 0:
        kept = kept[: -max(1, excess // 12)]  # a character takes 12 at most, so no round cuts too much
    return kept if len(kept) == len(text) else kept[: -len(_CUT)] + _CUT


def _attach(status: Status, detail: ErrorInfo | RetryInfo | BadRequest) -> None:
    packed = Any()
    packed.Pack(detail)
    status.details.append(packed)
