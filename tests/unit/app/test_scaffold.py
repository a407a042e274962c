import re
import sys
from pathlib import Path

import pytest

from agent_core.app.scaffold import package_name, scaffold
from agent_core.domain.errors import ConfigError


def test_every_file_is_written_and_no_placeholder_is_left(tmp_path: Path) -> None:
    folder = scaffold("weather-report", tmp_path)
    files = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}
    assert set(files) == {
        "Dockerfile",
        "README.md",
        "pyproject.toml",
        "tests/test_skill.py",
        "weather_report/__init__.py",
        "weather_report/__main__.py",
        "weather_report/skill.py",
    }
    assert not [name for name, text in files.items() if re.search(r"\$\{?[a-z]", text)]
    assert list(tmp_path.iterdir()) == [folder]


@pytest.mark.parametrize("name", ["", "Bad", "a_b", "-x", "x-", "a" * 64, "../x", "a/b", "skillmesh-core", "天气"])
def test_a_name_that_no_service_may_have_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot name a service"):
        scaffold(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "weather").mkdir()
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    for name in ("weather", "gone"):
        with pytest.raises(ConfigError, match="exists already"):
            scaffold(name, tmp_path)
    assert list((tmp_path / "weather").iterdir()) == []


def test_a_directory_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is not a directory"):
        scaffold("weather", tmp_path / "absent")


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a directory that nobody can write to")
def test_a_directory_that_cannot_be_written_is_refused_in_a_sentence() -> None:
    with pytest.raises(ConfigError, match="cannot be written"):
        scaffold("weather", Path("/proc/self"))


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("weather", "weather"),
        ("weather-report", "weather_report"),
        ("json", "json_service"),
        ("orjson", "orjson_service"),
        ("class", "class_service"),
        ("tests", "tests_service"),
        ("3d", "service_3d"),
    ],
)
def test_the_package_hides_no_module_that_it_needs(name: str, package: str) -> None:
    assert package_name(name) == package
    assert package not in sys.stdlib_module_names
