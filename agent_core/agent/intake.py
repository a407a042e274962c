"""What the model asked for, made into calls; or into errors that say how to mend the request."""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import uuid4

import orjson

from agent_core.agent.clip import clip
from agent_core.domain.call import SkillCall
from agent_core.domain.errors import CallError, InvalidArgumentsError
from agent_core.domain.model import ToolRequest
from agent_core.domain.skill import Skill
from skillmesh.conventions import SKILL_NAME
from skillmesh.errors import ErrorKind

_CALL_ID: Final = re.compile(r"[\x21-\x7e]{1,64}")
_NAMES_SHOWN: Final = 40
_SHOWN_AROUND: Final = 20
_KEPT_INVALID_BYTES: Final = 2_000
_KINDS: Final = {list: "an array", str: "a string", bool: "a boolean", int: "a number", float: "a number"}


@dataclass(frozen=True, slots=True)
class Intake:
    """One request: as the history keeps it, and the call or the error that it led to.

    `kept` has an id that no other call of the run has, and a name and arguments that endpoints accept when they read
    them again; `wanted` is the model's own.
    """

    wanted: ToolRequest
    kept: ToolRequest
    outcome: SkillCall | CallError


def take_in(
    requests: Sequence[ToolRequest], offered: Mapping[str, Skill], *, run_id: str, taken: set[str]
) -> tuple[Intake, ...]:
    """One intake per request, in their order. `taken`: ids of calls so far in the run; the new ones are added."""
    return tuple(_intake(request, offered, run_id, _unique(request.id, taken)) for request in requests)


def cut_off(requests: Sequence[ToolRequest], *, taken: set[str]) -> tuple[Intake, ...]:
    """Intakes for a reply that hit the output limit: no call of it can be trusted, so none runs."""
    sentence = (
        "This call was not run: your reply hit the output limit, so its arguments may be incomplete. "
        "Ask for it again, with shorter arguments or with fewer calls at once."
    )
    return tuple(
        Intake(
            request,
            _kept(request, _unique(request.id, taken), _parsed(request)[0]),
            InvalidArgumentsError(sentence),
        )
        for request in requests
    )


def _intake(request: ToolRequest, offered: Mapping[str, Skill], run_id: str, call_id: str) -> Intake:
    arguments, problem = _parsed(request)
    kept = _kept(request, call_id, arguments)
    skill = offered.get(request.name)
    if skill is None:
        return Intake(request, kept, _not_offered(request.name, offered))
    if problem is not None:
        return Intake(request, kept, problem)
    return Intake(request, kept, SkillCall(call_id, skill, arguments, idempotency_key=f"{run_id}:{call_id}"))


def _parsed(request: ToolRequest) -> tuple[bytes, InvalidArgumentsError | None]:
    """The model's own text, checked to be one JSON object; nothing and null mean no arguments.

    Where there is an error the bytes are an object that shows the model what it wrote.
    """
    if request.arguments.strip() in ("", "null"):
        return b"{}", None
    data = request.arguments.encode("utf-8", "replace")
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        near = error.doc[max(error.pos - _SHOWN_AROUND, 0) : error.pos + _SHOWN_AROUND]
        sentence = (
            f"The arguments of {request.name} are not valid JSON: {error.msg} at line {error.lineno} column "
            f"{error.colno}, near {near!r}. Call it again with one valid JSON object."
        )
    else:
        if isinstance(value, dict):
            return data, None
        kind = _KINDS.get(type(value), "something else")
        sentence = f"The arguments of {request.name} are {kind}. Call it again with one JSON object of named arguments."
    shown = orjson.dumps({"invalid_arguments": clip(data, _KEPT_INVALID_BYTES)})
    return shown, InvalidArgumentsError(sentence)


def _not_offered(name: str, offered: Mapping[str, Skill]) -> CallError:
    if not offered:
        return CallError(ErrorKind.UNKNOWN_SKILL, f"There is no tool {name!r}: no tools are offered. Answer without.")
    close = difflib.get_close_matches(name, offered, n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    names = ", ".join(list(offered)[:_NAMES_SHOWN]) + (", ..." if len(offered) > _NAMES_SHOWN else "")
    return CallError(ErrorKind.UNKNOWN_SKILL, f"There is no tool {name[:64]!r}.{hint} Offered are: {names}.")


def _unique(wanted: str, taken: set[str]) -> str:
    call_id = wanted if _CALL_ID.fullmatch(wanted) and wanted not in taken else f"call_{uuid4().hex[:24]}"
    taken.add(call_id)
    return call_id


def _kept(request: ToolRequest, call_id: str, arguments: bytes) -> ToolRequest:
    name = request.name
    if not SKILL_NAME.fullmatch(name):
        name = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "unnamed"
    return ToolRequest(call_id, name, arguments.decode())
