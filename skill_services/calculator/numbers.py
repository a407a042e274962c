"""Numbers of a calculation: exact integers and fractions where they stay small, floats beyond.

So 0.1 + 0.2 is 0.3 and (1/3) * 3 is 1. All bounds on size are here.
"""

import math
from fractions import Fraction
from typing import Final

from skill_services.calculator.failures import CalculationError

Number = int | Fraction | float

MAX_BITS: Final = 13_000  # about 3,900 digits: below Python's own limit on printing an integer
_MAX_FRACTION_BITS: Final = 1_024  # a longer fraction becomes a float: its common divisors cost time
_MAX_DECIMAL_EXPONENT: Final = 400
_TOO_LARGE: Final = (
    "The result is too large: integers may have up to about 3,900 digits, other numbers go up to 1.8e308."
)


def literal(text: str) -> Number:
    """The exact value of a decimal literal such as `0.1` or `6.02e23`."""
    mantissa, _, exponent = text.lower().partition("e")
    if exponent and abs(int(exponent)) > _MAX_DECIMAL_EXPONENT:
        raise CalculationError(_TOO_LARGE)
    return settle(Fraction(f"{mantissa}e{exponent or 0}"))


def settle(value: Number) -> Number:
    """The same number in its simplest form, or CalculationError where it is not finite, real and within bounds."""
    if isinstance(value, complex):
        raise CalculationError("The result is not a real number, such as the square root of a negative number.")
    if isinstance(value, Fraction):
        if value.denominator == 1:
            value = value.numerator
        elif max(value.numerator.bit_length(), value.denominator.bit_length()) > _MAX_FRACTION_BITS:
            value = as_float(value)
    if isinstance(value, int):
        if value.bit_length() > MAX_BITS:
            raise CalculationError(_TOO_LARGE)
        return int(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise CalculationError(_TOO_LARGE)
    return value


def as_float(value: Number) -> float:
    try:
        return float(value)
    except OverflowError:
        raise CalculationError(_TOO_LARGE) from None


def whole(value: Number, what: str, most: int) -> int:
    """`value` as an integer from 0 to `most`; `what` names it in the error."""
    if value != int(value) or not 0 <= value <= most:
        raise CalculationError(f"{what} needs a whole number from 0 to {most}.")
    return int(value)


def add(a: Number, b: Number) -> Number:
    return settle(_mixed(a, b) + b if isinstance(b, float) else a + _mixed(b, a))


def subtract(a: Number, b: Number) -> Number:
    return add(a, -b)


def multiply(a: Number, b: Number) -> Number:
    if isinstance(a, int) and isinstance(b, int) and a.bit_length() + b.bit_length() > MAX_BITS + 1:
        raise CalculationError(_TOO_LARGE)
    return settle(_mixed(a, b) * b if isinstance(b, float) else a * _mixed(b, a))


def divide(a: Number, b: Number) -> Number:
    _refuse_zero(b)
    if isinstance(a, float) or isinstance(b, float):
        return settle(as_float(a) / as_float(b))
    return settle(Fraction(a) / b)


def floor_divide(a: Number, b: Number) -> Number:
    _refuse_zero(b)
    return settle(as_float(a) // as_float(b) if isinstance(a, float) or isinstance(b, float) else a // b)


def remainder(a: Number, b: Number) -> Number:
    """With the sign of the divisor, as in Python."""
    _refuse_zero(b)
    return settle(as_float(a) % as_float(b) if isinstance(a, float) or isinstance(b, float) else a % b)


def power(base: Number, exponent: Number) -> Number:
    if base == 0 and exponent < 0:
        raise CalculationError("Zero cannot be raised to a negative power.")
    if isinstance(exponent, int) and not isinstance(base, float):
        bits = max(Fraction(base).numerator.bit_length(), Fraction(base).denominator.bit_length())
        if base in (-1, 0, 1) or bits * abs(exponent) <= 2 * MAX_BITS:
            return settle(Fraction(base) ** exponent)
        if isinstance(base, int) and exponent > 0:
            raise CalculationError(_TOO_LARGE)
    try:
        result = as_float(base) ** as_float(exponent)
    except OverflowError:
        raise CalculationError(_TOO_LARGE) from None
    return settle(result)


def _mixed(value: Number, other: Number) -> Number:
    return as_float(value) if isinstance(other, float) else value


def _refuse_zero(divisor: Number) -> None:
    if divisor == 0:
        raise CalculationError("Division by zero has no result.")
