"""How a mesh that runs is found from another terminal: one file, kept while its owner lives."""

import fcntl
import json
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

_FILE: Final = "mesh.json"
_LOCK: Final = "mesh.lock"
_FORMAT: Final = 1
_MAX_BYTES: Final = 256 * 1024
_ATTEMPTS: Final = 5
_PAUSE_SECONDS: Final = 0.02


@dataclass(frozen=True, slots=True)
class RunningProcess:
    name: str
    pid: int
    log_path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningMesh:
    """A mesh on this machine. `environ` is what a client's environment needs to use it; `pid` its supervisor's."""

    pid: int
    environ: Mapping[str, str]
    log_dir: str
    processes: tuple[RunningProcess, ...] = field(default=())


def state_directory(environ: Mapping[str, str] = os.environ) -> Path:
    """Where this user's running mesh and its logs are noted."""
    if named := environ.get("SKILLMESH_STATE_DIR"):
        return Path(named)
    for variable in ("XDG_RUNTIME_DIR", "XDG_STATE_HOME"):
        named = environ.get(variable)
        if named and Path(named).is_dir():
            return Path(named) / "skillmesh"
    return Path.home() / ".local" / "state" / "skillmesh"


class StateFile:
    """Publishes a mesh. The kernel drops the lock with its owner, so a file without a lock is a leftover."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._lock: int | None = None

    def publish(self, mesh: RunningMesh) -> bool:
        """Write the file, or replace what was written; False where another mesh holds it."""
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        if self._lock is None:
            self._lock = _take_lock(self._directory / _LOCK, fcntl.LOCK_EX, attempts=_ATTEMPTS)
        if self._lock is None:
            return False
        text = json.dumps({"format": _FORMAT, **asdict(mesh)}, indent=2)
        temporary = self._directory / f"{_FILE}.{os.getpid()}"
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:  # noqa: PTH123 - the mode must hold from the first byte
            file.write(text)
        temporary.replace(self._directory / _FILE)
        return True

    def remove(self) -> None:
        """Only what we published."""
        if self._lock is None:
            return
        (self._directory / _FILE).unlink(missing_ok=True)
        os.close(self._lock)
        self._lock = None


def read_running(directory: Path | None = None) -> RunningMesh | None:
    """The mesh that runs here; None where there is none, or only the file of one that has ended."""
    directory = directory or state_directory()
    try:
        lock = _take_lock(directory / _LOCK, fcntl.LOCK_SH, attempts=1)
        if lock is not None:
            os.close(lock)
            return None
        text = (directory / _FILE).read_text(encoding="utf-8")
    except OSError:
        return None
    return _read(text) if len(text) <= _MAX_BYTES else None


def _read(text: str) -> RunningMesh | None:
    """None where the file is of another version, or not ours."""
    try:
        data: Any = json.loads(text)
        if data.pop("format") != _FORMAT:
            return None
        processes = tuple(RunningProcess(**process) for process in data.pop("processes"))
        mesh = RunningMesh(**data, processes=processes)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return mesh if _alive(mesh.pid) else None


def _take_lock(path: Path, kind: int, *, attempts: int) -> int | None:
    """A descriptor that holds the lock; None where somebody else does. Raises OSError where there is no such file."""
    descriptor = os.open(path, os.O_RDWR | (os.O_CREAT if kind == fcntl.LOCK_EX else 0), 0o600)
    for attempt in range(attempts):  # whoever reads holds it for a moment, too
        if attempt:
            time.sleep(_PAUSE_SECONDS)
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        return descriptor
    os.close(descriptor)
    return None


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
