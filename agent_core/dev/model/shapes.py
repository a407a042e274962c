"""OpenAI's JSON: completions, chunks, models, errors."""

import re
from collections.abc import Iterator, Mapping

from agent_core.dev.model.chat import Called
from agent_core.dev.model.sentences import MODEL, NOTE
from agent_core.dev.model.stand_in import Reply
from skillmesh.conventions import STAND_IN_FIELD

Json = dict[str, object]

_PIECE = re.compile(r"\s*\S{1,16}(?:\s+\S{1,8})?\s*", re.DOTALL)
_ARGUMENT_PIECE = 24


def model() -> Json:
    return {"id": MODEL, "object": "model", "created": 0, "owned_by": "skillmesh", STAND_IN_FIELD: NOTE}


def models() -> Json:
    return {"object": "list", "data": [model()]}


def error(message: str, status: int, *, param: str | None = None, code: str | None = None) -> Json:
    kind = "server_error" if status >= 500 else "rate_limit_error" if status == 429 else "invalid_request_error"
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def envelope(identity: str, kind: str, created: int) -> Json:
    """What every completion and chunk bears. STAND_IN_FIELD says that no real model answered."""
    return {
        "id": identity,
        "object": kind,
        "created": created,
        "model": MODEL,
        "system_fingerprint": MODEL,
        STAND_IN_FIELD: NOTE,
    }


def message(reply: Reply) -> Json:
    said: Json = {"role": "assistant", "content": reply.text or None, "refusal": None}
    return {**said, "tool_calls": [_call(c) for c in reply.calls]} if reply.calls else said


def deltas(reply: Reply) -> Iterator[Json]:
    """The reply in pieces: text by the word, a call's name first and then its arguments."""
    for piece in pieces(reply.text):
        yield {"content": piece}
    for index, call in enumerate(reply.calls):
        head = {"index": index, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}}
        yield {"tool_calls": [head]}
        for at in range(0, len(call.arguments), _ARGUMENT_PIECE):
            part = call.arguments[at : at + _ARGUMENT_PIECE]
            yield {"tool_calls": [{"index": index, "function": {"arguments": part}}]}


def pieces(text: str) -> list[str]:
    """`text` cut at blanks into a few characters each; joined they are `text`."""
    return _PIECE.findall(text) if text.strip() else [text] if text else []


def choice(delta: Mapping[str, object], finish_reason: str | None) -> Json:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}


def usage(request_bytes: int, reply: Reply) -> Json:
    """Tokens counted as four bytes each."""
    written = len(reply.text.encode()) + sum(len(c.name) + len(c.arguments.encode()) for c in reply.calls)
    prompt, completion = -(-request_bytes // 4), -(-written // 4)
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _call(call: Called) -> Json:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
