"""Who is told what the watches hear."""

from typing import Protocol

from agent_core.domain.errors import RegistryError


class Listener(Protocol):
    """`fresh` is True where an answer follows a break: what is not in it may merely not be registered again yet."""

    def registry_found(self) -> None: ...

    def registry_lost(self, error: RegistryError) -> None: ...

    def services_heard(self, names: frozenset[str], unusable: tuple[str, ...], *, fresh: bool) -> None: ...

    def instances_heard(self, service: str, body: object, *, fresh: bool) -> None: ...

    def instances_failed(self, service: str, error: RegistryError) -> None: ...
