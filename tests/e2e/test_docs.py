"""Every command and snippet that README and docs show is run here, in the order shown."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.shown_commands import Shown, shown_in

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PATIENCE_SECONDS = 90


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder in which the shown commands find what they would in a clone, and which they may fill.

    Where the virtual environment is not current, `make run` would install this folder into it.
    """
    pyproject = (ROOT / "pyproject.toml").read_bytes()
    wanted = subprocess.run(["cksum"], input=pyproject, capture_output=True, check=True).stdout.strip()
    stamp = Path(sys.prefix) / ".installed-run"
    if not stamp.is_file() or stamp.read_bytes() != wanted:
        pytest.fail("run `make dev` first")
    for name in ("Makefile", "scripts", "pyproject.toml", "proto", "agent_core", "skill_services", "README.md"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / ".venv").symlink_to(Path(sys.prefix))
    return tmp_path


def environment(folder: Path) -> dict[str, str]:
    hidden = ("CONSUL_", "OPENAI_", "SKILLMESH_", "OTEL_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    return {**kept, "SKILLMESH_STATE_DIR": str(folder / "state"), "PYTHONUNBUFFERED": "1", "MAKEFLAGS": ""}


@contextmanager
def background(block: Shown, folder: Path) -> Iterator[None]:
    """Run the block until the end of the document; its text must appear first, and Ctrl-C must end it."""
    log = folder / f"line-{block.line}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["bash", "-euc", block.text],
            cwd=folder, env=environment(folder), stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (block.until or "") not in log.read_text(encoding="utf-8", errors="replace"):
            assert process.poll() is None, log.read_text(encoding="utf-8", errors="replace")
            assert time.monotonic() < deadline, log.read_text(encoding="utf-8", errors="replace")
            time.sleep(0.1)
        yield
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(timeout=30)


def run(command: list[str], folder: Path) -> str:
    done = subprocess.run(
        command, cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=PATIENCE_SECONDS,
        stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{command[-1]}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def play(blocks: list[Shown], folder: Path) -> None:
    """Run what is left of a document; background commands live until it is done."""
    for index, block in enumerate(blocks):
        if block.skipped:
            continue
        if block.file is not None:
            (folder / block.file).write_text(block.text, encoding="utf-8")
        elif block.until is not None:
            with background(block, folder):
                play(blocks[index + 1 :], folder)
            return
        elif block.language == "sh":
            lines = [line for line in block.text.splitlines() if line.strip() != "make test"]  # that is what runs us
            run(["bash", "-euc", "\n".join(lines)], folder)
        elif block.language == "python":
            run([sys.executable, "-c", block.text], folder)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_what_a_document_shows_works(document: Path, checkout: Path) -> None:
    play(shown_in(document), checkout)
