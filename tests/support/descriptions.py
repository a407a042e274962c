"""A Describe for tests: says what it is told to, and remembers who was asked."""

import asyncio

from agent_core.domain.errors import CallError
from agent_core.domain.ports import Description
from agent_core.domain.skill import Descriptor, Instance, Prerequisite
from skillmesh.errors import ErrorKind


def descriptor(name: str, version: str = "1.0.0", *, fingerprint: str = "", unmet: tuple[str, ...] = ()) -> Descriptor:
    """A descriptor whose fingerprint, unless given, follows from name and version."""
    return Descriptor(
        name=name,
        version=version,
        description=f"Use when {name} is wanted.",
        parameters=b'{"type":"object"}',
        fingerprint=fingerprint or f"{name}@{version}",
        prerequisites=tuple(Prerequisite(text, met=False, reason=f"{text} is missing") for text in unmet),
    )


def unreachable() -> CallError:
    return CallError(ErrorKind.CONNECT_FAILED, "it cannot be reached.")


class FakeDescribe:
    """By instance id, else by service, else one skill named after the service. `hold` keeps all waiting."""

    def __init__(self) -> None:
        self.answers: dict[str, Description | Exception] = {}
        self.asked: list[str] = []
        self.running = 0
        self.most_running = 0
        self.hold: asyncio.Event | None = None

    def says(self, who: str, *descriptors: Descriptor, problems: tuple[str, ...] = ()) -> None:
        self.answers[who] = Description(descriptors, problems)

    def fails(self, who: str, error: Exception | None = None) -> None:
        self.answers[who] = error or unreachable()

    async def __call__(self, instance: Instance) -> Description:
        self.asked.append(instance.id)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            if self.hold is not None:
                await self.hold.wait()
            answer = self.answers.get(instance.id) or self.answers.get(instance.service)
            if isinstance(answer, Exception):
                raise answer
            return answer or Description((descriptor(instance.service.replace("-", "_")),))
        finally:
            self.running -= 1
