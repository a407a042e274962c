"""Keeps checks running: TTLs run out, gRPC health is asked, critical services are taken out in the end."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

from agent_core.dev.registry.deadlines import Deadlines
from agent_core.dev.registry.entries import Check, CheckDefinition, Status
from agent_core.dev.registry.refusals import RefusedError
from agent_core.dev.registry.state import State

MAX_PROBES_AT_ONCE: Final = 32
_PROBE_MARGIN_SECONDS: Final = 1.0

Clock = Callable[[], float]


class Probe(Protocol):
    """Asks a gRPC health service; answers whether it serves and a sentence. Bounded by `timeout` seconds."""

    def __call__(self, target: str, service: str, *, timeout: float, tls: bool) -> Awaitable[tuple[bool, str]]: ...


class CheckRunner:
    """Runs the checks of a State. `enforce` does what is due by time; `probes` lists what must be asked."""

    def __init__(self, state: State, probe: Probe, clock: Clock) -> None:
        self._state = state
        self._probe = probe
        self._clock = clock
        self._definitions: dict[str, CheckDefinition] = {}
        self._probes: dict[str, asyncio.Task[None]] = {}
        self._slots = asyncio.Semaphore(MAX_PROBES_AT_ONCE)
        self.expiries: Deadlines[str] = Deadlines()
        self.removals: Deadlines[str] = Deadlines()
        state.watchers.append(self._heard)

    def watch(self, definition: CheckDefinition) -> None:
        """Run a check that the state holds, in place of what ran under its id."""
        same = self._definitions.get(definition.id) == definition
        self._definitions[definition.id] = definition
        check = self._state.checks[definition.id]
        self._time_removal(check)
        if definition.grpc:
            if not same:
                self._stop_probe(definition.id)
                self._probes[definition.id] = asyncio.create_task(self._probe_for_ever(definition))
        elif not same or definition.id not in self.expiries:
            self._stop_probe(definition.id)
            self.expiries.set(definition.id, self._clock() + definition.ttl)

    def heartbeat(self, check_id: str, status: Status, output: str) -> None:
        """A TTL check's sign of life, of whatever status. Raises RefusedError."""
        definition = self._definitions.get(check_id)
        if definition is None:
            raise RefusedError(
                404, f'Unknown check ID "{check_id}". Ensure that the check ID is passed, not the check name.'
            )
        if definition.grpc:
            raise RefusedError(500, f'CheckID "{check_id}" does not have associated TTL')
        self.expiries.set(check_id, self._clock() + definition.ttl)
        self._state.set_status(check_id, status, output)

    def enforce(self, now: float) -> None:
        """Let TTLs run out and remove services that were critical for too long."""
        for check_id in self.expiries.due(now):
            check = self._state.checks[check_id]
            follows = f" (last output before timeout follows): {check.output}" if check.output else ""
            self._state.set_status(check_id, Status.CRITICAL, f"TTL expired{follows}")
        for check_id in self.removals.due(now):
            if (critical := self._state.checks.get(check_id)) is not None:
                self._state.deregister(critical.service_id)

    async def stop(self) -> None:
        probes = list(self._probes.values())
        for check_id in list(self._probes):
            self._stop_probe(check_id)
        await asyncio.gather(*probes, return_exceptions=True)

    def _heard(self, check_id: str, check: Check | None) -> None:
        if check is not None:
            self._time_removal(check)
            return
        self._definitions.pop(check_id, None)
        self.expiries.discard(check_id)
        self.removals.discard(check_id)
        self._stop_probe(check_id)

    def _time_removal(self, check: Check) -> None:
        definition = self._definitions.get(check.id)
        if definition is None or not definition.deregister_after or check.status is not Status.CRITICAL:
            self.removals.discard(check.id)
        elif check.id not in self.removals:
            self.removals.set(check.id, self._clock() + definition.deregister_after)

    def _stop_probe(self, check_id: str) -> None:
        if (task := self._probes.pop(check_id, None)) is not None:
            task.cancel()

    async def _probe_for_ever(self, definition: CheckDefinition) -> None:
        target, _, service = definition.grpc.partition("/")
        while True:
            started = self._clock()
            async with self._slots:
                serving, output = await self._ask(definition, target, service)
            status = Status.PASSING if serving else Status.CRITICAL
            self._state.set_status(definition.id, status, f"gRPC check {definition.grpc}: {output}")
            await asyncio.sleep(max(0.0, started + definition.interval - self._clock()))

    async def _ask(self, definition: CheckDefinition, target: str, service: str) -> tuple[bool, str]:
        try:
            async with asyncio.timeout(definition.timeout + _PROBE_MARGIN_SECONDS):
                return await self._probe(target, service, timeout=definition.timeout, tls=definition.tls)
        except TimeoutError:
            return False, f"no answer within {definition.timeout:g} s"
        except Exception as error:  # noqa: BLE001 - whatever a probe raises is what the check found
            return False, f"{type(error).__name__}: {error}"
