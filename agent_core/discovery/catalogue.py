"""The live catalogue out of Consul: watches in the background, immutable snapshots in front."""

import asyncio
import time
from random import Random
from typing import Final

from agent_core.discovery.assemble import Content, assemble
from agent_core.discovery.client import ConsulClient, DeniedError
from agent_core.discovery.describe import Describer
from agent_core.discovery.instances import read_instances
from agent_core.discovery.link import Link
from agent_core.discovery.offers import ServiceOffer, offer_of
from agent_core.discovery.publisher import Publisher
from agent_core.discovery.settings import DiscoverySettings, parse_address
from agent_core.discovery.view import MeshView
from agent_core.discovery.watch import MeshWatch
from agent_core.domain.errors import RegistryError
from agent_core.domain.ports import Clock, Describe, Emit
from agent_core.domain.skill import Catalogue, Problem

_STOP_SECONDS: Final = 2.0


class ConsulCatalogue:
    """A CatalogueSource. `start` it in a running event loop, `wait_ready`, and `stop` it in the end.

    While Consul is away the last catalogue keeps serving, with `stale_since` set. Raises ConfigError for an address
    that is none.
    """

    def __init__(
        self,
        settings: DiscoverySettings,
        describe: Describe,
        emit: Emit,
        *,
        clock: Clock = time.monotonic,
        random: Random | None = None,
    ) -> None:
        self._settings, self._clock = settings, clock
        self._random = random if random is not None else Random()  # noqa: S311  # jitter, no secret
        self._url = parse_address(settings.address).url
        self._link = Link(emit, clock)
        self._view = MeshView(settings.keep)
        self._describer = Describer(describe, self._service_changed, self._random)
        self._publisher = Publisher(self._build, lambda: (self._link.stale_since, self._ready.is_set()), emit)
        self._offers: dict[str, ServiceOffer] = {}
        self._dirty: set[str] = set()
        self._ready = asyncio.Event()
        self._heard = False
        self._settle: asyncio.TimerHandle | None = None
        self._doubt: asyncio.TimerHandle | None = None
        self._client: ConsulClient | None = None
        self._watch: MeshWatch | None = None

    @property
    def catalogue(self) -> Catalogue:
        return self._publisher.catalogue

    @property
    def registry_error(self) -> str:
        """Why Consul does not answer; empty while it does, or has not been asked."""
        return self._link.error

    async def start(self) -> None:
        """Begin to watch; returns at once, whether Consul is there or not."""
        self._client = ConsulClient(self._settings)
        self._watch = MeshWatch(self._client, self._settings, self, self._link, self._clock, self._random)
        self._watch.start()

    async def stop(self) -> None:
        """End all watching and close every connection, within a few seconds."""
        self._publisher.cancel()
        for timer in (self._settle, self._doubt):
            if timer is not None:
                timer.cancel()
        watch, self._watch = self._watch, None
        client, self._client = self._client, None
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                if watch is not None:
                    await watch.stop()
                await self._describer.stop()
        except TimeoutError:  # a describe that does not heed its cancellation; what is left dies with the loop
            pass
        finally:
            if client is not None:
                await client.close()

    async def wait_ready(self, timeout: float = 10.0) -> None:
        """Wait until Consul has answered and its services are described, or have had their chance.

        Raises RegistryError where Consul has not answered within `timeout` seconds.
        """
        try:
            async with asyncio.timeout(timeout):
                await self._ready.wait()
        except TimeoutError:
            silent = (
                f"Consul at {self._url} has not answered within {timeout:.0f} s: start it, or set CONSUL_HTTP_ADDR."
            )
            raise RegistryError(self._link.error or silent) from None

    async def changed(self, since: int) -> Catalogue:
        return await self._publisher.after(since)

    async def refresh(self, service: str) -> None:
        await self._describer.refresh(service)
        self._publisher.publish()

    # What the watches tell (Listener)

    def registry_found(self) -> None:
        if self._link.found():
            self._view.renew(self._clock())
            self._publisher.touch()

    def registry_lost(self, error: RegistryError) -> None:
        if self._link.lost(error):
            self._publisher.touch()

    def services_heard(self, names: frozenset[str], unusable: tuple[str, ...], *, fresh: bool) -> None:
        self._forget(self._view.hear(names, fresh=fresh, now=self._clock()))
        self._view.unusable = unusable
        if self._watch is not None:
            self._watch.follow(self._view.services)
        if not self._heard:
            self._heard = True
            self._settle = asyncio.get_running_loop().call_later(self._settings.settle, self._become_ready)
        self._publisher.touch()

    def instances_heard(self, service: str, body: object, *, fresh: bool) -> None:
        view = self._view.services.get(service)
        if view is None:
            return
        reading = read_instances(service, body, include_warning=self._settings.include_warning)
        view.hear(service, reading, fresh=fresh, now=self._clock())
        self._describer.follow(service, view.instances)
        self._service_changed(service)

    def instances_failed(self, service: str, error: RegistryError) -> None:
        view = self._view.services.get(service)
        if view is not None and self._link.is_up:
            view.fail(f"{service}: {error}", sure=isinstance(error, DeniedError))
            self._service_changed(service)

    # What follows from it

    def _service_changed(self, service: str) -> None:
        self._dirty.add(service)
        self._publisher.touch()

    def _settled(self) -> bool:
        return self._view.answered and all(self._describer.tried(service) for service in self._view.services)

    def _become_ready(self) -> None:
        self._ready.set()
        self._publisher.touch()

    def _forget(self, services: frozenset[str]) -> None:
        for service in services:
            self._describer.follow(service, ())
            self._offers.pop(service, None)
            self._dirty.discard(service)

    def _watch_doubt(self) -> None:
        deadline = self._view.deadline
        if self._doubt is not None:
            self._doubt.cancel()
            self._doubt = None
        if deadline is not None and self._link.is_up:
            delay = max(0.0, deadline - self._clock())
            self._doubt = asyncio.get_running_loop().call_later(delay, self._end_doubt)

    def _end_doubt(self) -> None:
        self._doubt = None
        if not self._link.is_up:  # nobody can vouch for anything now; the next answer opens the doubt anew
            return
        gone, changed = self._view.expire(self._clock())
        self._forget(gone)
        if gone and self._watch is not None:
            self._watch.follow(self._view.services)
        for service in changed:
            self._describer.follow(service, self._view.services[service].instances)
            self._dirty.add(service)
        self._publisher.touch()

    def _build(self) -> Content:
        for service in self._dirty:
            view = self._view.services.get(service)
            if view is not None:
                problems = (*view.problems, *self._describer.problems(service))
                self._offers[service] = offer_of(service, view.instances, self._describer.of, problems)
        self._dirty.clear()
        if self._heard and not self._ready.is_set() and self._settled():
            self._ready.set()
        self._watch_doubt()
        unusable = tuple(Problem("", sentence) for sentence in self._view.unusable)
        return assemble(self._offers.values(), unusable)
