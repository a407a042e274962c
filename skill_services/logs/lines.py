"""The lines of a file, plain or gzip, within a budget of bytes, lines and time."""

import gzip
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Final

from skill_services.logs.directory import LogFile, open_file
from skill_services.logs.failures import LogsError

MAX_LINE_BYTES: Final = 16 * 1024
_BLOCK: Final = 256 * 1024
_SNIFF: Final = 8 * 1024
_GZIP: Final = b"\x1f\x8b"
_CHECK_EVERY: Final = 512  # lines between two looks at the clock


@dataclass(slots=True)
class Budget:
    """What may still be read; shared by all files of one question. `stopped` says once it is spent, and on what."""

    bytes: int
    lines: int
    deadline: float
    clock: Callable[[], float] = time.monotonic
    cancelled: bool = False
    stopped: str = ""
    notes: list[str] = field(default_factory=list)

    def cancel(self) -> None:
        """Make the reader stop soon; from any thread."""
        self.cancelled = True

    def spend(self, size: int) -> bool:
        """Account for one line; False where it may not be read any more."""
        self.bytes -= size
        self.lines -= 1
        if self.bytes < 0:
            self.stopped = "the limit on bytes read"
        elif self.lines < 0:
            self.stopped = "the limit on lines read"
        elif self.lines % _CHECK_EVERY == 0 and (self.cancelled or self.clock() >= self.deadline):
            self.stopped = "the time limit"
        return not self.stopped


def read_lines(file: LogFile, budget: Budget) -> Iterator[tuple[int, str]]:
    """Numbered lines (from 1) without their ends; bytes that are not UTF-8 are replaced, long lines are cut.

    Of a plain file that is larger than the budget only the end is read; its lines are then numbered from 1 there.
    Raises LogsError for a binary file.
    """
    with open_file(file) as raw:
        head = raw.read(_SNIFF)
        raw.seek(0)
        if head.startswith(_GZIP):
            with gzip.GzipFile(fileobj=raw) as unpacked:
                yield from _numbered(_unpacked(file, unpacked, budget), budget)
            return
        _refuse_binary(file, head)
        if file.size > budget.bytes:
            raw.seek(file.size - budget.bytes)
            raw.readline(MAX_LINE_BYTES)
            budget.notes.append(f"Of {file.name} only the last {budget.bytes / 2**20:.0f} MB were read.")
        yield from _numbered(_blocks(raw), budget)


def _numbered(blocks: Iterator[bytes], budget: Budget) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(_split(blocks), start=1):
        if not budget.spend(len(line)):
            return
        text = line[:MAX_LINE_BYTES].decode("utf-8", errors="replace").rstrip("\r\n")
        if number == 1:
            text = text.removeprefix("\ufeff")
        if len(line) > MAX_LINE_BYTES:
            text += " ...(line cut)"
        yield number, text


def _split(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Lines; of one without an end no more is kept than is shown."""
    rest = b""
    cutting = False
    for block in blocks:
        *whole, tail = block.split(b"\n")
        for line in whole:
            if not cutting:
                yield rest + line
            rest, cutting = b"", False
        if cutting:
            continue
        rest += tail
        if len(rest) > MAX_LINE_BYTES:
            yield rest
            rest, cutting = b"", True
    if rest:
        yield rest


def _blocks(raw: BinaryIO) -> Iterator[bytes]:
    while block := raw.read(_BLOCK):
        yield block


def _unpacked(file: LogFile, unpacked: gzip.GzipFile, budget: Budget) -> Iterator[bytes]:
    first = True
    try:
        while block := unpacked.read(_BLOCK):
            if first:
                _refuse_binary(file, block[:_SNIFF])
                first = False
            yield block
            if budget.bytes < 0:
                return
    except (OSError, EOFError, zlib.error):
        budget.notes.append(f"{file.name} is damaged; it was read up to the damage.")


def _refuse_binary(file: LogFile, head: bytes) -> None:
    if b"\0" in head:
        raise LogsError(f"{file.name} is a binary file, not a log.")
