"""Files and functions stay small enough to be read at once."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
MAX_PARAMETERS = 6
BANNED_MODULES = {"utils", "helpers", "common", "base", "manager", "util", "helper", "misc"}


def product_files() -> list[Path]:
    files = [
        path
        for package in ("proto/skillmesh", "agent_core", "skill_services")
        for path in (ROOT / package).rglob("*.py")
        if "v1" not in path.parts and "template" not in path.parts
    ]
    assert len(files) > 20
    return files


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_no_file_is_longer_than_400_lines() -> None:
    sources = [*product_files(), *(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in sources}
    assert {str(path.relative_to(ROOT)): n for path, n in lengths.items() if n > MAX_FILE_LINES} == {}


def test_the_median_file_is_about_120_lines_or_shorter() -> None:
    lengths = sorted(len(path.read_text(encoding="utf-8").splitlines()) for path in product_files())
    assert lengths[len(lengths) // 2] <= 130


def test_no_function_is_longer_than_60_lines() -> None:
    long = {
        f"{path.relative_to(ROOT)}:{function.name}": (function.end_lineno or 0) - function.lineno + 1
        for path in product_files()
        for function in functions(path)
        if (function.end_lineno or 0) - function.lineno + 1 > MAX_FUNCTION_LINES
    }
    assert long == {}


def test_no_function_has_more_than_six_positional_parameters() -> None:
    wide = {
        f"{path.relative_to(ROOT)}:{function.name}": len(function.args.posonlyargs) + len(function.args.args)
        for path in product_files()
        for function in functions(path)
        if len([a for a in function.args.posonlyargs + function.args.args if a.arg not in ("self", "cls")])
        > MAX_PARAMETERS
        and "commands" not in path.parts  # a command's parameters are its options
    }
    assert wide == {}


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert [path for path in product_files() if path.stem in BANNED_MODULES] == []


def test_no_import_hides_under_type_checking() -> None:
    hidden = [path for path in product_files() if "TYPE_CHECKING" in path.read_text(encoding="utf-8")]
    assert hidden == []
