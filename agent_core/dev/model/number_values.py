"""The number that a parameter wants, among those of a question."""

import jsonschema_rs

from agent_core.dev.model import times, units
from agent_core.dev.model.filling import Filling
from agent_core.dev.model.found import Found
from agent_core.dev.model.numbers import Number
from agent_core.dev.model.roles import Role, name_words, role_of
from agent_core.dev.model.schema import Parameter
from agent_core.dev.model.words import located, words_of

_TIME_UNITS = {"seconds": 1, "second": 1, "secs": 1, "minutes": 60, "minute": 60, "mins": 60, "hours": 3_600,
               "hour": 3_600, "days": 86_400, "day": 86_400, "weeks": 604_800, "ms": 0.001,
               "milliseconds": 0.001}  # fmt: skip
_LIMIT_NAMES = "limit count top n max maximum number size k amount quantity lines rows results"
_LIMITS = frozenset(_LIMIT_NAMES.split())
_LIMIT_CUES = ("top", "first", "last", "latest", "limit", "most", "only", "前", "最近", "最多", "最后")
_MEASURES = " -个条只份项台行张"
_BOUNDS = ("type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


def number_for(parameter: Parameter, filling: Filling) -> Number | None:
    """What is plainly meant, or, where the parameter is required, the next number left over.

    Plain is the quantity of a conversion, a duration in the unit that the name says, and a number beside one of the
    parameter's words.
    """
    for read in (_of_conversion, _of_duration, _beside_a_word):
        found = read(parameter, filling)
        if found is not None:
            filling.take(found)
            return found.value
    if not filling.may_guess(parameter):
        return None
    for number in filling.free(filling.reading.numbers):
        value = _fitting(parameter, number.value)
        if value is not None:
            filling.take(number)
            return value
    return None


def _fitting(parameter: Parameter, value: Number) -> Number | None:
    """`value` in the parameter's type where its bounds allow it."""
    if parameter.kind == "integer" and value == int(value):
        value = int(value)
    bounds = {k: parameter.schema[k] for k in _BOUNDS if k in parameter.schema}
    try:
        return value if jsonschema_rs.is_valid(bounds, value) else None
    except ValueError:
        return None


def _of_conversion(parameter: Parameter, filling: Filling) -> Found[Number] | None:
    if not any(role_of(s) is Role.UNIT for s in filling.siblings):
        return None
    return _first(parameter, [_quantity(c, filling) for c in filling.reading.conversions], filling)


def _quantity(conversion: units.Conversion, filling: Filling) -> Found[Number]:
    """The number alone: the units are other parameters' business."""
    numbers = [n for n in filling.reading.numbers if n.start == conversion.start]
    return numbers[0] if numbers else Found(conversion.value, conversion.start, conversion.start + 1)


def _of_duration(parameter: Parameter, filling: Filling) -> Found[Number] | None:
    scale = next((_TIME_UNITS[w] for w in name_words(parameter) if w in _TIME_UNITS), None)
    return _first(parameter, [_scaled(d, scale) for d in filling.reading.durations], filling) if scale else None


def _scaled(duration: times.Duration, scale: float) -> Found[Number]:
    value = duration.seconds / scale
    return Found(int(value) if value == int(value) else value, duration.start, duration.end)


def _first(parameter: Parameter, candidates: list[Found[Number]], filling: Filling) -> Found[Number] | None:
    for candidate in filling.free(candidates):
        value = _fitting(parameter, candidate.value)
        if value is not None:
            return Found(value, candidate.start, candidate.end)
    return None


def _beside_a_word(parameter: Parameter, filling: Filling) -> Found[Number] | None:
    """`limit 5`, `port: 8080`, `3 pizzas`, and for a limit `top 5` or `前5`."""
    text = filling.reading.folded
    words = set(parameter.words)
    nouns = words | set(words_of(parameter.description)[:12])
    is_limit = bool(_LIMITS & set(name_words(parameter)))
    for number in filling.free(filling.reading.numbers):
        before = text[max(0, number.start - 24) : number.start].rstrip(" :=是为的")
        rest = text[number.end : number.end + 40]
        after = located(rest[len(rest) - len(rest.lstrip(_MEASURES)) :])[:2]
        named = located(before)[-1:]
        beside = (named and named[0].value in words and named[0].end == len(before)) or (
            after and after[0].start == 0 and any(w.value in nouns for w in after)
        )
        if beside or (is_limit and before.lower().endswith(_LIMIT_CUES)):
            value = _fitting(parameter, number.value)
            if value is not None:
                return Found(value, number.start, number.end)
    return None
