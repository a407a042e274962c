"""What ends a skill process: signals, a supervisor that is gone, and, where nothing else does, the clock."""

import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

from skill_services.sdk.parent import ParentWatch

_logger = logging.getLogger("skillmesh.sdk")
_LAST_RESORT_SECONDS: Final = 1.8  # after the grace period; stopping itself is done 0.3 s before
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


class Ending:
    """The first signal asks for the drain, a second one ends the process at once.

    From the first on the process has `grace_seconds` and 2 s: an author's code that holds the event loop or a thread
    does not keep it longer. Make it within the event loop.
    """

    def __init__(self, grace_seconds: float, parent_pid: int | None = None) -> None:
        self._seconds = grace_seconds + _LAST_RESORT_SECONDS
        self._parent = ParentWatch(parent_pid) if parent_pid else None
        self._loop = asyncio.get_running_loop()
        self._asked = asyncio.Event()
        self._timer: threading.Timer | None = None

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        """Take SIGTERM and SIGINT within the block."""
        # Not loop.add_signal_handler: it is heard only while the event loop runs, and not on Windows.
        before = {}
        with suppress(ValueError):  # only the main thread may: elsewhere the process's own handlers stand
            for number in _SIGNALS:
                before[number] = signal.signal(number, self._handle)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def asked(self) -> None:
        """Return once the process should end."""
        waits: list[asyncio.Task[object]] = [asyncio.create_task(self._asked.wait())]
        if self._parent is not None:
            waits.append(asyncio.create_task(self._parent.gone()))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        if not self._asked.is_set():
            _logger.warning("The process named by SKILLMESH_PARENT_PID is gone: stopping.")

    def begin(self) -> None:
        """From now on the clock runs."""
        if self._timer is None:
            self._timer = threading.Timer(self._seconds, _end_anyway)
            self._timer.daemon = True
            self._timer.start()

    def done(self) -> None:
        """Stop the clock, unless a thread that is still there would keep the interpreter from ending."""
        others = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
        if self._timer is not None and all(thread.daemon for thread in others):
            self._timer.cancel()

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if self._timer is not None:
            _exit_now(128 + number)
        self.begin()
        with suppress(RuntimeError):  # the loop is closed: the process is ending anyway
            self._loop.call_soon_threadsafe(self._asked.set)


def _end_anyway() -> None:
    _logger.warning("Work that did not stop is abandoned.")
    _exit_now(0)


def _exit_now(code: int) -> None:
    with suppress(OSError, ValueError, RuntimeError):  # RuntimeError: the signal came in the middle of a write
        sys.stderr.flush()
    os._exit(code)
