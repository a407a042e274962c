"""The long polls: one for the list of services, one for each service in use, one for what is beyond the limit."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from random import Random
from typing import Final

from agent_core.discovery.blocking import Ask, BlockingQuery
from agent_core.discovery.client import Answer, ConsulClient, UnreachableError
from agent_core.discovery.link import Link
from agent_core.discovery.listener import Listener
from agent_core.discovery.overflow import OverflowWatch
from agent_core.discovery.pace import Backoff, TokenBucket
from agent_core.discovery.questions import ask_instances, ask_services, read_services
from agent_core.discovery.settings import DiscoverySettings
from agent_core.domain.errors import RegistryError
from agent_core.domain.ports import Clock

_log = logging.getLogger(__name__)

_RESTART_SECONDS: Final = 1.0


class MeshWatch:
    """Follows Consul until stopped, whatever it answers."""

    def __init__(
        self,
        client: ConsulClient,
        settings: DiscoverySettings,
        listener: Listener,
        link: Link,
        clock: Clock,
        random: Random,
    ) -> None:
        self._client, self._settings, self._listener, self._link = client, settings, listener, link
        self._clock, self._random = clock, random
        self._overflow = OverflowWatch(client, listener, link, settings.retry)
        self._list: asyncio.Task[None] | None = None
        self._own: dict[str, asyncio.Task[None]] = {}
        self._shared: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._list = _supervised(self._follow_list, "watch services")

    async def stop(self) -> None:
        """Cancel all; the long polls are closed."""
        tasks = [task for task in (self._list, self._shared, *self._own.values()) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def follow(self, services: Iterable[str]) -> None:
        """Watch exactly these. The first to come have a long poll of their own; the rest share one."""
        wanted = set(services)
        for gone in self._own.keys() - wanted:
            self._own.pop(gone).cancel()
        for name in sorted(wanted - self._own.keys())[: self._settings.max_watches - len(self._own)]:
            self._own[name] = self._watch(name)
        rest = frozenset(wanted - self._own.keys())
        self._overflow.follow(rest)
        if rest and self._shared is None:
            self._shared = self._watch_shared()
        elif not rest and self._shared is not None:
            self._shared.cancel()
            self._shared = None

    def _restart(self) -> None:
        """After a break, ask anew: a long poll may hang on a connection whose other end is no more."""
        for service, task in list(self._own.items()):
            task.cancel()
            self._own[service] = self._watch(service)
        if self._shared is not None:
            self._shared.cancel()
            self._shared = self._watch_shared()

    async def _follow_list(self) -> None:
        async def ask(index: int, wait: float) -> Answer:
            return await ask_services(self._client, index, wait)

        # Its shorter wait makes this the poll that notices a Consul gone silent, and it alone knocks while one is away.
        query = BlockingQuery(ask, self._settings.heartbeat, self._pace(), epoch=lambda: self._link.epoch)
        await query.follow(self._list_heard, self._listener.registry_lost)

    def _list_heard(self, answer: Answer, fresh: bool) -> None:  # noqa: FBT001  # the shape of Heard
        self._listener.registry_found()
        if fresh:  # Consul was away, or another one answers now
            self._restart()
        names, unusable = read_services(answer.body, self._settings.tag)
        self._listener.services_heard(names, unusable, fresh=fresh)

    def _watch(self, service: str) -> asyncio.Task[None]:
        async def ask(index: int, wait: float) -> Answer:
            return await ask_instances(self._client, service, index, wait)

        def failed(error: RegistryError) -> None:
            if isinstance(error, UnreachableError):
                self._link.broke()
            self._listener.instances_failed(service, error)

        async def work() -> None:
            await self._query(ask).follow(
                lambda answer, fresh: self._listener.instances_heard(service, answer.body, fresh=fresh), failed
            )

        return _supervised(work, f"watch {service}")

    def _watch_shared(self) -> asyncio.Task[None]:
        return _supervised(lambda: self._overflow.run(self._query(self._client.checks)), "watch all checks")

    def _query(self, ask: Ask) -> BlockingQuery:
        gate, wait = self._link.wait_up, self._settings.wait
        return BlockingQuery(ask, wait, self._pace(), gate, lambda: self._link.epoch)

    def _pace(self) -> tuple[TokenBucket, Backoff]:
        return TokenBucket(self._clock), Backoff(self._random, first=self._settings.retry)


def _supervised(work: Callable[[], Awaitable[None]], name: str) -> asyncio.Task[None]:
    return asyncio.create_task(_forever(work, name), name=name)


async def _forever(work: Callable[[], Awaitable[None]], name: str) -> None:
    """Start `work` again where it ends by a mistake of ours: without its watch the catalogue would freeze unseen."""
    while True:
        try:
            await work()
        except Exception as error:  # noqa: BLE001  # whatever it is: logged whole, and watched on
            _log.error("%s failed and is started again", name, exc_info=error)
        await asyncio.sleep(_RESTART_SECONDS)
