"""A value as the model and other callers read it: JSON numbers, and text where a JSON number would lose digits."""

from fractions import Fraction
from typing import Final, NotRequired, TypedDict

from skill_services.calculator.numbers import Number

MAX_EXACT: Final = 2**53
_INT64: Final = 2**63
_MAX_FLOAT: Final = 2**1023
_FLOAT_DIGITS: Final = (
    15  # what a float surely holds; the digits after them are noise such as sin(30°) = 0.49999999999999994
)


class Answer(TypedDict):
    """`exact` is there where `result` cannot hold every digit; `result` is None where no JSON number is that large."""

    expression: str
    result: int | float | None
    exact: NotRequired[str]


def answer(expression: str, value: Number) -> Answer:
    number = as_json(value)
    if isinstance(value, int) and abs(value) > MAX_EXACT:
        return {"expression": expression, "result": number, "exact": str(value)}
    return {"expression": expression, "result": number}


def as_json(value: Number) -> int | float | None:
    """The nearest JSON number; whole results are integers."""
    if isinstance(value, int):
        if abs(value) < _INT64:
            return value
        return float(value) if abs(value) < _MAX_FLOAT else None
    number = float(value) if isinstance(value, Fraction) else float(f"{value:.{_FLOAT_DIGITS}g}")
    return int(number) if number.is_integer() and abs(number) <= MAX_EXACT else number
