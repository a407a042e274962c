"""The one place where a failed RPC becomes an error of the core, with a sentence for people and one for the model."""

import re
from typing import Final

import grpc

from agent_core.domain.call import SkillCall
from agent_core.domain.errors import CallError, InvalidArgumentsError, NotSentError, TryLaterError, Violation
from agent_core.domain.skill import Instance
from skillmesh import status
from skillmesh.errors import RULES, ErrorKind, Fault

_MAX_DETAIL_CHARS: Final = 300
_SIZES: Final = re.compile(r"\((\d{1,12}) vs\. (\d{1,12})\)")
_TRY_LATER: Final = "Try again later or answer without it."
_GO_ON: Final = "Answer without it and say so."

# What is said where the sentence that came with the status is not ours to show.
_SENTENCES: Final[dict[ErrorKind, str]] = {
    ErrorKind.DEADLINE_EXCEEDED: "{skill} did not answer within {wait:g} s. " + _TRY_LATER,
    ErrorKind.CONNECT_FAILED: "{skill} cannot be reached. " + _TRY_LATER,
    ErrorKind.UNAVAILABLE: "The connection to {skill} broke before it answered. " + _TRY_LATER,
    ErrorKind.OVERLOADED: "{skill} is overloaded. " + _TRY_LATER,
    ErrorKind.DRAINING: "{skill} is shutting down. " + _TRY_LATER,
    ErrorKind.CRASHED: "{skill} failed while it ran. " + _GO_ON,
    ErrorKind.UNKNOWN: "{skill} failed without saying why. " + _GO_ON,
    ErrorKind.BAD_REPLY: "{skill} answered with something that cannot be read. " + _GO_ON,
    ErrorKind.CORRUPTED_REPLY: "The answer of {skill} was damaged on the way. " + _TRY_LATER,
    ErrorKind.CORRUPTED_REQUEST: "The call of {skill} was damaged on the way and did not run. " + _TRY_LATER,
    ErrorKind.REPLY_TOO_LARGE: "The answer of {skill} is too large{sizes}. Ask for less at once.",
    ErrorKind.MESSAGE_TOO_LARGE: "The arguments of {skill} are too large{sizes}. Send less at once.",
    ErrorKind.CANCELLED: "{skill} was cancelled before it answered. " + _TRY_LATER,
    ErrorKind.SCHEMA_MOVED: "{skill} has just changed. Call it again with the parameters it has now.",
    ErrorKind.UNKNOWN_SKILL: "{skill} is not offered any more. Use another skill.",
}
_FALLBACK: Final = "{skill} cannot be used now. " + _GO_ON

# Kinds whose sentence is written by the skill's side for the reader, beside all those that are the caller's fault.
_OWN_WORDS: Final = frozenset({ErrorKind.PREREQUISITE_UNMET, ErrorKind.CRASHED, ErrorKind.REPLY_TOO_LARGE})


def from_rpc(error: grpc.aio.AioRpcError, call: SkillCall, instance: Instance, timeout: float) -> CallError:
    """What an RPC's status means for the call. `timeout`: the seconds that it had."""
    wire = status.from_rpc_error(error)
    label = call.skill.label
    if wire.kind is ErrorKind.INVALID_ARGUMENTS:
        violations = tuple(Violation(one.path, one.problem) for one in wire.violations)
        return InvalidArgumentsError(f"{label} refused its arguments: {wire.message}", violations)
    sentence = _SENTENCES.get(wire.kind, _FALLBACK).format(skill=label, wait=timeout, sizes=_sizes(wire.message))
    if wire.reason is not None and (wire.kind in _OWN_WORDS or RULES[wire.kind].fault is Fault.CALLER):
        sentence = f"{label}: {wire.message}"
    message = f"{label} on {instance.id}: {wire.kind.value} ({wire.message[:_MAX_DETAIL_CHARS]})."
    if wire.retry_after is not None:
        return TryLaterError(wire.kind, message, retry_after=wire.retry_after, for_model=sentence)
    return CallError(wire.kind, message, for_model=sentence)


def _sizes(message: str) -> str:
    """Size and limit, which gRPC names in the sentence of its status alone: `(5242910 vs. 4194304)`."""
    found = _SIZES.search(message)
    return f" ({found[1]} bytes, and the limit is {found[2]})" if found else ""


def failed(kind: ErrorKind, call: SkillCall, instance: Instance, why: str) -> CallError:
    """An attempt that gave no usable reply although no RPC status says so."""
    label = call.skill.label
    return CallError(
        kind,
        f"{label} on {instance.id}: {kind.value} ({why}).",
        for_model=_SENTENCES.get(kind, _FALLBACK).format(skill=label, wait=0.0, sizes=""),
    )


def too_large(call: SkillCall, size: int, limit: int) -> NotSentError:
    """The request is over the limit and was not sent."""
    sentence = f"The call of {call.skill.label} takes {size} bytes, and the limit is {limit}."
    return NotSentError(
        ErrorKind.MESSAGE_TOO_LARGE,
        f"{sentence} Send less, or raise SKILLMESH_MAX_MESSAGE_BYTES on both sides.",
        for_model=f"{sentence} Send less at once.",
    )
