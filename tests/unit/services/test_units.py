import math
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_services.sdk.testing import InvalidArguments, SkillTester
from skill_services.units.aliases import ALIASES, EXACT, NOTES
from skill_services.units.conversion import Converter
from skill_services.units.dimensions import UNITS, find_dimension
from skill_services.units.failures import UnitsError
from skill_services.units.registry import Registry, private_cache
from skill_services.units.skill import convert_units, list_units


@pytest.fixture(scope="module")
def converter(tmp_path_factory: pytest.TempPathFactory) -> Converter:
    return Converter(Registry(tmp_path_factory.mktemp("units")).get())


@pytest.mark.parametrize(
    ("value", "source", "target", "result"),
    [
        (5, "miles", "km", 8.04672),
        (5, "英里", "公里", 8.04672),
        (6, "ft", "m", 1.8288),
        (1, "'", "cm", 30.48),
        (1, "in", "cm", 2.54),
        (1, "KM", "M", 1000),
        (1, "nm", "m", 1e-9),
        (180, "lbs", "kg", 81.6466266),
        (10, "斤", "公斤", 5),
        (1, "吨", "kg", 1000),
        (1, "m2", "sq ft", 10.7639104167),
        (1, "Square Feet", "m²", 0.09290304),
        (1, "square meter", "meters squared", 1),
        (1, "平方公里", "英亩", 247.104393047),
        (1, "立方米", "升", 1000),
        (3, "亩", "平方米", 2000),
        (1, "cubic meters", "gallons", 264.172052358),
        (1, "floz", "ml", 29.5735295625),
        (60, "mph", "千米/小时", 96.56064),
        (36, "公里每小时", "m/s", 10),
        (100, "km per hour", "mph", 62.1371192237),
        (1, "m/s**2", "km/h^2", 12960),
        (1, "g/cm3", "kg/m^3", 1000),
        (1, "kWh", "MJ", 3.6),
        (500, "大卡", "千焦", 2092),
        (1, "Cal", "cal", 1000),
        (1, "psi", "kPa", 6.89475729317),
        (180, "degrees", "rad", math.pi),
        (1, "GB", "MB", 1000),
        (8, "Mb", "MB", 1),
        (1, "TiB", "GiB", 1024),
        (100, "Mbps", "MB/s", 12.5),
        (60, "rpm", "Hz", 1),
        (60, "rpm", "rad/s", 2 * math.pi),
        (1, "year", "days", 365.25),
        (1, "percent", "ppm", 10000),
        (1, "coulomb", "A*s", 1),
        (1, "C", "A*s", 1),
        (2, "light year", "ly", 2),
        (1, "Kilometers", "METERS", 1000),
    ],
)
def test_a_quantity_is_converted_however_its_units_are_written(
    converter: Converter, value: float, source: str, target: str, result: float
) -> None:
    assert converter.convert(value, source, target)["result"] == pytest.approx(result, rel=1e-11)


@pytest.mark.parametrize(
    ("value", "source", "target", "result"),
    [
        (100, "F", "C", 37.7777777778),
        (37, "摄氏度", "华氏度", 98.6),
        (20, "°C", "°F", 68),
        (0, "K", "C", -273.15),
        (1, "C", "degF", 33.8),
        (1, "celsius", "K", 274.15),
        (-40, "fahrenheit", "c", -40),
        (10, "delta_degC", "delta_degF", 18),
    ],
)
def test_temperatures_have_their_offsets(
    converter: Converter, value: float, source: str, target: str, result: float
) -> None:
    assert converter.convert(value, source, target)["result"] == pytest.approx(result, rel=1e-10)


def test_fuel_economy_and_consumption_are_reciprocal_and_said_so(converter: Converter) -> None:
    told = converter.convert(30, "mpg", "L/100km")
    assert told["result"] == pytest.approx(7.84048611111)
    assert told["text"] == "30 mile per gallon = 7.84048611111 liter per 100 kilometer"
    assert "reciprocal" in told["note"]
    assert converter.convert(5, "升/100公里", "km/L")["result"] == 20


def test_a_word_with_several_meanings_is_explained(converter: Converter) -> None:
    assert "tonne" in converter.convert(1, "ton", "kg")["note"]
    assert "note" not in converter.convert(1, "tonne", "kg")


@pytest.mark.parametrize(
    ("value", "source", "target", "words"),
    [
        (1, "kg", "mile", "kilogram measures mass and mile measures length"),
        (1, "MB", "degree", "measures information"),
        (1, "L/100km", "m2", "fuel consumption"),
        (1, "m**3/kg", "m", "kilogram"),
        (-300, "C", "F", "absolute zero"),
        (0, "mpg", "L/100km", "above zero"),
        (1, "USD", "EUR", "Currencies"),
        (1, "人民币", "美元", "Currencies"),
        (1, "foo", "km", "no unit 'foo'"),
        (1, "kilomter", "mile", "Perhaps kilometer"),
        (1, "2 km", "m", "Give the number as the value"),
        (1, "", "m", "is not a unit"),
        (1, "m**9999", "m", "is not a unit"),
        (1, "m\0", "m", "is not a unit"),
        (1, "m" * 100, "m", "is not a unit"),
        (1, "__import__('os')", "m", "no unit"),
        (math.nan, "km", "m", "finite"),
        (1e200, "km", "m", "finite"),
    ],
)
def test_what_cannot_be_converted_is_refused_in_a_sentence(
    converter: Converter, value: float, source: str, target: str, words: str
) -> None:
    with pytest.raises(UnitsError) as refused:
        converter.convert(value, source, target)
    assert words in str(refused.value)


def test_every_alias_and_every_listed_unit_is_one_that_pint_knows(converter: Converter) -> None:
    units = Registry(None).get()
    for unit in {*ALIASES.values(), *EXACT.values(), *NOTES, *(unit for known in UNITS.values() for unit in known)}:
        assert units.parse_units(unit) is not None
    for dimension, known in UNITS.items():
        assert len(converter.units_of(dimension)[1]) == len(known)


def test_every_unit_of_a_dimension_converts_to_every_other(converter: Converter) -> None:
    for known in UNITS.values():
        for unit in known[1:]:
            there = converter.convert(7, known[0], unit)["result"]
            assert converter.convert(there, unit, known[0])["result"] == pytest.approx(7)


@settings(deadline=None)
@given(st.text(max_size=30), st.floats())
def test_any_unit_gives_a_number_or_a_sentence(converter: Converter, unit: str, value: float) -> None:
    try:
        told = converter.convert(value, unit, unit)
    except UnitsError:
        return
    assert math.isfinite(told["result"])


@pytest.mark.parametrize(
    ("word", "dimension"),
    [("length", "length"), ("Distance", "length"), ("长度", "length"), ("压强", "pressure"), ("angles", "angle")],
)
def test_a_dimension_is_found_in_both_languages(word: str, dimension: str) -> None:
    assert find_dimension(word) == dimension


def test_an_unknown_dimension_is_refused_with_those_there_are() -> None:
    with pytest.raises(UnitsError, match="there are length, mass"):
        find_dimension("colour")


def test_the_cache_is_private_to_the_user_or_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = private_cache()
    assert folder == tmp_path / "skillmesh" / "units"
    assert folder.stat().st_mode & 0o077 == 0
    folder.chmod(0o777)
    assert private_cache() is None
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert private_cache() is None


def test_a_broken_cache_costs_time_and_nothing_else(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    Registry(tmp_path).get()
    for file in tmp_path.rglob("*"):
        if file.is_file():
            os.truncate(file, 3)
    units = Registry(tmp_path).get()
    assert str(units.parse_units("km")) == "kilometer"
    assert "cannot be used" in caplog.text


async def test_the_skills_answer_as_the_mesh_calls_them() -> None:
    async with SkillTester([convert_units, list_units]) as mesh:
        done = await mesh.call("convert_units", {"value": 5, "from_unit": "mile", "to_unit": "km"})
        assert isinstance(done.value, dict)
        assert done.value["text"] == "5 mile = 8.04672 kilometer"
        failed = await mesh.call("convert_units", {"value": 5, "from_unit": "mile", "to_unit": "kg"})
        assert failed.status == "failed"
        listed = await mesh.call("list_units", {"dimension": "温度"})
        assert '{"unit":"degree Celsius","symbol":"°C"}' in listed.text
        assert (await mesh.call("list_units", {"dimension": "colour"})).status == "failed"
        with pytest.raises(InvalidArguments):
            await mesh.call("convert_units", {"value": "many", "from_unit": "mile", "to_unit": "km"})
