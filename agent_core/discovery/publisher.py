"""Swaps snapshots: bursts become one, quiet becomes at once, and every step of a version is told."""

import asyncio
import time
from collections.abc import Callable
from typing import Final

from agent_core.discovery.assemble import Content
from agent_core.discovery.names import changes
from agent_core.domain.events import CatalogueChanged, ServiceQuarantined
from agent_core.domain.ports import Emit
from agent_core.domain.skill import Catalogue
from agent_core.telemetry.instruments import catalogue_skills

_GAP_SECONDS: Final = 0.02
_MAX_GAP_SECONDS: Final = 0.2
_SHARE: Final = 10  # assembling takes at most about a tenth of the time


class Publisher:
    """Holds the catalogue of now; `build` makes its content, `state` says since when stale, and whether ready."""

    def __init__(
        self, build: Callable[[], Content], state: Callable[[], tuple[float | None, bool]], emit: Emit
    ) -> None:
        self._build, self._state, self._emit = build, state, emit
        self._content = Content()
        self._timer: asyncio.TimerHandle | None = None
        self._next = 0.0
        self._changed = asyncio.Event()
        self.catalogue = Catalogue()

    def touch(self) -> None:
        """Something may have changed: publish soon, at once where the last time is long ago."""
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(max(loop.time(), self._next), self.publish)

    def publish(self) -> None:
        """Publish now, if anything changed."""
        self.cancel()
        started = time.perf_counter()
        content = self._build()
        stale_since, ready = self._state()
        old, catalogue = self._content, self.catalogue
        if content.same_as(old):
            content = old
        gap = 0.0  # a build that shows nothing new, such as of a service not described yet, holds nobody up
        if content is not old or (stale_since, ready) != (catalogue.stale_since, catalogue.ready):
            self._swap(content, stale_since, ready=ready)
            gap = _GAP_SECONDS
        spent = time.perf_counter() - started
        self._next = asyncio.get_running_loop().time() + min(max(gap, spent * _SHARE), _MAX_GAP_SECONDS)

    def cancel(self) -> None:
        """Publish nothing that is not asked for anew."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def after(self, version: int) -> Catalogue:
        """Wait for a catalogue of a later version."""
        while self.catalogue.version <= version:
            await self._changed.wait()
        return self.catalogue

    def _swap(self, content: Content, stale_since: float | None, *, ready: bool) -> None:
        old, self._content = self._content, content
        self.catalogue = Catalogue(
            skills=content.skills,
            instances=content.instances,
            problems=content.problems,
            version=self.catalogue.version + 1,
            stale_since=stale_since,
            ready=ready,
        )
        woken, self._changed = self._changed, asyncio.Event()
        woken.set()
        if content is old:
            return
        catalogue_skills.set(len(content.skills))
        for event in changes(old.naming, content.naming):
            self._emit(event)
        known = set(old.problems)
        for problem in content.problems:
            if problem not in known:
                self._emit(ServiceQuarantined(service=problem.service, message=problem.sentence))
        instances = sum(len(group) for group in content.instances.values())
        self._emit(CatalogueChanged(version=self.catalogue.version, skills=len(content.skills), instances=instances))
