"""Keeps one instance registered in Consul for as long as it serves; calls never wait for it."""

import asyncio
import logging
import random
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from skill_services.sdk.registry import Entry, RegistryError
from skillmesh.conventions import META_PID

_logger = logging.getLogger("skillmesh.sdk")
_ACL_ADVICE: Final = (
    "set CONSUL_HTTP_TOKEN to an ACL token with service:write and service:read for it, or check that the agent's own "
    "ACL token may write the catalogue"
)


class Registers(Protocol):
    """The part of Registry that keeping an entry needs; every method raises RegistryError and is bounded in time."""

    @property
    def url(self) -> str: ...

    async def register(self, entry: Entry) -> None: ...

    async def held(self, entry: Entry) -> Mapping[str, Any] | None: ...

    async def listed(self, entry: Entry) -> bool: ...

    async def beat(self, entry: Entry) -> bool: ...

    async def deregister(self, entry: Entry) -> None: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds: between looks at one's own entry, first and longest wait after a failure, waits for the catalogue."""

    look: float = 3.0
    first_retry: float = 1.0
    longest_retry: float = 5.0
    listing: tuple[float, ...] = (0.05, 0.2, 0.5, 1.0)


class Registration:
    """Registers `entry`, verifies it, looks after it, and takes it out at the end.

    An entry that is gone (the agent restarted, or lost its data) is put back. One that another process has put under
    the same id is left to it: two processes that took it from each other in turn would both be unreachable half the
    time.
    """

    def __init__(self, registry: Registers, entry: Entry, pace: Pace | None = None) -> None:
        self._registry = registry
        self._entry = entry
        self._pace = pace or Pace()
        self._task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._tried = False
        self._put = False
        self._registered = False
        self._taken = False
        self._problem = ""

    @property
    def problem(self) -> str:
        """Why the instance is not registered, as a sentence; empty where it is, or has not been tried yet."""
        return self._problem

    @property
    def registered(self) -> bool:
        return self._registered

    def start(self) -> None:
        """Begin in the background; a Consul that is away is no reason not to serve."""
        self._task = asyncio.create_task(self._keep(), name="skillmesh-registration")

    def update(self, fingerprint: str) -> None:
        """The skills have changed: tell Consul at once."""
        if fingerprint != self._entry.fingerprint:
            self._entry = replace(self._entry, fingerprint=fingerprint)
            self._changed.set()

    async def leave(self, seconds: float) -> None:
        """Take the entry out of Consul; gives up after `seconds`, and Consul then does it by the failing check."""
        if self._task is None:
            return
        self._task.cancel()
        await asyncio.wait((self._task,))
        try:
            async with asyncio.timeout(seconds):
                if self._tried and not self._taken:
                    await self._registry.deregister(self._entry)
                    _logger.info("Left Consul as %s.", self._entry.instance)
        except (RegistryError, TimeoutError) as error:
            said = str(error) or f"Consul at {self._registry.url} did not answer within {seconds:g} s."
            level = logging.WARNING if self._put else logging.DEBUG
            _logger.log(level, "Leaving Consul failed: %s %s stays there until its check fails.", said, self._name)
        with suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                await self._registry.close()

    @property
    def _name(self) -> str:
        return self._entry.instance

    async def _keep(self) -> None:
        failures = 0
        while True:
            try:
                await self._look()
                failures = 0
                wait = self._entry.interval if self._entry.ttl else self._pace.look
            except Exception as error:  # noqa: BLE001  # an answer of any odd shape must not end the upkeep
                unexpected = f"Consul at {self._registry.url} gave an answer of an odd shape ({type(error).__name__})."
                self._say(str(error) if isinstance(error, RegistryError) else unexpected)
                wait = min(self._pace.longest_retry, self._pace.first_retry * 2.0 ** min(failures, 10))
                failures += 1
            with suppress(TimeoutError):
                async with asyncio.timeout(wait * random.uniform(1.0, 1.2)):  # noqa: S311  # jitter, no secret
                    await self._changed.wait()

    async def _look(self) -> None:
        """One round: see that the entry is as it should be, and put it where it is not."""
        self._changed.clear()
        entry = self._entry
        if self._tried and await self._stands(entry):
            return
        self._tried = True  # from here on it may be there, whatever becomes of the answer
        await self._registry.register(entry)
        self._put = True
        await self._verify(entry)

    async def _stands(self, entry: Entry) -> bool:
        """Whether there is nothing to put: the entry is there, or another process holds its id."""
        beaten = not entry.ttl or self._taken or await self._registry.beat(entry)
        found = await self._registry.held(entry)
        if found is None:
            if self._registered:
                _logger.warning("Consul has lost the entry of %s; registering it again.", entry.instance)
            self._registered = False
            return False
        if not entry.owns(found):
            self._yield_to(found)
            return True
        if not beaten or not entry.current(found):
            return False
        if not self._registered:
            await self._verify(entry)
        return True

    async def _verify(self, entry: Entry) -> None:
        """Accepted is not yet listed: a token without rights may give no error at this point."""
        where = "" if await self._registry.held(entry) else "the agent does not show it"
        if not where and not await self._is_listed(entry):
            where = "the catalogue does not list it"
        if where:
            raise RegistryError(
                f"Consul at {self._registry.url} accepted the registration of {self._name}, but {where}: {_ACL_ADVICE}."
            )
        if not self._registered:
            _logger.info("Registered in Consul at %s as %s.", self._registry.url, self._name)
        self._registered, self._taken, self._problem = True, False, ""

    async def _is_listed(self, entry: Entry) -> bool:
        for wait in self._pace.listing:
            if await self._registry.listed(entry):
                return True
            await asyncio.sleep(wait)
        return False

    def _yield_to(self, found: Mapping[str, Any]) -> None:
        self._taken, self._registered = True, False
        meta = found.get("Meta") or {}
        other = f"{found.get('Address')}:{found.get('Port')}, process {meta.get(META_PID, 'unknown')}"
        self._say(
            f"Another process ({other}) has registered as {self._name}: give each its own SKILLMESH_INSTANCE_ID. "
            "This one stays unregistered until that entry is gone."
        )

    def _say(self, problem: str) -> None:
        """Log a problem once, not at every round."""
        if problem != self._problem:
            _logger.warning("%s", problem)
        self._problem, self._registered = problem, False
