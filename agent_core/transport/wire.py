"""Calls and results between the core's words and the wire's."""

from collections.abc import Iterable
from typing import Final

import orjson

from agent_core.domain.call import (
    BlobPart,
    CallContext,
    JsonPart,
    LinkPart,
    Part,
    ResultStatus,
    SkillCall,
    SkillResult,
    TextPart,
)
from agent_core.domain.skill import Effect
from skillmesh.digests import arguments_digest, result_digest
from skillmesh.errors import ErrorKind
from skillmesh.v1.result_pb2 import (
    RESULT_STATUS_FAILED,
    RESULT_STATUS_RETRYABLE,
    RESULT_STATUS_SUCCESS,
    ContentPart,
    ResourceLink,
    Result,
)
from skillmesh.v1.skill_service_pb2 import InvokeRequest, Principal

_FROM_STATUS: Final = {RESULT_STATUS_SUCCESS: ResultStatus.SUCCESS, RESULT_STATUS_RETRYABLE: ResultStatus.RETRYABLE}
_TO_STATUS: Final = {
    ResultStatus.SUCCESS: RESULT_STATUS_SUCCESS,
    ResultStatus.FAILED: RESULT_STATUS_FAILED,
    ResultStatus.RETRYABLE: RESULT_STATUS_RETRYABLE,
}
_BINARY: Final = "application/octet-stream"


class ReplyError(ValueError):
    """A reply that cannot be used: `kind` is BAD_REPLY or CORRUPTED_REPLY, the message says why."""

    def __init__(self, kind: ErrorKind, why: str) -> None:
        super().__init__(why)
        self.kind = kind


def request_of(call: SkillCall, context: CallContext, mesh_endpoint: str) -> InvokeRequest:
    principal = context.principal
    return InvokeRequest(
        skill=call.skill.descriptor.name,
        fingerprint=call.skill.descriptor.fingerprint,
        call_id=call.id,
        run_id=context.run_id,
        session_id=context.session_id,
        arguments=call.arguments,
        arguments_digest=arguments_digest(call.arguments),
        principal=Principal(subject=principal.subject, roles=principal.roles),
        principal_token=context.principal_token,
        idempotency_key=call.idempotency_key or _own_key(call),
        attempt=call.attempt,
        depth=context.depth,
        mesh_endpoint=mesh_endpoint,
        time_zone=context.time_zone,
        locale=context.locale,
        approval_token=call.approval_token,
        hidden_arguments=call.hidden,
    )


def result_from_pb(result: Result, instance: str, attempts: int) -> SkillResult:
    """Raises ReplyError. A status that is unspecified or unknown is read as failed."""
    if result.digest and result.digest != result_digest(result):
        raise ReplyError(ErrorKind.CORRUPTED_REPLY, "its digest does not fit")
    structured = result.structured
    if structured:
        _check_json(structured, "structured")
    return SkillResult(
        _FROM_STATUS.get(result.status, ResultStatus.FAILED),
        structured,
        tuple(map(part_from_pb, result.parts)) if result.parts else (),
        result.truncated,
        result.replayed,
        instance,
        attempts,
    )


def result_to_pb(result: SkillResult) -> Result:
    wire = Result(
        status=_TO_STATUS[result.status],
        structured=result.structured,
        parts=_parts_to_pb(result.parts),
        truncated=result.truncated,
        replayed=result.replayed,
    )
    wire.digest = result_digest(wire)
    return wire


def part_from_pb(part: ContentPart) -> Part:
    """Raises ReplyError."""
    match part.WhichOneof("content"):
        case "text":
            return TextPart(part.text)
        case "json":
            _check_json(part.json, "a JSON part")
            return JsonPart(part.json)
        case "blob":
            return BlobPart(part.blob, part.mime_type or _BINARY)
        case "link":
            return LinkPart(part.link.uri, part.link.name, part.link.mime_type)
        case _:
            raise ReplyError(ErrorKind.BAD_REPLY, "one of its parts is empty")


def _parts_to_pb(parts: Iterable[Part]) -> list[ContentPart]:
    wire = []
    for part in parts:
        match part:
            case TextPart(text):
                wire.append(ContentPart(text=text))
            case JsonPart(data):
                wire.append(ContentPart(json=data))
            case BlobPart(data, mime_type):
                wire.append(ContentPart(blob=data, mime_type=mime_type))
            case LinkPart(uri, name, mime_type):
                wire.append(ContentPart(link=ResourceLink(uri=uri, name=name, mime_type=mime_type)))
    return wire


def _own_key(call: SkillCall) -> str:
    """Attempts of a call that changes something are one effect; a read needs no record of its results."""
    return "" if call.skill.descriptor.effect is Effect.READ else call.id


def _check_json(data: bytes, what: str) -> None:
    try:
        orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise ReplyError(ErrorKind.BAD_REPLY, f"{what} is not valid JSON: {error}") from error
