"""What must hold before a skill can work, evaluated at start and again while the service runs."""

import asyncio
import inspect
import logging
import os
import threading
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from skill_services.sdk.errors import SkillDefinitionError

_logger = logging.getLogger("skillmesh.sdk")
_DEFAULT_TIMEOUT_SECONDS: Final = 1.0
_MAX_REASON_CHARS: Final = 500
_UNKNOWN: Final = "It has not been evaluated yet."

Verdict = bool | str | None
Check = Callable[[], Verdict | Awaitable[Verdict]]


@dataclass(frozen=True, slots=True, eq=False)
class Prerequisite:
    """Made by `env_set`, `reachable` and `check`; one that several skills share is evaluated once."""

    name: str
    check: Check
    timeout: float = _DEFAULT_TIMEOUT_SECONDS


def env_set(variable: str) -> Prerequisite:
    """The environment variable is set and not empty."""

    async def look() -> Verdict:
        return None if os.environ.get(variable) else f"Set the environment variable {variable}."

    return Prerequisite(f"env:{variable}", look)


def reachable(host: str, port: int, *, timeout: float = _DEFAULT_TIMEOUT_SECONDS) -> Prerequisite:
    """Something accepts TCP connections there within `timeout` seconds."""

    async def connect() -> Verdict:
        try:
            _reader, writer = await asyncio.open_connection(host, port)
        except OSError as error:
            problem = error.strerror or type(error).__name__
            return f"Nothing answers at {host}:{port} ({problem}); start it or correct the address."
        writer.close()
        return None

    return Prerequisite(f"tcp:{host}:{port}", connect, timeout)


def check(name: str, function: Check, *, timeout: float = _DEFAULT_TIMEOUT_SECONDS) -> Prerequisite:
    """Whatever `function` finds out, sync or async, within `timeout` seconds.

    It returns None or True where all is well, else False or, better, a sentence on what is missing and what to do.
    An exception counts as unmet. A sync function runs in a thread of its own.
    """
    if not name or not timeout > 0:
        raise SkillDefinitionError("check(name, function) needs a name, and a timeout above 0 seconds.")
    return Prerequisite(name, function, timeout)


class PrerequisiteWatch:
    """The state of a service's prerequisites. An empty reason is a met one."""

    def __init__(self, prerequisites: Iterable[Prerequisite]) -> None:
        self._reasons: dict[Prerequisite, str] = dict.fromkeys(prerequisites, _UNKNOWN)
        self._unanswered: set[Prerequisite] = set()

    def reason(self, prerequisite: Prerequisite) -> str:
        """Why it is unmet; empty where it is met."""
        return self._reasons[prerequisite]

    async def evaluate(self) -> bool:
        """Evaluate all at once, each within its own timeout; True where any went from met to unmet or back."""
        known = list(self._reasons)
        before = [bool(reason) for reason in self._reasons.values()]
        reasons = await asyncio.gather(*(self._evaluate(prerequisite) for prerequisite in known))
        self._reasons = dict(zip(known, reasons, strict=True))
        return before != [bool(reason) for reason in reasons]

    async def keep(self, interval: float, changed: Callable[[], None]) -> None:
        """Evaluate again every `interval` seconds, for ever."""
        while self._reasons:
            await asyncio.sleep(interval)
            if await self.evaluate():
                for prerequisite, reason in self._reasons.items():
                    _logger.info("Prerequisite %s is %s.", prerequisite.name, f"unmet: {reason}" if reason else "met")
                changed()

    async def _evaluate(self, prerequisite: Prerequisite) -> str:
        if prerequisite in self._unanswered:
            return f"The check {prerequisite.name!r} has still not returned."
        try:
            async with asyncio.timeout(prerequisite.timeout):
                verdict = await self._verdict(prerequisite)
        except TimeoutError:
            return f"The check {prerequisite.name!r} gave no answer within {prerequisite.timeout:g} s."
        except (Exception, SystemExit) as error:
            _logger.warning("Prerequisite %s failed.", prerequisite.name, exc_info=error)
            return f"The check {prerequisite.name!r} failed with {type(error).__name__}; the service's log says more."
        if verdict is None or verdict is True or verdict == "":
            return ""
        return verdict[:_MAX_REASON_CHARS] if isinstance(verdict, str) else f"The check {prerequisite.name!r} says no."

    async def _verdict(self, prerequisite: Prerequisite) -> Verdict:
        is_async = inspect.iscoroutinefunction(prerequisite.check)
        answer = prerequisite.check() if is_async else await self._in_thread(prerequisite)
        return await answer if inspect.isawaitable(answer) else answer

    async def _in_thread(self, prerequisite: Prerequisite) -> Verdict | Awaitable[Verdict]:
        """A thread of its own: a check that hangs takes no worker from the skills, and is not started twice."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Verdict | Awaitable[Verdict]] = loop.create_future()

        def settle(answer: Verdict | Awaitable[Verdict], error: BaseException | None) -> None:
            self._unanswered.discard(prerequisite)
            if done.done():
                return
            if error is not None:
                done.set_exception(error)
            else:
                done.set_result(answer)

        def work() -> None:
            answer: Verdict | Awaitable[Verdict] = None
            failure: BaseException | None = None
            try:
                answer = prerequisite.check()
            except StopIteration as error:  # a future cannot carry it
                failure = RuntimeError(f"StopIteration: {error}")
            except BaseException as error:  # noqa: BLE001  # handed to the loop, where it becomes the reason
                failure = error if isinstance(error, Exception) else RuntimeError(type(error).__name__)
            with suppress(RuntimeError):  # the loop is closed: the process is ending
                loop.call_soon_threadsafe(settle, answer, failure)

        self._unanswered.add(prerequisite)
        threading.Thread(target=work, name=f"check {prerequisite.name}", daemon=True).start()
        return await done
