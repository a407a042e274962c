"""The house of the design: import-linter keeps it, and is shown to notice when it is broken."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    program = "from importlinter.cli import lint_imports_command as c; c()"
    return subprocess.run(
        [sys.executable, "-c", program, "--no-cache"],
        cwd=folder,
        env={"PYTHONPATH": f"{folder}/proto:{folder}", "PATH": "", "COLUMNS": "200", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy of the packages that a test may break."""
    for package in ("proto", "agent_core", "skill_services"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_every_contract_is_kept(house: Path) -> None:
    result = lint(house)
    assert result.returncode == 0, result.stdout + result.stderr
    assert " 0 broken" in result.stdout


@pytest.mark.parametrize(
    ("module", "statement"),
    [
        ("agent_core/domain/skill.py", "import agent_core.invocation"),
        ("agent_core/discovery/__init__.py", "import agent_core.transport"),
        ("agent_core/domain/call.py", "import skillmesh.v1.result_pb2"),
        ("agent_core/agent/__init__.py", "import openai"),
        ("agent_core/invocation/__init__.py", "import grpc"),
        ("agent_core/resilience/__init__.py", "import consul"),
        ("agent_core/dev/__init__.py", "import agent_core.agent"),
        ("skill_services/sdk/__init__.py", "import agent_core.domain"),
        ("skill_services/clock/__init__.py", "import skill_services.units"),
        ("proto/skillmesh/conventions.py", "import grpc"),
    ],
)
def test_a_forbidden_import_fails(house: Path, module: str, statement: str) -> None:
    path = house / module
    path.write_text(path.read_text(encoding="utf-8") + f"\n{statement}\n", encoding="utf-8")
    result = lint(house)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "BROKEN" in result.stdout


def test_the_opentelemetry_sdk_is_set_up_in_one_place_only() -> None:
    """import-linter cannot name a part of an external package, so this one is checked here."""
    users = set()
    for package in ("proto/skillmesh", "agent_core", "skill_services"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                if any(name.startswith(("opentelemetry.sdk", "opentelemetry.exporter")) for name in names):
                    users.add(str(path.relative_to(ROOT)))
    assert users == {"proto/skillmesh/otel.py"}
