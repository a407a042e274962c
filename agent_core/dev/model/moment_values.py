"""The date or time that a parameter wants: ISO 8601 where the schema says so, else as the question words it."""

import re
from datetime import UTC, datetime, timedelta

from agent_core.dev.model.filling import Filling
from agent_core.dev.model.found import before
from agent_core.dev.model.roles import Role, name_words, role_of
from agent_core.dev.model.schema import Parameter
from agent_core.dev.model.times import Moment

_STARTS = frozenset(["start", "since", "from", "begin", "after", "earliest"])
_ENDS = frozenset(["end", "until", "to", "till", "before", "latest", "stop", "finish"])
_ISO = re.compile(r"\b(?:iso|rfc ?3339|yyyy|8601)", re.IGNORECASE)
_ISO_LOOK = re.compile(r"\d{4}-\d{2}-\d{2}")
_END_CUE = re.compile(r"(?:\b(?:until|till|before|by|up to)|截止到?|直到)\s*$", re.IGNORECASE)
_START_CUE = re.compile(r"(?:\b(?:since|after|from|starting(?: at)?)|自从?|从)\s*$", re.IGNORECASE)
_HAN_END, _HAN_START = re.compile(r"\s*(?:之前|以前|前)"), re.compile(r"\s*(?:之后|以后|以来|起|开始)")


def moment_for(parameter: Parameter, filling: Filling) -> str | None:
    """The start or end of a span, or simply the next moment of the question."""
    moment = _pick(parameter, filling)
    if moment is None:
        return None
    value = _written(moment, parameter, filling)
    if value is not None and not (moment.window or _spans_day(moment, filling)):
        filling.take(moment)
    return value


def _pick(parameter: Parameter, filling: Filling) -> Moment | None:
    given = [m for m in filling.reading.moments if not m.present]
    names = set(name_words(parameter))
    if names & _ENDS and _has(filling, _STARTS):
        return _end(given, filling)
    if names & _STARTS and _has(filling, _ENDS):
        return _start(given, filling)
    free = filling.free(given)
    if free:
        return free[0]
    present = filling.free(m for m in filling.reading.moments if m.present)
    return present[0] if present and parameter.required else None


def _has(filling: Filling, words: frozenset[str]) -> bool:
    return any(words & set(name_words(s)) and role_of(s) is Role.MOMENT for s in filling.siblings)


def _start(moments: list[Moment], filling: Filling) -> Moment | None:
    if len(moments) >= 2:
        return moments[0]
    return next((m for m in moments if not _is_end(m, filling)), None)


def _end(moments: list[Moment], filling: Filling) -> Moment | None:
    if len(moments) >= 2:
        return moments[1]
    return next((m for m in moments if _is_end(m, filling) or _spans_day(m, filling)), None)


def _is_end(moment: Moment, filling: Filling) -> bool:
    text = filling.reading.folded
    return bool(_END_CUE.search(before(text, moment.start)) or _HAN_END.match(text, moment.end))


def _spans_day(moment: Moment, filling: Filling) -> bool:
    """A bare date in place of a span means that whole day."""
    text = filling.reading.folded
    since = _START_CUE.search(before(text, moment.start)) or _HAN_START.match(text, moment.end)
    alone = sum(not m.present for m in filling.reading.moments) == 1
    paired = _has(filling, _STARTS) and _has(filling, _ENDS)
    return paired and alone and moment.day and not moment.clock and not since and not _is_end(moment, filling)


def _written(moment: Moment, parameter: Parameter, filling: Filling) -> str | None:
    whole_day = _spans_day(moment, filling)
    kind = parameter.schema.get("format")
    zoned = any(role_of(s) is Role.ZONE for s in filling.siblings)  # then a clock time is not UTC's
    if kind is None and not (whole_day or moment.borrowed) and (zoned or not _speaks_of_iso(parameter)):
        return _in_words(moment, parameter)
    at = moment.at
    if at is None:
        return None
    if whole_day and set(name_words(parameter)) & _ENDS and kind != "date":
        at = _next_day(at)
    if kind is None and zoned:
        return at.strftime("%Y-%m-%dT%H:%M:%S")
    return _iso(at, str(kind or _precision(parameter, moment)), moment)


def _next_day(at: datetime) -> datetime:
    return at + timedelta(days=1) if at.year < 9999 else at


def _speaks_of_iso(parameter: Parameter) -> bool:
    examples = [e for e in parameter.examples if isinstance(e, str)]
    return bool(_ISO.search(parameter.description)) or any(_ISO_LOOK.match(e) for e in examples)


def _in_words(moment: Moment, parameter: Parameter) -> str:
    return moment.since if moment.window and set(name_words(parameter)) & _STARTS else moment.text


def _precision(parameter: Parameter, moment: Moment) -> str:
    names = set(name_words(parameter))
    return "date" if ("date" in names or "day" in names) and not moment.clock else "date-time"


def _iso(at: datetime, kind: str, moment: Moment) -> str | None:
    at = at.astimezone(UTC)
    if kind == "date":
        return at.date().isoformat()
    if kind == "time":
        return at.strftime("%H:%M:%SZ") if moment.clock else None
    return at.strftime("%Y-%m-%dT%H:%M:%SZ") if at.year >= 1000 else None
