"""What the instances of a service say of themselves: asked once per fingerprint, or once per instance without one."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable
from random import Random
from typing import Final

from agent_core.discovery.pace import Backoff
from agent_core.domain.errors import CallError
from agent_core.domain.ports import Describe, Description
from agent_core.domain.skill import Instance

_log = logging.getLogger(__name__)

PARALLEL: Final = 16
_LIMIT_SECONDS: Final = 10.0
_FIRST_RETRY_SECONDS: Final = 0.2
_LAST_RETRY_SECONDS: Final = 30.0
_TRIES_A_ROUND: Final = 3
_REMEMBERED: Final = 1_024
_MAX_CHARS: Final = 300

Key = tuple[str, ...]


class _Subject:
    """One thing to describe, and the instances that can."""

    def __init__(self) -> None:
        self.instances: tuple[Instance, ...] = ()
        self.description: Description | None = None
        self.error = ""
        self.joined = asyncio.Event()
        self.task: asyncio.Task[None] | None = None


class _Refresh:
    """One round of asking all of a service's instances anew. `begun`: what comes from here on may be missed by it."""

    def __init__(self, task: asyncio.Task[None]) -> None:
        self.task = task
        self.begun = False


class Describer:
    """Keeps a description for each fingerprint in use; `changed` is told the service of each that is new."""

    def __init__(self, describe: Describe, changed: Callable[[str], None], random: Random) -> None:
        self._describe, self._changed, self._random = describe, changed, random
        self._slots = asyncio.Semaphore(PARALLEL)
        self._subjects: dict[str, dict[Key, _Subject]] = {}
        self._remembered: OrderedDict[Key, Description] = OrderedDict()
        self._renewed: dict[str, dict[Instance, Description]] = {}
        self._refreshes: dict[str, _Refresh] = {}
        self._rounds: set[asyncio.Task[None]] = set()

    def of(self, instance: Instance) -> Description | None:
        """The instance's description; None until there is one."""
        renewed = self._renewed.get(instance.service, {}).get(instance)
        if renewed is not None:
            return renewed
        subject = self._subjects.get(instance.service, {}).get(_key(instance))
        return subject.description if subject is not None else None

    def problems(self, service: str) -> tuple[str, ...]:
        """A sentence for each of the service's subjects that could not be described."""
        return tuple(s.error for s in self._subjects.get(service, {}).values() if s.error)

    def tried(self, service: str) -> bool:
        """Whether each of the service's subjects is described or has failed at least once."""
        return all(s.description is not None or s.error for s in self._subjects.get(service, {}).values())

    def follow(self, service: str, instances: Iterable[Instance]) -> None:
        """These are the service's instances now: describe what is new, forget what has gone."""
        grouped: dict[Key, list[Instance]] = {}
        for instance in instances:
            grouped.setdefault(_key(instance), []).append(instance)
        subjects = self._subjects.setdefault(service, {})
        for key in [key for key in subjects if key not in grouped]:
            self._drop(key, subjects.pop(key))
        for key, group in grouped.items():
            subject = subjects.get(key)
            if subject is None:
                subject = subjects[key] = _Subject()
                subject.description = self._remembered.pop(key, None)
            subject.instances = tuple(group)
            subject.joined.set()
            if subject.description is None and subject.task is None:
                subject.task = asyncio.create_task(self._until_described(service, subject), name=f"describe {service}")
        present = {instance for group in grouped.values() for instance in group}
        renewed = self._renewed.get(service, {})
        for gone in renewed.keys() - present:
            del renewed[gone]
        if not subjects:
            self._subjects.pop(service)
            self._renewed.pop(service, None)

    async def refresh(self, service: str) -> None:
        """Ask every instance of the service anew; those that do not answer keep what they had.

        Who comes while it runs waits for one more, which all who come meanwhile share: an instance may have changed
        just after it was asked.
        """
        refresh = self._refreshes.get(service)
        if refresh is None or refresh.begun:
            earlier = refresh.task if refresh is not None else None
            refresh = self._refreshes[service] = _Refresh(
                asyncio.create_task(self._renew_after(earlier, service), name=f"refresh {service}")
            )
            self._rounds.add(refresh.task)
            refresh.task.add_done_callback(self._rounds.discard)
        await asyncio.wait((refresh.task,))  # leaves the task to the others where this caller is cancelled

    async def stop(self) -> None:
        """End every question that is still open."""
        subjects = [s for group in self._subjects.values() for s in group.values()]
        tasks = [*(s.task for s in subjects if s.task is not None), *self._rounds]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._subjects.clear()
        self._renewed.clear()

    async def _until_described(self, service: str, subject: _Subject) -> None:
        backoff = Backoff(self._random, first=_FIRST_RETRY_SECONDS, most=_LAST_RETRY_SECONDS)
        while True:
            subject.joined.clear()
            among = list(subject.instances)
            for instance in self._random.sample(among, min(_TRIES_A_ROUND, len(among))):
                outcome = await self._ask(instance)
                if isinstance(outcome, Description):
                    subject.description, subject.error, subject.task = outcome, "", None
                    self._changed(service)
                    return
                known, subject.error = subject.error, outcome
                if outcome != known:
                    self._changed(service)
            try:  # a new instance may know better than those that failed
                async with asyncio.timeout(backoff.delay()):
                    await subject.joined.wait()
            except TimeoutError:
                continue

    async def _ask(self, instance: Instance) -> Description | str:
        """The description, or why there is none."""
        async with self._slots:
            try:
                async with asyncio.timeout(_LIMIT_SECONDS):
                    return await self._describe(instance)
            except CallError as error:
                reason = str(error)
            except TimeoutError:
                reason = f"no answer within {_LIMIT_SECONDS:.0f} s"
            except Exception as error:  # noqa: BLE001  # one service must not end the discovery of the others
                _log.warning("describing %s failed", instance.id, exc_info=error)
                reason = f"unexpected {type(error).__name__}"
        return f"{instance.id} could not be described ({reason[:_MAX_CHARS].rstrip('.')}); it is asked again."

    async def _renew_after(self, earlier: asyncio.Task[None] | None, service: str) -> None:
        if earlier is not None:
            await asyncio.wait((earlier,))
        mine = self._refreshes[service]
        mine.begun = True
        try:
            await self._renew_all(service)
        finally:
            if self._refreshes.get(service) is mine:
                del self._refreshes[service]

    async def _renew_all(self, service: str) -> None:
        instances = [i for s in self._subjects.get(service, {}).values() for i in s.instances]
        outcomes = await asyncio.gather(*(self._ask(instance) for instance in instances))
        current = {i for s in self._subjects.get(service, {}).values() for i in s.instances}
        for instance, outcome in zip(instances, outcomes, strict=True):
            if isinstance(outcome, Description) and instance in current:
                self._renewed.setdefault(service, {})[instance] = outcome
        self._changed(service)

    def _drop(self, key: Key, subject: _Subject) -> None:
        if subject.task is not None:
            subject.task.cancel()
        if subject.description is not None and len(key) == 2:  # without a fingerprint, who comes back may be another
            self._remembered[key] = subject.description
            while len(self._remembered) > _REMEMBERED:
                self._remembered.popitem(last=False)


def _key(instance: Instance) -> Key:
    if instance.fingerprint:
        return (instance.service, instance.fingerprint)
    return (instance.service, "", instance.id, instance.target)
