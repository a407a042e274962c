"""The configured directory: which files there are, and how one is opened without leaving it."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import BinaryIO, Final

from skill_services.logs.failures import LogsError

VARIABLE: Final = "LOGS_DIRECTORY"
MAX_FILES: Final = 1_000
_MAX_DEPTH: Final = 6
_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class LogFile:
    """`name` is relative to the directory, with forward slashes; `modified` is in seconds since the epoch."""

    name: str
    path: Path
    size: int
    modified: float


class LogDirectory:
    """Read access to the files under one directory and to nothing else."""

    def __init__(self, root: Path) -> None:
        try:
            self._root = root.resolve(strict=True)
        except (OSError, RuntimeError):
            raise LogsError("The log directory does not exist; its operator must correct LOGS_DIRECTORY.") from None

    def files(self) -> tuple[list[LogFile], bool]:
        """Every regular file, the last changed first, and whether there were more than MAX_FILES."""
        found: list[LogFile] = []
        for path in self._walk():
            try:
                state = path.lstat()
            except OSError:
                continue  # rotated away meanwhile
            if not stat.S_ISREG(state.st_mode):
                continue  # a link would be read twice or lead outside
            if len(found) == MAX_FILES:
                return _latest_first(found), True
            found.append(LogFile(path.relative_to(self._root).as_posix(), path, state.st_size, state.st_mtime))
        return _latest_first(found), False

    def matching(self, pattern: str) -> tuple[list[LogFile], bool]:
        """The files whose name, or last part of it, is `pattern`, in which * and ? are wild. Empty: all."""
        found, more = self.files()
        if not pattern:
            return found, more
        _refuse_outside(pattern)
        chosen = [f for f in found if fnmatchcase(f.name, pattern) or fnmatchcase(f.name.rpartition("/")[2], pattern)]
        if not chosen and not any(c in pattern for c in "*?["):
            chosen = [self.file(pattern)]
        if not chosen:
            raise LogsError(f"No log file matches {pattern!r}; there are {_listed(found)}.")
        return chosen, more

    def file(self, name: str) -> LogFile:
        """One file by its name. Raises LogsError where it is absent, outside, or no regular file."""
        _refuse_outside(name)
        try:
            path = (self._root / name).resolve(strict=True)
            state = path.stat()
        except (OSError, RuntimeError, ValueError):
            raise LogsError(f"There is no log file {name!r}; there are {_listed(self.files()[0])}.") from None
        if not path.is_relative_to(self._root):
            raise LogsError(f"{name!r} leads outside the log directory, which is not allowed.")
        if not stat.S_ISREG(state.st_mode):
            raise LogsError(f"{name!r} is not a file; there are {_listed(self.files()[0])}.")
        return LogFile(Path(name).as_posix(), path, state.st_size, state.st_mtime)

    def _walk(self) -> Iterator[Path]:
        for folder, folders, names in os.walk(self._root, followlinks=False):
            here = Path(folder)
            deep = len(here.relative_to(self._root).parts) >= _MAX_DEPTH
            folders[:] = [] if deep else sorted(name for name in folders if not name.startswith("."))
            yield from (here / name for name in sorted(names) if not name.startswith("."))


def open_file(file: LogFile) -> BinaryIO:
    """Its bytes. Raises LogsError where it cannot be read, or has become something else since it was found."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        descriptor = os.open(file.path, flags)
    except OSError as error:
        raise LogsError(f"{file.name} cannot be read: {error.strerror or type(error).__name__}.") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise LogsError(f"{file.name} is not a regular file.")
    return os.fdopen(descriptor, "rb")


def directory_ready() -> str | None:
    """For the prerequisite: None, or what is missing."""
    value = os.environ.get(VARIABLE, "")
    if not value:
        return f"Set {VARIABLE} to the directory that holds the log files."
    path = Path(value)
    if not path.is_dir():
        return f"{VARIABLE} names no directory; create it or correct the variable."
    return None if os.access(path, os.R_OK | os.X_OK) else f"The directory that {VARIABLE} names cannot be read."


def _refuse_outside(name: str) -> None:
    parts = name.replace("\\", "/").split("/")
    if not name.strip() or "\0" in name or name.startswith(("/", "\\", "~")) or ".." in parts or ":" in parts[0]:
        raise LogsError("Name a file inside the log directory, such as orders.log, without a leading / and without ..")


def _latest_first(files: list[LogFile]) -> list[LogFile]:
    return sorted(files, key=lambda file: (-file.modified, file.name))


def _listed(files: list[LogFile]) -> str:
    names = ", ".join(file.name for file in files[:_SHOWN])
    return f"{names} and {len(files) - _SHOWN} more" if len(files) > _SHOWN else names or "no files"
