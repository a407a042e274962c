"""The registry as a whole: its stores, its checks, its waiting queries, and the clock that drives them."""

import asyncio
import uuid
from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import Final

from agent_core.dev.registry.blocking import Waiters
from agent_core.dev.registry.checks import CheckRunner, Probe
from agent_core.dev.registry.kv import KeyValues
from agent_core.dev.registry.ledger import Ledger
from agent_core.dev.registry.sessions import Sessions
from agent_core.dev.registry.state import Node, State

_IDLE_SECONDS: Final = 60.0


class Registry:
    """Everything that one development registry holds; `run` keeps its time."""

    def __init__(self, probe: Probe, *, host: str = "127.0.0.1", clock: Callable[[], float] = monotonic) -> None:
        ledger = Ledger()
        self.state = State(ledger, Node(id=str(uuid.uuid4()), name="skillmesh-dev", address=host, port=0))
        self.keys = KeyValues(ledger, clock)
        self.sessions = Sessions(self.state, self.keys, clock)
        self.checks = CheckRunner(self.state, probe, clock)
        self.waiters = Waiters(ledger)
        self._clock = clock
        self._earlier = asyncio.Event()
        for deadlines in (self.checks.expiries, self.checks.removals, self.sessions.expiries):
            deadlines.on_earlier = self._earlier.set

    def listens_on(self, port: int) -> None:
        """Make known which port was bound."""
        self.state.node = replace(self.state.node, port=port)

    async def run(self) -> None:
        """Do what falls due, when it does, until cancelled."""
        while True:
            self._earlier.clear()
            now = self._clock()
            self.checks.enforce(now)
            self.sessions.enforce(now)
            nexts = (
                deadlines.next() for deadlines in (self.checks.expiries, self.checks.removals, self.sessions.expiries)
            )
            pause = min((at - now for at in nexts if at is not None), default=_IDLE_SECONDS)
            try:
                async with asyncio.timeout(max(0.0, pause)):
                    await self._earlier.wait()
            except TimeoutError:
                continue

    async def stop(self) -> None:
        """Answer all that waits and end the probes."""
        self.waiters.close()
        await self.checks.stop()
