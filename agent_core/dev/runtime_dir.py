"""A directory for the logs of one mesh; those of earlier ones stay for a while, so that a failure can be read up."""

import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

KEPT: Final = 3


def make_runtime_directory(state: Path) -> Path:
    """A new directory under `state`/runs, for this user alone. Raises OSError."""
    runs = state / "runs"
    runs.mkdir(parents=True, exist_ok=True, mode=0o700)
    _forget(runs)
    return Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=runs))


def _forget(runs: Path) -> None:
    """Remove the oldest that belong to no process that lives."""
    ended = [directory for directory in runs.iterdir() if not _owner_lives(directory)]
    ended.sort(key=lambda directory: directory.stat().st_mtime, reverse=True)
    for directory in ended[KEPT:]:
        shutil.rmtree(directory, ignore_errors=True)


def _owner_lives(directory: Path) -> bool:
    pid = directory.name.partition("-")[0]
    if not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
