"""Services beyond the number of long polls: one long poll over all checks tells which to ask about again.

It sees every check that changes, comes or goes. What it cannot see (an instance without checks, changed metadata)
is found by asking about all of them in turn, every RESYNC_SECONDS.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Final

from agent_core.discovery.blocking import BlockingQuery
from agent_core.discovery.client import Answer, ConsulClient
from agent_core.discovery.link import Link
from agent_core.discovery.listener import Listener
from agent_core.discovery.questions import ask_instances
from agent_core.domain.errors import RegistryError

RESYNC_SECONDS: Final = 30.0
_TOGETHER: Final = 8

Marks = Mapping[str, frozenset[tuple[str, str, str]]]


class OverflowWatch:
    """`run` may be cancelled and run again; it then asks about all services anew. `retry`: seconds after a failure."""

    def __init__(self, client: ConsulClient, listener: Listener, link: Link, retry: float) -> None:
        self._client, self._listener, self._link, self._retry = client, listener, link, retry
        self._services: frozenset[str] = frozenset()
        self._pending: dict[str, None] = {}  # ordered: who waits longest is asked about first
        self._unheard: set[str] = set()
        self._marks: Marks = {}
        self._wake = asyncio.Event()

    def follow(self, services: frozenset[str]) -> None:
        """Watch exactly these."""
        new = services - self._services
        self._services = services
        self._unheard = (self._unheard & services) | new
        self._enqueue(new)

    async def run(self, query: BlockingQuery) -> None:
        """Until cancelled; `query` asks for all checks."""
        self._marks = {}
        self._unheard = set(self._services)
        self._enqueue(self._services)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(query.follow(self._checks_heard, self._checks_failed))
            tasks.create_task(self._ask_in_turn())

    def _checks_heard(self, answer: Answer, fresh: bool) -> None:  # noqa: FBT001  # the shape of Heard
        marks = read_marks(answer.body)
        if fresh:
            self._unheard |= self._services
        if fresh or marks.get("") != self._marks.get(""):
            self._enqueue(self._services)
        else:
            self._enqueue(name for name in self._services if marks.get(name) != self._marks.get(name))
        self._marks = marks

    def _checks_failed(self, error: RegistryError) -> None:
        for service in self._services:
            self._listener.instances_failed(service, error)

    def _enqueue(self, services: Iterable[str]) -> None:
        self._pending.update(dict.fromkeys(sorted(services)))
        self._wake.set()

    async def _ask_in_turn(self) -> None:
        loop = asyncio.get_running_loop()
        resync = loop.time() + RESYNC_SECONDS
        while True:
            await self._link.wait_up()
            batch = list(self._pending)[:_TOGETHER]
            for service in batch:
                del self._pending[service]
            if batch:
                outcomes = await asyncio.gather(*(self._ask(s) for s in batch if s in self._services))
                if not all(outcomes):
                    await asyncio.sleep(self._retry)
                continue
            self._wake.clear()
            try:
                async with asyncio.timeout_at(resync):
                    await self._wake.wait()
            except TimeoutError:
                resync = loop.time() + RESYNC_SECONDS
                self._enqueue(self._services)

    async def _ask(self, service: str) -> bool:
        try:
            answer = await ask_instances(self._client, service, 0, 0.0)
        except RegistryError as error:
            self._listener.instances_failed(service, error)
            self._pending[service] = None
            return False
        if service in self._services:
            self._listener.instances_heard(service, answer.body, fresh=service in self._unheard)
            self._unheard.discard(service)
        return True


def read_marks(body: object) -> Marks:
    """What of all checks would change an instance list: by service (`""`: the nodes' own), node, check and state."""
    marks: dict[str, set[tuple[str, str, str]]] = {}
    for check in body if isinstance(body, list) else ():
        if isinstance(check, Mapping):
            mark = (str(check.get("Node")), str(check.get("CheckID")), str(check.get("Status")))
            marks.setdefault(str(check.get("ServiceName") or ""), set()).add(mark)
    return {service: frozenset(found) for service, found in marks.items()}
