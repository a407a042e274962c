"""Which of the offered tools fits a part of a question, judged by the tools' own text."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat

from agent_core.dev.model.chat import Tool
from agent_core.dev.model.found import fold
from agent_core.dev.model.reading import Reading
from agent_core.dev.model.roles import Role, direction_of, role_of
from agent_core.dev.model.schema import Parameter
from agent_core.dev.model.text_values import choice_in
from agent_core.dev.model.times import Moment
from agent_core.dev.model.words import words_of

THRESHOLD = 1.0  # one rare word of a description, or a value that fits a telling parameter
MIN_COVERAGE = 0.3  # of the question's own words, unless its values alone tell

_LEFT_OVER = 0.7
_VALUES_ALONE = 2.0  # an expression, or a quantity with the unit it is wanted in
_NAME_WEIGHT, _PARAMETER_WEIGHT = 1.6, 0.7
_SENTENCE_WEIGHTS = (1.0, 0.7)  # of a description; the first sentence says when the tool is to be used
_HINT_WEIGHT = 0.3
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s*|\n+|[；;]")
# A sentence that says what the tool is not for must not draw such questions to it.
_NOT_FOR = re.compile(
    r"^\W*(?:unlike|not for|do not|don't|never|rather than|instead of|for [^,]{3,60},? use"
    r"|不要|不用于|不适用|与.{1,20}不同)",
    re.IGNORECASE,
)
_TELLING = {Role.EXPRESSION: 2.5, Role.UNIT: 1.3, Role.MOMENT: 0.7, Role.FILE: 0.8, Role.ZONE: 0.5, Role.PLACE: 0.5,
            Role.LANGUAGE: 0.6, Role.URL: 0.8, Role.EMAIL: 0.8, Role.CHOICE: 0.6, Role.LEVEL: 0.5,
            Role.LIST: 0.8}  # fmt: skip
_MISSED = {Role.EXPRESSION: 0.8, Role.UNIT: 0.8, Role.MOMENT: 0.7, Role.FILE: 0.4, Role.ZONE: 0.2, Role.PLACE: 0.2,
           Role.LANGUAGE: 0.2, Role.URL: 0.5, Role.EMAIL: 0.3, Role.NUMBER: 0.3, Role.LIST: 0.3}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scored:
    tool: Tool
    score: float


class Chooser:
    """Built once per request over the tools offered; how rare a word is among them decides what it weighs."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        names = {tool.name for tool in tools if len(tool.name) > 3}
        self._tools = [(tool, _weights(tool, names - {tool.name})) for tool in tools]
        counts = Counter(word for _, weights in self._tools for word in weights)
        total = len(self._tools)
        self._rarity = {w: math.log(1 + total / n) / math.log(1 + total) for w, n in counts.items()}

    def words_for(self, tool: Tool) -> frozenset[str]:
        """The words of the tool's own text."""
        return next((frozenset(weights) for offered, weights in self._tools if offered is tool), frozenset())

    def covers(self, tool: Tool, reading: Reading) -> bool:
        """Whether the tool's own text has every word of the question."""
        return set(reading.words) <= self.words_for(tool)

    def rank(self, reading: Reading) -> list[Scored]:
        """The tools that fit, best first; equal ones in the order offered."""
        asked = list(dict.fromkeys(reading.words))
        scored = [Scored(tool, self._score(tool, weights, asked, reading)) for tool, weights in self._tools]
        return sorted((s for s in scored if s.score >= THRESHOLD), key=lambda s: -s.score)

    def _score(self, tool: Tool, weights: dict[str, float], asked: list[str], reading: Reading) -> float:
        hits = [w for w in asked if w in weights]
        by_words = sum(self._rarity[w] * weights[w] for w in hits)
        by_values = affinity(tool.parameters, reading)
        covered = len(hits) / len(asked) if asked else 1.0
        if covered < MIN_COVERAGE and by_values < _VALUES_ALONE:
            return 0.0
        return by_words * (0.25 + 1.1 * covered) + by_values


def _weights(tool: Tool, others: set[str]) -> dict[str, float]:
    """What each word of the tool's text weighs; sentences that name another tool tell the two apart: left out."""
    weights: dict[str, float] = {}

    def note(text: str, weight: float) -> None:
        for word in words_of(fold(text)):
            weights[word] = max(weights.get(word, 0.0), weight)

    note(tool.name, _NAME_WEIGHT)
    sentences = [s for s in _SENTENCE.split(tool.description) if s and s.strip()]
    for sentence, weight in zip(sentences, chain(_SENTENCE_WEIGHTS, repeat(_HINT_WEIGHT)), strict=False):
        if not _NOT_FOR.match(sentence) and not any(name in sentence for name in others):
            note(sentence, weight)
    for parameter in tool.parameters:
        note(parameter.name, _PARAMETER_WEIGHT)
        note(parameter.description, _PARAMETER_WEIGHT / 2)
        for choice in parameter.choices:
            note(str(choice), _PARAMETER_WEIGHT)
    return weights


def affinity(parameters: Sequence[Parameter], reading: Reading) -> float:
    """How well the values in the question suit the parameters: required ones count, for and against."""
    total = 0.0
    seen: set[Role] = set()
    for parameter in parameters:
        role = role_of(parameter)
        present = _present(role, parameter, reading)
        if present and (role not in seen or role is Role.UNIT):
            total += _TELLING.get(role, 0.0) * (1.0 if parameter.required else 0.6)
        elif not present and parameter.required:
            total -= _MISSED.get(role, 0.0)
        seen.add(role)
    return total - left_over(parameters, reading)


def left_over(parameters: Sequence[Parameter], reading: Reading) -> float:
    """What the telling values of a question that no parameter could take count against a tool; 0: it takes all."""
    roles = {role_of(p) for p in parameters}
    total = 0.0
    if Role.MOMENT not in roles and any(_is_other_time(m, reading) for m in reading.moments):
        total += _LEFT_OVER
    if Role.EXPRESSION not in roles and reading.expressions:
        total += _LEFT_OVER
    if Role.UNIT not in roles and any(c.known and c.target for c in reading.conversions):
        total += _LEFT_OVER
    return total


def _is_other_time(moment: Moment, reading: Reading) -> bool:
    """Whether a moment is neither now nor today."""
    today = moment.at is not None and moment.at.date() == reading.now.date() and not moment.clock
    return not moment.present and not today


def _present(role: Role, parameter: Parameter, reading: Reading) -> bool:
    match role:
        case Role.EXPRESSION:
            return bool(reading.expressions)
        case Role.UNIT:
            wanted = direction_of(parameter) == "target"
            return any(c.known and (c.target or not wanted) for c in reading.conversions)
        case Role.MOMENT:
            return any(not m.present for m in reading.moments)
        case Role.ZONE | Role.PLACE:
            return bool(reading.places)
        case Role.FILE:
            return bool(reading.files)
        case Role.URL:
            return bool(reading.urls)
        case Role.EMAIL:
            return bool(reading.emails)
        case Role.LANGUAGE:
            return bool(reading.languages)
        case Role.LIST:
            return _lists_numbers(parameter) and len(reading.numbers) > 1
        case Role.NUMBER:
            return bool(reading.numbers)
        case Role.CHOICE | Role.LEVEL:
            return choice_in(parameter, reading) is not None
        case _:
            return True


def _lists_numbers(parameter: Parameter) -> bool:
    items = parameter.schema.get("items")
    return isinstance(items, Mapping) and items.get("type") in ("number", "integer")
