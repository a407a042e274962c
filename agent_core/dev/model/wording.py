"""Words an answer from the results of tools, in the question's language: short, and with the actual values."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_core.dev.model import expressions
from agent_core.dev.model.chat import Tool
from agent_core.dev.model.plan import Step
from agent_core.dev.model.sentences import Sentences
from skillmesh.errors import ErrorKind

MAX_ANSWER_CHARS = 6_000
MAX_LIST = 12
MAX_TEXT_CHARS = 3_000
_MAX_DEPTH = 6

_MAIN = ("exact", "result", "value", "answer", "output", "text", "summary", "converted", "local_time", "time", "utc")
_ASIDE = ("truncated", "status", "ok", "success", "schema", "schema_version")
_KINDS = "|".join(kind.value for kind in ErrorKind if kind is not ErrorKind.UNKNOWN)
_ERROR_TEXT = re.compile(
    r"^\W*(?:error|failed|failure|refused|exception|traceback|timed out|timeout|unavailable"
    rf"|no result|not run|{_KINDS})\b"
    r"|^the skill (?:failed|cannot)\b|^\W*(?:错误|失败|出错)|\bOUTCOME_UNKNOWN\b",
    re.IGNORECASE,
)
_ERROR_LEAD = re.compile(r"^(?:error|the skill failed)\s*[:：]\s*", re.IGNORECASE)
_TRUNCATED = re.compile(r"\btruncated\b|cut short|\bomitted\b|\bleft out\b|\bleft part of\b|已截断", re.IGNORECASE)
_JSON = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Outcome:
    """One tool message with the call that it answers."""

    name: str
    arguments: str
    text: str


def answer(outcomes: Sequence[Outcome], sentences: Sentences) -> str:
    """One paragraph per result, in the order given."""
    said = "\n".join(dict.fromkeys(_one(o, sentences, alone=len(outcomes) == 1) for o in outcomes))
    return said if len(said) <= MAX_ANSWER_CHARS else f"{said[:MAX_ANSWER_CHARS]}…\n{sentences.say('truncated')}"


def ask(step: Step, sentences: Sentences, *, alone: bool) -> str:
    """What is missing for a call, by name and description."""
    tool = step.tool.name if step.tool else ""
    missing = sentences.say("comma").join(
        p.name
        + (sentences.say("open") + p.description.rstrip(".。")[:120] + sentences.say("close") if p.description else "")
        for p in step.missing
    )
    return sentences.say("ask" if alone else "ask_for", tool=f"`{tool}`", missing=missing, text=_short(step.text, 80))


def nothing_fits(tools: Sequence[Tool], sentences: Sentences) -> str:
    """That this is a stand-in, what it was offered, and how to get a real model."""
    names = sentences.say("comma").join(f"`{t.name}`" for t in tools[:5])
    return sentences.say("none", offered=sentences.say("offered", names=names) if names else "")


def unmatched(text: str, sentences: Sentences) -> str:
    return sentences.say("unmatched", text=_short(text, 80))


def _one(outcome: Outcome, sentences: Sentences, *, alone: bool) -> str:
    value, note = _value_and_note(outcome.text)
    failure = _failure(value, outcome.text)
    if failure:
        return sentences.say("failed", name=f"`{outcome.name}`", reason=_short(failure, MAX_TEXT_CHARS))
    body = _body(value, outcome, sentences).strip() or sentences.say("empty")
    heading = _heading(outcome, sentences)
    if not alone and not body.startswith(heading) and " = " not in body.partition("\n")[0]:
        body = heading + sentences.say("colon") + body
    if (_is_truncated(value) or _TRUNCATED.search(note)) and not _TRUNCATED.search(body):
        body += " " + sentences.say("truncated")
    return body


def _value_and_note(text: str) -> tuple[object, str]:
    """A result's JSON and what stands behind it in words; the text itself where it is no JSON."""
    text = text.strip()
    try:
        value, end = _JSON.raw_decode(text)
    except (ValueError, RecursionError):
        return text, ""
    note = text[end:].strip()
    return (value, note) if not note or isinstance(value, dict | list) else (text, "")


def _parsed(text: str) -> object:
    return _value_and_note(text)[0]


def _failure(value: object, text: str) -> str:
    """Why a result is an error; empty where it is none."""
    if isinstance(value, Mapping):
        error, status = value.get("error"), str(value.get("status", "")).lower()
        if error and isinstance(error, str | Mapping) and len(value) <= 4:
            return _reason(error)
        if status in ("failed", "retryable", "error"):
            return _reason(value.get("message") or value.get("reason") or value)
        return ""
    return _ERROR_LEAD.sub("", text.strip()) if isinstance(value, str) and _ERROR_TEXT.search(value[:300]) else ""


def _reason(error: object) -> str:
    if isinstance(error, Mapping):
        said = error.get("message") or error.get("reason") or error.get("detail")
        return str(said) if said else _dump(error)
    return error if isinstance(error, str) else _dump(error)


def _is_truncated(value: object) -> bool:
    return isinstance(value, Mapping) and value.get("truncated") is True


def _heading(outcome: Outcome, sentences: Sentences) -> str:
    """`Current time (Tokyo)`: the tool's name in words and the values it was given."""
    name = re.sub(r"[_-]+", " ", outcome.name.rpartition("__")[2]).strip() or outcome.name
    arguments = _parsed(outcome.arguments)
    values = (
        [_short(_scalar(v, sentences), 40) for v in arguments.values() if _is_scalar(v)]
        if isinstance(arguments, dict)
        else []
    )
    given = sentences.say("open") + ", ".join(values[:4]) + sentences.say("close") if values else ""
    return name[:1].upper() + name[1:] + given


def _body(value: object, outcome: Outcome, sentences: Sentences) -> str:
    if value in ("", None):
        return sentences.say("empty")
    main = _main(value)
    expression = _expression(outcome.arguments)
    if expression and main is not None and _is_scalar(main):
        return f"{expression} = {_scalar(main, sentences)}"
    if isinstance(value, Mapping):
        shown = {k: v for k, v in value.items() if k not in _ASIDE or not _is_scalar(v)} or dict(value)
        if len(shown) == 1 and main is not None:
            return _value(main, sentences, 0)
        return _mapping(shown, sentences, 0)
    return _value(value, sentences, 0)


def _main(value: object) -> object | None:
    """The one value that matters of a result that says which."""
    if not isinstance(value, Mapping):
        return value
    return next((value[k] for k in _MAIN if k in value), next(iter(value.values())) if len(value) == 1 else None)


def _expression(arguments: str) -> str:
    """The argument that is arithmetic, if one is."""
    given = _parsed(arguments)
    texts = [v for v in given.values() if isinstance(v, str) and len(v) < 200] if isinstance(given, dict) else []
    return next((t for t in texts if [f.end - f.start for f in expressions.find(t)] == [len(t)]), "")


def _value(value: object, sentences: Sentences, depth: int) -> str:
    if isinstance(value, Mapping):
        return _mapping(value, sentences, depth)
    if isinstance(value, list):
        return _list(value, sentences, depth)
    return _scalar(value, sentences)


def _mapping(value: Mapping[object, object], sentences: Sentences, depth: int) -> str:
    """`key: value` pairs, scalars on one line, lists and objects each on their own."""
    if not value:
        return sentences.say("nothing")
    if depth >= _MAX_DEPTH:
        return _dump(value)
    colon = sentences.say("colon")
    flat = [f"{_label(k)}{colon}{_scalar(v, sentences)}" for k, v in value.items() if _is_scalar(v) and v is not None]
    deep = [f"{_label(k)}{colon}{_value(v, sentences, depth + 1)}" for k, v in value.items() if not _is_scalar(v)]
    line = sentences.say("comma").join(flat[: MAX_LIST * 2])
    return (
        "\n".join(filter(None, [line, *deep[:MAX_LIST]]))
        if depth == 0
        else "; ".join(filter(None, [line, *deep[:MAX_LIST]]))
    )


def _list(value: Sequence[object], sentences: Sentences, depth: int) -> str:
    if not value:
        return sentences.say("nothing")
    if depth >= _MAX_DEPTH:
        return _dump(value)
    items = [_value(v, sentences, depth + 1) for v in value[:MAX_LIST]]
    if len(value) > MAX_LIST:
        items.append(sentences.say("more", count=len(value) - MAX_LIST))
    if all(_is_scalar(v) for v in value):
        return sentences.say("comma").join(items)
    return "".join(f"\n- {item}" for item in items)


def _label(key: object) -> str:
    return str(key).replace("_", " ")


def _is_scalar(value: object) -> bool:
    return not isinstance(value, Mapping | list)


def _scalar(value: object, sentences: Sentences) -> str:
    if isinstance(value, bool):
        return sentences.say("yes" if value else "no")
    if value is None:
        return sentences.say("nothing")
    return _short(value, MAX_TEXT_CHARS) if isinstance(value, str) else _dump(value)


def _dump(value: object) -> str:
    try:
        return _short(json.dumps(value, ensure_ascii=False), MAX_TEXT_CHARS)
    except (ValueError, RecursionError):  # an integer of more digits than Python prints
        return "…"


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
