"""Limits on what a caller of MeshService says of itself, which goes into logs, spans and every attempt."""

from collections.abc import Iterator
from typing import Final

from agent_core.domain.errors import InvalidArgumentsError, Violation
from skillmesh.v1 import mesh_service_pb2 as pb

MAX_ID_CHARS: Final = 256
MAX_TOKEN_CHARS: Final = 8_192
MAX_ROLES: Final = 64
_ID_RULE: Final = f"it may have {MAX_ID_CHARS} characters, all of them printable"


def check_texts(request: pb.CallRequest) -> None:
    """Raises InvalidArgumentsError, with every field that is over its limit."""
    violations = tuple(_bad_texts(request))
    if violations:
        raise InvalidArgumentsError("The request of MeshService.Call cannot be taken.", violations)


def _bad_texts(request: pb.CallRequest) -> Iterator[Violation]:
    for name in ("call_id", "run_id", "session_id", "idempotency_key", "time_zone", "locale"):
        text: str = getattr(request, name)
        if not _is_id(text):
            yield Violation(name, _ID_RULE)
    for name in ("principal_token", "approval_token"):
        if len(getattr(request, name)) > MAX_TOKEN_CHARS:
            yield Violation(name, f"it may have {MAX_TOKEN_CHARS} characters")
    if not _is_id(request.principal.subject):
        yield Violation("principal.subject", _ID_RULE)
    roles = request.principal.roles
    if len(roles) > MAX_ROLES or not all(map(_is_id, roles)):
        yield Violation("principal.roles", f"there may be {MAX_ROLES}, and of each {_ID_RULE}")


def _is_id(text: str) -> bool:
    return len(text) <= MAX_ID_CHARS and text.isprintable()
