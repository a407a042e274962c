"""Values for the parameters that the model never sees."""

from typing import Final

import orjson

from agent_core.domain.call import CallContext
from agent_core.domain.skill import Descriptor, HiddenSource


def hidden_arguments(descriptor: Descriptor, context: CallContext) -> bytes:
    """One JSON object with those from caller and session; empty where there are none.

    A value that the caller or the session does not have is left out: the skill's default holds, or the skill says
    what is missing. Operator values are filled in the skill process.
    """
    values: dict[str, object] = {}
    for parameter in descriptor.hidden:
        if parameter.source is HiddenSource.CALLER:
            value = _from_caller(parameter.key, context)
        elif parameter.source is HiddenSource.SESSION:
            value = _from_session(parameter.key, context)
        else:
            continue
        if value is not None:
            values[parameter.name] = value
    return orjson.dumps(values) if values else b""


_ROLES: Final = "roles"


def _from_caller(key: str, context: CallContext) -> str | tuple[str, ...] | None:
    if key == _ROLES:
        return context.principal.roles
    known = {"subject": context.principal.subject, "time_zone": context.time_zone, "locale": context.locale}
    return known.get(key) or None


def _from_session(key: str, context: CallContext) -> str | None:
    known = {"session_id": context.session_id, "run_id": context.run_id}
    return known.get(key) or context.session.get(key)
