"""Running one coroutine as a command: the fastest event loop that installs, and Ctrl-C as cancellation."""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run to the end; SIGTERM ends it as Ctrl-C does. Raises KeyboardInterrupt where either came."""
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(_with_sigterm(main))


async def until_interrupted() -> None:
    """Wait for Ctrl-C or SIGTERM where that is the way to end; they arrive as a cancellation, which ends here."""
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()


async def _with_sigterm(main: Coroutine[Any, Any, T]) -> T:
    task = asyncio.current_task()
    if task is None:
        raise AssertionError
    terminated = False

    def terminate() -> None:
        nonlocal terminated
        terminated = True
        task.cancel()

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, terminate)
    try:
        return await main
    except asyncio.CancelledError:
        if terminated:
            raise KeyboardInterrupt from None
        raise


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:  # a platform that it does not support
        return None
    return uvloop.new_event_loop
