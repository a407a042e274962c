"""What discovery knows of each service: its instances, those in doubt included, and what is wrong with it."""

from collections.abc import Iterable

from agent_core.discovery.instances import Reading
from agent_core.discovery.retention import Retention
from agent_core.domain.skill import Instance


class ServiceView:
    """One service. `answered`: whether Consul has said anything about it, if only that it cannot."""

    def __init__(self, keep: float) -> None:
        self._known: Retention[Instance] = Retention(keep)
        self._problems: tuple[str, ...] = ()
        self._error = ""
        self._failures = 0
        self.answered = False

    @property
    def instances(self) -> tuple[Instance, ...]:
        """In id order."""
        return tuple(instance for _id, instance in sorted(self._known.entries.items()))

    @property
    def problems(self) -> tuple[str, ...]:
        return (self._error, *self._problems) if self._error else self._problems

    @property
    def deadline(self) -> float | None:
        return self._known.deadline

    def hear(self, service: str, reading: Reading, *, fresh: bool, now: float) -> None:
        """Take Consul's answer."""
        self.answered, self._error, self._failures = True, "", 0
        self._known.answer(reading.passing, fresh=fresh, now=now)
        self._known.settle(reading.failed)
        named = {instance.target for instance in reading.passing.values()}
        doubled = [
            key
            for key, instance in self._known.entries.items()
            if key not in reading.passing and instance.target in named
        ]
        self._known.settle(doubled)  # one process under a new id
        problems = list(reading.problems)
        if reading.failing and not reading.passing:
            count = f"its {reading.failing} instances do" if reading.failing > 1 else "its only instance does"
            problems.append(f"{service} is registered, but {count} not pass the health checks: see them in Consul.")
        self._problems = tuple(problems)

    def fail(self, sentence: str, *, sure: bool) -> None:
        """Consul could not say; what was known stays.

        A failure that may pass is shown from its second time on: the first may be Consul going away, which is said
        once, not for each service.
        """
        self.answered = True
        self._failures += 1
        if sure or self._failures > 1:
            self._error = sentence

    def renew(self, now: float) -> None:
        self._known.renew(now)

    def expire(self, now: float) -> bool:
        return self._known.expire(now)


class MeshView:
    """All services."""

    def __init__(self, keep: float) -> None:
        self._keep = keep
        self._names: Retention[None] = Retention(keep)
        self.services: dict[str, ServiceView] = {}
        self.unusable: tuple[str, ...] = ()

    def hear(self, names: Iterable[str], *, fresh: bool, now: float) -> frozenset[str]:
        """Take Consul's list of services; returns those that are gone."""
        self._names.answer(dict.fromkeys(names), fresh=fresh, now=now)
        return self._align()

    def renew(self, now: float) -> None:
        """The registry is back after a break."""
        self._names.renew(now)
        for service in self.services.values():
            service.renew(now)

    def expire(self, now: float) -> tuple[frozenset[str], frozenset[str]]:
        """End what has been in doubt for too long; returns the services that are gone and those that changed."""
        gone = self._align() if self._names.expire(now) else frozenset()
        return gone, frozenset(name for name, service in self.services.items() if service.expire(now))

    @property
    def deadline(self) -> float | None:
        """When the next doubt ends."""
        deadlines = [self._names.deadline, *(service.deadline for service in self.services.values())]
        return min((deadline for deadline in deadlines if deadline is not None), default=None)

    @property
    def answered(self) -> bool:
        return all(service.answered for service in self.services.values())

    def _align(self) -> frozenset[str]:
        names = self._names.entries
        gone = frozenset(self.services.keys() - names.keys())
        for name in gone:
            del self.services[name]
        for name in names.keys() - self.services.keys():
            self.services[name] = ServiceView(self._keep)
        return gone
