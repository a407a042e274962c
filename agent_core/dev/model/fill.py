"""A tool's arguments out of a part of a question, valid against the tool's schema, or what is missing for them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.dev.model.chat import Tool
from agent_core.dev.model.filling import Filling
from agent_core.dev.model.found import before
from agent_core.dev.model.number_values import number_for
from agent_core.dev.model.reading import Reading
from agent_core.dev.model.roles import Role, name_words, role_of
from agent_core.dev.model.schema import MAX_NESTING, Parameter, Schema, children_of, item_of
from agent_core.dev.model.text_values import text_for
from agent_core.dev.model.words import located, words_of

MAX_ITEMS = 20

# Telling values first, so that free text is what they leave.
_ORDER = (
    Role.CHOICE, Role.LEVEL, Role.EXPRESSION, Role.UNIT, Role.URL, Role.EMAIL, Role.FILE, Role.MOMENT, Role.LANGUAGE,
    Role.ZONE, Role.PLACE, Role.NUMBER, Role.DURATION, Role.FLAG, Role.LIST, Role.RECORD, Role.NAME, Role.QUERY,
    Role.TEXT, Role.OTHER,
)  # fmt: skip
_RANK = {role: rank for rank, role in enumerate(_ORDER)}
_NO = re.compile(
    r"(?:\b(?:no|not|without|don't|dont|disable|skip|exclude|never)|不要?|无|别|关闭|禁用|取消)\W*(?:\w+\W+)?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Filled:
    """`arguments` are valid where `missing` is empty."""

    arguments: dict[str, object]
    missing: tuple[Parameter, ...] = ()


def fill(tool: Tool, reading: Reading, *, guess: bool = True) -> Filled:
    """Arguments for `tool`. Without `guess`, a required parameter is filled only from what plainly means it."""
    verbs = frozenset(words_of(tool.name))
    filling = Filling(reading, tool.parameters, guess=guess, verbs=verbs)
    arguments = _fill_all(filling, tool.schema, 0)
    return _validated(tool, arguments)


def _fill_all(filling: Filling, root: Schema, depth: int) -> dict[str, object]:
    values: dict[str, object] = {}
    for parameter in sorted(filling.siblings, key=lambda p: (_RANK[role_of(p)], not p.required)):
        value = _value(parameter, filling, root, depth)
        if value is not None:
            values[parameter.name] = value
    return {p.name: values[p.name] for p in filling.siblings if p.name in values}


def _value(parameter: Parameter, filling: Filling, root: Schema, depth: int) -> object | None:
    for alternative in parameter.alternatives:
        value = _value(alternative, filling, root, depth)
        if value is not None:
            return value
    if parameter.alternatives:
        return None
    match role := role_of(parameter):
        case Role.NUMBER:
            return number_for(parameter, filling)
        case Role.FLAG:
            return _flag(parameter, filling)
        case Role.LIST:
            return _list(parameter, filling, root, depth)
        case Role.RECORD:
            return _record(parameter, filling, root, depth)
        case _:
            return text_for(parameter, role, filling)


def _flag(parameter: Parameter, filling: Filling) -> bool | None:
    """True where the question has a word of the name; False where that word is denied."""
    text = filling.left()
    wanted = set(parameter.words) or set(name_words(parameter))
    for word in located(text):
        if word.value in wanted and word.value not in filling.verbs:
            return _NO.search(before(text, word.start)) is None
    return None


def _list(parameter: Parameter, filling: Filling, root: Schema, depth: int) -> list[object] | None:
    item = item_of(parameter, root)
    if item is None or depth >= MAX_NESTING:
        return None
    values: list[object] = []
    while len(values) < MAX_ITEMS:
        value = _value(item, filling, root, depth + 1)
        if value is None or value in values:
            break
        values.append(value)
    return values or None


def _record(parameter: Parameter, filling: Filling, root: Schema, depth: int) -> dict[str, object] | None:
    children = children_of(parameter, root, depth + 1)
    return _fill_all(filling.nested(children), root, depth + 1) or None


def _validated(tool: Tool, arguments: dict[str, object]) -> Filled:
    """Optional arguments that the schema refuses are dropped; required ones count as missing."""
    required = {p.name for p in tool.parameters if p.required}
    for _ in range(len(arguments) + 1):
        refused = _refused(tool, arguments)
        if refused is None:
            return Filled(arguments)
        dropped = [name for name in arguments if name in refused]
        if not dropped:
            break
        arguments = {k: v for k, v in arguments.items() if k not in dropped}
        if required & set(dropped):
            break
    lacking = [p for p in tool.parameters if p.required and p.name not in arguments]
    return Filled(arguments, tuple(lacking or _unfilled(tool.parameters, arguments)))


def _refused(tool: Tool, arguments: dict[str, object]) -> set[object] | None:
    """The names of the arguments that break the schema; None where all is well, empty where the whole does."""
    try:
        errors = [list(e.instance_path) for e in tool.validator.iter_errors(arguments)]
    except ValueError:
        return set()
    return {path[0] for path in errors if path} if errors else None


def _unfilled(parameters: Sequence[Parameter], arguments: dict[str, object]) -> list[Parameter]:
    return [p for p in parameters if p.name not in arguments]
