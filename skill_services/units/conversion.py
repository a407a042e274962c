"""A value from one unit to another, checked: the same dimension, finite, nothing colder than absolute zero."""

import math
import re
from itertools import product
from typing import Final, NotRequired, TypedDict

from skill_services.units.aliases import NOTES, TEMPERATURES
from skill_services.units.dimensions import UNITS, find_dimension
from skill_services.units.failures import UnitsError
from skill_services.units.pint_types import Unit, Units
from skill_services.units.reading import UnitReader

MAX_VALUE: Final = 1e150
_DIGITS: Final = 12
_ZERO_KELVIN_NOISE: Final = 1e-9
_DISPLAY: Final = {"liter_per_hectokilometer": "liter per 100 kilometer"}
_SYMBOLS: Final = {"liter_per_hectokilometer": "L/100km", "mile_per_gallon": "mpg"}
_FUEL_VOLUMES: Final = ("gallon", "liter")


class Conversion(TypedDict):
    """`from_unit` and `to_unit` are the full names of the units that were understood."""

    value: float
    from_unit: str
    result: float
    to_unit: str
    text: str
    note: NotRequired[str]


class Converter:
    """Conversions by one pint registry."""

    def __init__(self, units: Units) -> None:
        self._units = units
        self._reader = UnitReader(units)
        self._names = {self._kind(units.parse_units(known[0])): name for name, known in reversed(UNITS.items())}

    def convert(self, value: float, from_unit: str, to_unit: str) -> Conversion:
        """Raises UnitsError."""
        if not abs(value) <= MAX_VALUE:
            raise UnitsError("The value must be a finite number no larger than 1e150.")
        source, target = self._reader.read_both(from_unit, to_unit)
        result, note = self._converted(value, source, target)
        if not math.isfinite(result):
            raise UnitsError("The result is too large for a number.")
        names = shown(source), shown(target)
        conversion: Conversion = {
            "value": value,
            "from_unit": names[0],
            "result": result,
            "to_unit": names[1],
            "text": f"{_plain(value)} {names[0]} = {_plain(result)} {names[1]}",
        }
        notes = [note, *(NOTES[word] for word in _words(source, target) if word in NOTES)]
        if any(notes):
            conversion["note"] = " ".join(filter(None, notes))
        return conversion

    def units_of(self, dimension: str) -> tuple[str, list[tuple[str, str]]]:
        """The dimension's own name, and its usual units with their symbols. Raises UnitsError."""
        name = find_dimension(dimension)
        parsed = [self._units.parse_units(unit) for unit in UNITS[name]]
        return name, [(shown(unit), _SYMBOLS.get(str(unit)) or f"{unit:~P}") for unit in parsed]

    def _converted(self, value: float, source: Unit, target: Unit) -> tuple[float, str]:
        for first, second in product(self._readings(source), self._readings(target)):
            if self._kind(first) == self._kind(second):
                return self._exact(value, first, second), ""
        kinds = self._kind_name(source), self._kind_name(target)
        if set(kinds) == {"fuel economy", "fuel consumption"}:
            if value <= 0:
                raise UnitsError("Fuel economy and fuel consumption must be above zero.")
            result = self._units.Quantity(1 / value, source**-1).to(target).magnitude
            return _rounded(result), "Fuel economy and fuel consumption are reciprocal."
        offered = ", ".join(_shown(unit) for unit in UNITS[kinds[0]][:5]) if kinds[0] in UNITS else "others like it"
        raise UnitsError(
            f"{shown(source)} measures {kinds[0]} and {shown(target)} measures {kinds[1]}, so one cannot become the "
            f"other; {shown(source)} converts to units of {kinds[0]} such as {offered}."
        )

    def _exact(self, value: float, source: Unit, target: Unit) -> float:
        quantity = self._units.Quantity(value, source)
        if str(source) in TEMPERATURES and quantity.to("kelvin").magnitude < -_ZERO_KELVIN_NOISE:
            raise UnitsError(f"{_plain(value)} {shown(source)} is below absolute zero (-273.15 degree Celsius).")
        return _rounded(quantity.to(target).magnitude)

    def _readings(self, unit: Unit) -> tuple[Unit, ...]:
        """A rotation counts as an angle per time, and as a frequency."""
        if str(unit) == "revolutions_per_minute":
            return unit, self._units.parse_units("1 / minute")
        return (unit,)

    def _kind(self, unit: Unit) -> str:
        """What may become one another; by pint's dimensions alone angles, bits and ratios would, and fuel and areas."""
        kind = str(self._units.get_base_units(unit)[1])
        fuel = {"1 / meter ** 2": "fuel economy", "meter ** 2": "fuel consumption"}.get(kind)
        return fuel if fuel and any(volume in str(unit) for volume in _FUEL_VOLUMES) else kind

    def _kind_name(self, unit: Unit) -> str:
        kind = self._kind(unit)
        return self._names.get(kind, kind)


def shown(unit: Unit) -> str:
    """The unit's full name as people write it."""
    return _shown(str(unit))


def _shown(name: str) -> str:
    if name in _DISPLAY:
        return _DISPLAY[name]
    return name.replace(" ** 2", "²").replace(" ** 3", "³").replace("_", " ")


def _words(*units: Unit) -> list[str]:
    return list(dict.fromkeys(word for unit in units for word in re.findall(r"[a-zA-Z_]+", str(unit))))


def _rounded(number: float) -> float:
    return float(f"{number:.{_DIGITS}g}")


def _plain(number: float) -> str:
    return f"{number:.{_DIGITS}g}"
