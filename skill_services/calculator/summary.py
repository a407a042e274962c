"""Statistics over a list of numbers, exact in the middle."""

import statistics
from fractions import Fraction
from typing import Final, TypedDict

from skill_services.calculator.answer import as_json
from skill_services.calculator.failures import CalculationError
from skill_services.calculator.numbers import settle

MAX_NUMBERS: Final = 10_000
_LARGEST: Final = 1e300


class Summary(TypedDict):
    """`sample_deviation` divides by n - 1 and is None for one number; `deviation` divides by n."""

    count: int
    sum: int | float | None
    mean: int | float | None
    median: int | float | None
    min: int | float | None
    max: int | float | None
    deviation: float
    sample_deviation: float | None


def summarize(numbers: list[float]) -> Summary:
    if not numbers:
        raise CalculationError("There are no numbers; give at least one.")
    if any(not abs(number) <= _LARGEST for number in numbers):
        raise CalculationError("Every number must be finite and smaller than 1e300.")
    # by its printed decimal, so that the mean of 0.1 and 0.3 is 0.2
    exact = sorted(Fraction(repr(number)) for number in numbers)
    total = sum(exact, Fraction(0))
    floats = [float(value) for value in exact]
    return {
        "count": len(exact),
        "sum": as_json(settle(total)),
        "mean": as_json(settle(total / len(exact))),
        "median": as_json(settle(Fraction(statistics.median(exact)))),
        "min": as_json(settle(exact[0])),
        "max": as_json(settle(exact[-1])),
        "deviation": statistics.pstdev(floats),
        "sample_deviation": statistics.stdev(floats) if len(floats) > 1 else None,
    }
