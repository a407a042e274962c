"""The log of one process: a bounded file, its last lines, and each line to who wants it."""

import asyncio
import io
import os
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final

MAX_FILE_BYTES: Final = 4 * 1024 * 1024
MAX_LINE_BYTES: Final = 16 * 1024
LAST_LINES: Final = 20
_READ_BYTES: Final = 64 * 1024

OnLine = Callable[[str, str], None]
"""Called with a process's name and a line of its output."""


def _ignore(_name: str, _line: str) -> None:
    pass


class ProcessLog:
    """Writes what a process says to `path`; at `max_bytes` the file becomes `<name>.log.1` and a new one begins."""

    def __init__(self, name: str, path: Path, on_line: OnLine = _ignore, max_bytes: int = MAX_FILE_BYTES) -> None:
        self.path = path
        self.last_lines: deque[str] = deque(maxlen=LAST_LINES)
        self._name = name
        self._on_line = on_line
        self._max_bytes = max_bytes
        self._size = 0
        self._file = _open_private(path)

    async def follow(self, stream: asyncio.StreamReader) -> None:
        """Until the stream ends."""
        rest = b""
        while data := await stream.read(_READ_BYTES):
            self._write(data)
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._say(line)
            if len(rest) > MAX_LINE_BYTES:
                self._say(rest)
                rest = b""
        if rest:
            self._say(rest)

    def close(self) -> None:
        self._file.close()

    def _write(self, data: bytes) -> None:
        if self._size + len(data) > self._max_bytes:
            self._file.close()
            self.path.replace(self.path.with_name(f"{self.path.name}.1"))
            self._file = _open_private(self.path)
            self._size = 0
        self._size += self._file.write(data)

    def _say(self, line: bytes) -> None:
        text = line[:MAX_LINE_BYTES].decode(errors="replace").rstrip("\r")
        self.last_lines.append(text)
        self._on_line(self._name, text)


def _open_private(path: Path) -> io.FileIO:
    """Logs may hold what users asked: for this user alone."""
    return io.FileIO(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "w")
