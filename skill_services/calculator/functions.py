"""Functions and constants that an expression may use."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from skill_services.calculator.failures import CalculationError
from skill_services.calculator.numbers import Number, as_float, divide, power, remainder, settle, whole

_MAX_FACTORIAL: Final = 1_000
_MAX_ROUND_DIGITS: Final = 100
_NOISE: Final = 1e-15  # what is left of sin(pi), whose true value is 0

CONSTANTS: Final[dict[str, Number]] = {"pi": math.pi, "e": math.e, "tau": math.tau, "phi": (1 + math.sqrt(5)) / 2}


def _real(function: Callable[..., float], domain: str) -> Callable[..., Number]:
    """A function of the math module; `domain` says what its arguments may be."""

    def apply(*arguments: Number) -> Number:
        try:
            return settle(function(*map(as_float, arguments)))
        except ValueError:
            raise CalculationError(f"{function.__name__} is defined only for {domain}.") from None
        except OverflowError:
            return settle(math.inf)

    return apply


def _trigonometric(function: Callable[[float], float]) -> Callable[[Number], Number]:
    def apply(angle: Number) -> Number:
        radians = as_float(angle)
        value = function(radians)
        if abs(value) > 1 / _NOISE:
            raise CalculationError(f"{function.__name__} is not defined there.")
        return 0 if abs(value) < _NOISE and abs(radians) > 1 else value

    return apply


def _sqrt(value: Number) -> Number:
    if value < 0:
        raise CalculationError("The square root of a negative number is not a real number.")
    if isinstance(value, float):
        return math.sqrt(value)
    fraction = Fraction(value)
    top, bottom = math.isqrt(fraction.numerator), math.isqrt(fraction.denominator)
    if top * top == fraction.numerator and bottom * bottom == fraction.denominator:
        return settle(Fraction(top, bottom))
    return math.sqrt(as_float(value))


def _cbrt(value: Number) -> Number:
    root = math.cbrt(as_float(value))
    return round(root) if not isinstance(value, float) and round(root) ** 3 == value else root


def _log(value: Number, base: Number | None = None) -> Number:
    if value <= 0 or (base is not None and (base <= 0 or base == 1)):
        raise CalculationError("A logarithm needs a positive number, and a positive base other than 1.")
    # math.log takes an int of any size; a fraction it does not
    natural = math.log(value if isinstance(value, int) else as_float(value))
    if base is None:
        return natural
    if base == 10:
        return _log10(value)
    if base == 2:
        return _log2(value)
    return divide(natural, math.log(base if isinstance(base, int) else as_float(base)))


def _log10(value: Number) -> Number:
    if value <= 0:
        return _log(value)
    return math.log10(value if isinstance(value, int) else as_float(value))


def _log2(value: Number) -> Number:
    if value <= 0:
        return _log(value)
    return math.log2(value if isinstance(value, int) else as_float(value))


def _round(value: Number, digits: Number = 0) -> Number:
    """Half away from zero, as people round, not to even."""
    if digits != int(digits) or not -_MAX_ROUND_DIGITS <= digits <= _MAX_ROUND_DIGITS:
        raise CalculationError(
            f"round takes a whole number of digits from -{_MAX_ROUND_DIGITS} to {_MAX_ROUND_DIGITS}."
        )
    scale = Fraction(10) ** int(digits)
    # a float is taken as the decimal that it prints as: 2.675, not 2.67499999999999982236431605997495353221893310546875
    exact = Fraction(repr(value)) if isinstance(value, float) else Fraction(value)
    scaled = abs(exact) * scale
    rounded = Fraction(math.floor(scaled + Fraction(1, 2))) / scale
    return settle(rounded if value >= 0 else -rounded)


def _factorial(n: Number) -> Number:
    return math.factorial(whole(n, "factorial", _MAX_FACTORIAL))


def _combinations(n: Number, k: Number) -> Number:
    return math.comb(whole(n, "comb", _MAX_FACTORIAL), whole(k, "comb", _MAX_FACTORIAL))


def _permutations(n: Number, k: Number) -> Number:
    return math.perm(whole(n, "perm", _MAX_FACTORIAL), whole(k, "perm", _MAX_FACTORIAL))


def _integers(function: Callable[..., int]) -> Callable[..., Number]:
    def apply(*values: Number) -> Number:
        if not all(isinstance(value, int) for value in values):
            raise CalculationError(f"{function.__name__} needs whole numbers.")
        return settle(function(*values))

    return apply


def _average(*values: Number) -> Number:
    return divide(_total(*values), len(values))


def _total(*values: Number) -> Number:
    return settle(math.fsum(map(as_float, values)) if any(isinstance(v, float) for v in values) else sum(values))


FUNCTIONS: Final[dict[str, Callable[..., Number]]] = {
    "abs": abs,
    "round": _round,
    "floor": lambda x: settle(math.floor(x)),
    "ceil": lambda x: settle(math.ceil(x)),
    "trunc": lambda x: settle(math.trunc(x)),
    "min": min,
    "max": max,
    "sum": _total,
    "avg": _average,
    "mean": _average,
    "sqrt": _sqrt,
    "cbrt": _cbrt,
    "pow": power,
    "exp": _real(math.exp, "numbers"),
    "log": _log,
    "ln": _log,
    "log10": _log10,
    "lg": _log10,
    "log2": _log2,
    "mod": remainder,
    "gcd": _integers(math.gcd),
    "lcm": _integers(math.lcm),
    "factorial": _factorial,
    "comb": _combinations,
    "perm": _permutations,
    "sin": _trigonometric(math.sin),
    "cos": _trigonometric(math.cos),
    "tan": _trigonometric(math.tan),
    "asin": _real(math.asin, "numbers from -1 to 1"),
    "acos": _real(math.acos, "numbers from -1 to 1"),
    "atan": _real(math.atan, "numbers"),
    "atan2": _real(math.atan2, "two numbers"),
    "sinh": _real(math.sinh, "numbers"),
    "cosh": _real(math.cosh, "numbers"),
    "tanh": _real(math.tanh, "numbers"),
    "hypot": _real(math.hypot, "numbers"),
    "degrees": _real(math.degrees, "numbers"),
    "radians": _real(math.radians, "numbers"),
}
