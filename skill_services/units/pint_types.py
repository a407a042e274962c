"""What is used of pint, as Protocols: importing pint for its types would cost each start 0.2 s."""

from typing import Protocol


class Unit(Protocol):
    def __pow__(self, exponent: int) -> "Unit": ...

    def __format__(self, form: str) -> str: ...


class Quantity(Protocol):
    @property
    def magnitude(self) -> float: ...

    def to(self, unit: Unit | str) -> "Quantity": ...


class Units(Protocol):
    """pint.UnitRegistry; the method's name is pint's."""

    def parse_units(self, text: str) -> Unit: ...

    def get_base_units(self, unit: Unit) -> tuple[float, Unit]: ...

    def Quantity(self, value: float, unit: Unit) -> Quantity: ...  # noqa: N802  # pint's name
