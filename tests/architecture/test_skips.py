import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
SKIPPING = (
    'import pytest\n\n\n@pytest.mark.skip(reason="no tool")\ndef test_a():\n    pass\n\n\ndef test_b():\n    pass\n'
)


@pytest.mark.parametrize(("must_run", "code"), [("1", 1), ("", 0)])
def test_a_skipped_test_fails_where_everything_must_run(tmp_path: Path, must_run: str, code: int) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "test_it.py").write_text(SKIPPING, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, str(tmp_path)],
        cwd=tmp_path, env={**os.environ, "SKILLMESH_TESTS_MUST_RUN": must_run}, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
