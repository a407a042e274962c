"""Where sync skills run: a bounded number of threads, which work that nobody waits for any more cannot fill."""

import asyncio
import contextvars
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Final

from skill_services.sdk.limits import Places

_logger = logging.getLogger("skillmesh.sdk")
_ABANDONED_PER_THREAD: Final = 4


@dataclass(frozen=True, slots=True)
class _Ended:
    """How a function ended; its exception is a value here, as a future cannot carry every kind."""

    value: object
    error: BaseException | None


@dataclass(slots=True, eq=False)
class _Work:
    function: Callable[[], object]
    done: "asyncio.Future[_Ended]"
    on_end: Callable[[], None]
    loop: asyncio.AbstractEventLoop
    context: contextvars.Context = field(default_factory=contextvars.copy_context)
    abandoned: bool = False


class SkillThreads:
    """At most `number` calls at once that somebody waits for, and four times as many that were abandoned.

    A thread cannot be stopped. A call whose caller left makes room for a new one at once, up to that many; each further
    one takes a place away, and where no place is left new calls are refused promptly. Threads are daemons: none keeps
    the process from ending.
    """

    def __init__(self, number: int, max_waiting: int) -> None:
        self._number = number
        self._abandoned = 0
        self._idle = 0
        self._busy = 0
        self._threads = 0
        self._queue: SimpleQueue[_Work | None] = SimpleQueue()
        self._places = Places(number, "Every thread of this service is busy", max_waiting)
        self._on_quiet: Callable[[], None] = lambda: None

    @property
    def busy(self) -> int:
        """Functions that run now, abandoned ones included."""
        return self._busy

    def when_quiet(self, callback: Callable[[], None]) -> None:
        """Have `callback` called, on the event loop's thread, each time that no function runs any more."""
        self._on_quiet = callback

    async def run(self, function: Callable[[], object], deadline: float, on_end: Callable[[], None]) -> object:
        """The function's value, from a thread that sees the caller's context variables.

        `on_end` is called once, on the event loop's thread, when the function has really ended, which may be long after
        a cancelled caller left, or when it will never start. Raises what the function raises, and CallFailedError
        (OVERLOADED) where no thread came free in time.
        """
        try:
            await self._places.take(deadline)
        except BaseException:
            on_end()
            raise
        loop = asyncio.get_running_loop()
        work = _Work(function, loop.create_future(), on_end, loop)
        self._busy += 1
        self._start(work)
        try:
            ended = await work.done
        except asyncio.CancelledError:
            self._abandon(work)
            raise
        if ended.error is not None:
            raise ended.error
        return ended.value

    def stop(self) -> None:
        """Let idle threads end; those that still run end after their function."""
        for _ in range(self._threads):
            self._queue.put(None)

    def _start(self, work: _Work) -> None:
        if self._idle:
            self._idle -= 1
        else:
            self._threads += 1
            threading.Thread(target=self._work_off, name=f"skill-{self._threads}", daemon=True).start()
        self._queue.put(work)

    def _abandon(self, work: _Work) -> None:
        if work.done.done() and not work.done.cancelled():
            return  # it ended in the same moment
        work.abandoned = True
        self._abandoned += 1
        self._resize()
        self._places.give_back()

    def _resize(self) -> None:
        self._places.resize(min(self._number, (1 + _ABANDONED_PER_THREAD) * self._number - self._abandoned))

    def _work_off(self) -> None:
        while (work := self._queue.get()) is not None:
            ended = _ended(work)
            try:
                work.loop.call_soon_threadsafe(self._settle, work, ended)
            except RuntimeError:  # the loop is closed: the process is ending
                return

    def _settle(self, work: _Work, ended: _Ended) -> None:
        self._busy -= 1
        self._idle += 1
        if work.abandoned:
            self._abandoned -= 1
            if ended.error is not None:
                _logger.warning("A sync skill whose caller had left ended with an error.", exc_info=ended.error)
        if not work.done.done():
            work.done.set_result(ended)
        if work.abandoned:
            self._resize()
        else:
            self._places.give_back()
        work.on_end()
        if not self._busy:
            self._on_quiet()


def _ended(work: _Work) -> _Ended:
    try:
        return _Ended(work.context.run(work.function), None)
    except BaseException as error:  # noqa: BLE001  # carried to the caller, who decides
        return _Ended(None, error)
