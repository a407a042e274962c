"""A Transport without a network: it answers as scripted and remembers what was sent."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from agent_core.domain.call import CallContext, ResultStatus, SkillCall, SkillResult
from agent_core.domain.errors import CallError
from agent_core.domain.skill import Instance
from skillmesh.conventions import SKILL_SERVICE
from skillmesh.errors import ErrorKind

Outcome = SkillResult | CallError | ErrorKind | bytes
"""What one attempt comes to; bytes are the structured value of a success, a kind is a CallError of it."""

Answer = Callable[[SkillCall, Instance, CallContext], Outcome]


@dataclass(frozen=True, slots=True)
class Sent:
    call: SkillCall
    instance: Instance
    context: CallContext
    timeout: float


@dataclass
class FakeTransport:
    """Implements ports.Transport. Each attempt takes the next of `script`; after its end, `answer` decides.

    Set `hold` to keep attempts waiting; `arrived` counts those that wait or have waited.
    """

    script: list[Outcome] = field(default_factory=list)
    answer: Answer = lambda call, _instance, _context: call.arguments
    hold: asyncio.Event | None = None
    sent: list[Sent] = field(default_factory=list)
    arrived: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))

    def method(self, call: SkillCall, instance: Instance, context: CallContext) -> str:
        return f"{SKILL_SERVICE}/Invoke"

    async def send(self, call: SkillCall, instance: Instance, context: CallContext, timeout: float) -> SkillResult:
        self.sent.append(Sent(call, instance, context, timeout))
        self.arrived.release()
        if self.hold is not None:
            await self.hold.wait()
        outcome = self.script.pop(0) if self.script else self.answer(call, instance, context)
        if isinstance(outcome, ErrorKind):
            outcome = CallError(outcome, f"{call.skill.label} on {instance.id}: {outcome.value}.")
        if isinstance(outcome, CallError):
            raise outcome
        if isinstance(outcome, bytes):
            outcome = SkillResult(ResultStatus.SUCCESS, outcome, instance=instance.id, attempts=call.attempt)
        return outcome
