"""Standard streams as a process may find them: closed, full, or carrying bytes that are no text."""

import os
import sys
from contextlib import suppress

_STANDARD = (0, 1, 2)


def open_missing_streams() -> None:
    """Give every closed standard stream the null device, before another file takes its number."""
    for number in _STANDARD:
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - lives as long as the process
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def abandon_output() -> None:
    """What is still buffered cannot be written: let it go to the null device, so that the exit does not fail again."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)
    with suppress(OSError):
        sys.stdout.flush()
