"""The skills for units of measure. Plain functions: the first call of a process waits for pint in a thread."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Final

from pydantic import Field

from skill_services.sdk import SkillError, skill
from skill_services.units.conversion import Conversion, Converter
from skill_services.units.failures import UnitsError
from skill_services.units.reading import MAX_UNIT
from skill_services.units.registry import Registry, private_cache

VERSION: Final = "1.0.0"
_OWNER: Final = "skillmesh"
_CACHE_SECONDS: Final = 300.0
_registry: Final = Registry(private_cache())

UnitText = Annotated[
    str,
    Field(
        description="A unit by name or symbol, English or Chinese, such as km, mile, celsius, m/s, kWh or 公斤.",
        examples=["km", "mile", "celsius", "m/s", "公斤"],
        min_length=1,
        max_length=MAX_UNIT,
    ),
]


@dataclass(frozen=True, slots=True)
class UnitEntry:
    unit: str
    symbol: str


@dataclass(frozen=True, slots=True)
class UnitList:
    dimension: str
    units: list[UnitEntry]


@skill(
    version=VERSION,
    access="observer",
    effect="read",
    timeout=5.0,
    cache_ttl=_CACHE_SECONDS,
    owner=_OWNER,
    change_note="First version.",
    tags=["units", "conversion", "单位", "换算"],
    scenarios=[
        "How many kilometres are 26.2 miles?",
        "Convert 100 degrees Fahrenheit to Celsius",
        "What is 60 mph in m/s?",
        "How many MB are 3 GiB?",
        "5 英里是多少公里？",
        "37 摄氏度等于多少华氏度",
        "把 10 斤换算成公斤",
    ],
    examples=[
        ("How far is 5 miles in km?", {"value": 5, "from_unit": "mile", "to_unit": "km"}),
        ("37 摄氏度是多少华氏度？", {"value": 37, "from_unit": "摄氏度", "to_unit": "华氏度"}),
    ],
    llm_hint=(
        "Give the number as value and only the unit in from_unit and to_unit. Letters' case matters for symbols: MB is "
        "megabyte, Mb megabit. ton, gallon, pint and cup are the US ones; say tonne or imperial_gallon "
        "otherwise. For a "
        "difference of temperatures write delta_degC. Currencies are not units."
    ),
)
def convert_units(
    value: Annotated[
        float, Field(description="How many of from_unit, such as 26.2.", examples=[26.2], allow_inf_nan=False)
    ],
    from_unit: UnitText,
    to_unit: UnitText,
) -> Conversion:
    """Use when a quantity must be told in another unit of measure: length, mass, temperature, volume, speed, data.

    Converts by exact definitions, also compound units such as km/h or kg/m^3, and says where a unit's name has several
    meanings. Unlike calculate it knows units; unlike list_units it converts.
    """
    try:
        return _converter().convert(value, from_unit, to_unit)
    except UnitsError as error:
        raise SkillError(str(error)) from None


@skill(
    version=VERSION,
    access="observer",
    effect="read",
    timeout=5.0,
    cache_ttl=_CACHE_SECONDS,
    owner=_OWNER,
    change_note="First version.",
    tags=["units", "单位"],
    scenarios=[
        "Which units of length are there?",
        "List the pressure units you can convert",
        "What units can I use for data sizes?",
        "有哪些长度单位？",
        "列出可以换算的压强单位",
        "支持哪些重量单位",
    ],
    examples=[("Which units of pressure are there?", {"dimension": "pressure"})],
)
def list_units(
    dimension: Annotated[
        str,
        Field(
            description="What is measured, in English or Chinese, such as length, mass, temperature, speed or 长度.",
            examples=["length", "temperature", "长度"],
            min_length=1,
            max_length=MAX_UNIT,
        ),
    ],
) -> UnitList:
    """Use when somebody asks which units of measure there are, or convert_units did not know a unit.

    Lists the usual units of one dimension with their symbols. Unlike convert_units it converts nothing.
    """
    try:
        name, units = _converter().units_of(dimension)
    except UnitsError as error:
        raise SkillError(str(error)) from None
    return UnitList(name, [UnitEntry(unit, symbol) for unit, symbol in units])


@lru_cache(maxsize=1)
def _converter() -> Converter:
    return Converter(_registry.get())
