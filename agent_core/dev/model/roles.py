"""What kind of value a parameter wants, judged by its schema: format, examples, name, description, in this order."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from enum import Enum, auto
from functools import lru_cache

from agent_core.dev.model import entities, expressions, languages, places, times
from agent_core.dev.model.found import fold
from agent_core.dev.model.schema import Parameter
from agent_core.dev.model.unit_table import CANONICAL


class Role(Enum):
    CHOICE = auto()
    EXPRESSION = auto()
    UNIT = auto()
    ZONE = auto()
    PLACE = auto()
    LANGUAGE = auto()
    FILE = auto()
    MOMENT = auto()
    DURATION = auto()
    URL = auto()
    EMAIL = auto()
    LEVEL = auto()
    QUERY = auto()
    TEXT = auto()
    NAME = auto()
    NUMBER = auto()
    FLAG = auto()
    LIST = auto()
    RECORD = auto()
    OTHER = auto()


_BY_KIND = {
    "integer": Role.NUMBER,
    "number": Role.NUMBER,
    "boolean": Role.FLAG,
    "array": Role.LIST,
    "object": Role.RECORD,
}
_BY_FORMAT = {
    "date-time": Role.MOMENT, "date": Role.MOMENT, "time": Role.MOMENT, "duration": Role.DURATION, "uri": Role.URL,
    "uri-reference": Role.URL, "email": Role.EMAIL,
}  # fmt: skip

# Words of a parameter's name; the first row with one of them decides.
_BY_NAME: tuple[tuple[Role, frozenset[str]], ...] = tuple(
    (role, frozenset(names.split()))
    for role, names in (
        (Role.ZONE, "zone timezone tz"),
        (Role.UNIT, "unit units uom currency"),
        (Role.LANGUAGE, "language lang"),
        (Role.EXPRESSION, "expression expr formula equation calculation arithmetic"),
        (Role.FILE, "file filename path directory folder dir filepath"),
        (Role.URL, "url uri link"),
        (Role.EMAIL, "email mail recipient"),
        (Role.LEVEL, "level severity loglevel"),
        (Role.DURATION, "duration"),
        (Role.PLACE, "city location place country region address destination town where"),
        (Role.MOMENT, "date day start end since until when time datetime timestamp begin deadline due moment"),
        (Role.QUERY, "query keyword keywords term terms search pattern q contains filter topic"),
        (
            Role.TEXT,
            "text message content body sentence note prompt question input phrase comment title subject summary",
        ),
    )
)
_TIME_WORDS = re.compile(r"\b(?:time|date|moment|ago|tomorrow|instant)\b|时间|日期", re.IGNORECASE)
_SUM_WORDS = re.compile(r"\b(?:arithmetic|mathematical|math|formula|sum)\b|算术|数学|算式", re.IGNORECASE)
_SAMPLE = re.compile(r"[\"'`“‘]([^\"'`”’]{1,60})[\"'`”’]")
_MAX_SAMPLES = 6
_DIRECTION = {
    "source": frozenset(["from", "source", "src", "base", "input"]),
    "target": frozenset(["to", "target", "into", "dest", "destination", "output"]),
}
_DAY_ZERO = datetime(2000, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=4_096)
def role_of(parameter: Parameter) -> Role:
    """The role; a union is judged by its first branch."""
    if parameter.alternatives:
        return role_of(parameter.alternatives[0])
    if parameter.choices:
        return _of_choices([c for c in parameter.choices if isinstance(c, str)])
    if parameter.kind in _BY_KIND:
        return _BY_KIND[parameter.kind]
    if parameter.kind not in ("string", ""):
        return Role.OTHER
    by_format = _BY_FORMAT.get(str(parameter.schema.get("format", "")))
    by_examples = _by_examples(samples(parameter))
    if by_examples is Role.PLACE and _by_name(parameter) is Role.ZONE:
        return Role.ZONE  # a zone that may also be said as a place
    return by_format or by_examples or _by_name(parameter)


def _of_choices(choices: list[str]) -> Role:
    """Choices that are all units or all languages are named in many ways."""
    if any(len(c) > 1 for c in choices) and all(c.lower() in CANONICAL for c in choices):
        return Role.UNIT
    if choices and all(any(languages.same(c, row[0]) for row in languages.LANGUAGES) for c in choices):
        return Role.LANGUAGE
    return Role.CHOICE


def samples(parameter: Parameter) -> list[str]:
    """The examples that are text, and what the description quotes."""
    given = [e for e in (*parameter.examples, parameter.schema.get("default")) if isinstance(e, str) and e]
    return (given or _SAMPLE.findall(parameter.description))[:_MAX_SAMPLES]


def name_words(parameter: Parameter) -> list[str]:
    """The parts of the name in lower case, unstemmed: `from_unit` -> from, unit."""
    return [w.lower() for w in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", parameter.name)]


def direction_of(parameter: Parameter) -> str:
    """`source`, `target`, or empty: the end of a conversion that the parameter stands for."""
    names = set(name_words(parameter))
    return next((d for d, words in _DIRECTION.items() if names & words), "")


def _by_examples(examples: list[str]) -> Role | None:
    for role, fits in _LOOKS:
        if examples and _most(fits(e) for e in examples):
            return role
    return None


def _most(hits: Iterable[bool]) -> bool:
    found = list(hits)
    return sum(found) * 2 > len(found)


def _is_sum(example: str) -> bool:
    return any(f.end - f.start >= len(example.strip()) - 1 for f in expressions.find(fold(example)))


def _is_moment(example: str) -> bool:
    return any(m.end - m.start >= len(example.strip()) - 1 for m in times.find(fold(example), _DAY_ZERO))


def _is_unit(example: str) -> bool:
    return example.lower() in CANONICAL


_LOOKS = (
    (Role.MOMENT, _is_moment),
    (Role.EXPRESSION, _is_sum),
    (Role.ZONE, lambda e: places.IANA.fullmatch(e) is not None),
    (Role.UNIT, _is_unit),
    (Role.LANGUAGE, lambda e: any(f.value == e for f in languages.find(e))),
    (Role.PLACE, lambda e: places.zone_of(e) is not None),
    (Role.FILE, lambda e: any(f.value == e for f in entities.files(e))),
)  # fmt: skip


def _by_name(parameter: Parameter) -> Role:
    names = set(name_words(parameter))
    role = next((role for role, words in _BY_NAME if names & words), Role.NAME)
    description = parameter.description
    if role is Role.EXPRESSION and _TIME_WORDS.search(description) and not _SUM_WORDS.search(description):
        return Role.MOMENT
    if role is Role.NAME and re.search(r"\bunit\b|单位", description, re.IGNORECASE) and direction_of(parameter):
        return Role.UNIT
    if role is Role.PLACE and "IANA" in description:
        return Role.ZONE
    if role in (Role.NAME, Role.MOMENT) and re.search(
        r"\btime zone\b|\btimezone\b|\bIANA\b|时区", description, re.IGNORECASE
    ):
        return Role.ZONE if role is Role.NAME or not names & {"time", "start", "end", "date"} else role
    if role is Role.NAME and _SUM_WORDS.search(description):
        return Role.EXPRESSION
    return role
