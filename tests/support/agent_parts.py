"""What the agent loop stands on, in process: a fixed catalogue, all of it offered, and skills that are functions."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from agent_core.agent.loop import AgentLoop
from agent_core.agent.run import LoopSettings, Parts
from agent_core.agent.session import Session
from agent_core.domain.call import CallContext, Principal, ResultStatus, SkillCall, SkillResult
from agent_core.domain.errors import CallError
from agent_core.domain.events import Event, RunFinished
from agent_core.domain.ports import ChatModel, FanOut, Shortlist
from agent_core.domain.skill import Catalogue, Descriptor, Instance, Skill

Body = Callable[[SkillCall, CallContext], Awaitable[SkillResult]]


def skill(name: str, *, return_direct: bool = False, llm_hint: str = "", fingerprint: str = "f1") -> Skill:
    descriptor = Descriptor(
        name=name,
        version="1.0.0",
        description=f"Use when {name} is wanted.",
        parameters=b'{"type":"object"}',
        fingerprint=fingerprint,
        return_direct=return_direct,
        llm_hint=llm_hint,
    )
    return Skill(name, "svc", descriptor, (Instance("i-1", "svc", "ipv4:127.0.0.1:1"),))


def structured(data: bytes, status: ResultStatus = ResultStatus.SUCCESS) -> SkillResult:
    return SkillResult(status, structured=data, instance="i-1", attempts=1)


class FixedCatalogue:
    def __init__(self, *skills: Skill, stale_since: float | None = None) -> None:
        self.catalogue = Catalogue({one.name: one for one in skills}, version=1, ready=True, stale_since=stale_since)

    async def changed(self, since: int) -> Catalogue:
        raise AssertionError(since)

    async def refresh(self, service: str) -> None:
        raise AssertionError(service)


class AllSkills:
    def __init__(self, *notes: str) -> None:
        self.notes = notes
        self.asked: list[tuple[str, Principal]] = []

    def shortlist(self, question: str, catalogue: Catalogue, principal: Principal) -> Shortlist:
        self.asked.append((question, principal))
        return Shortlist(tuple(catalogue.skills.values()), self.notes)


class FunctionSkills:
    """A fan-out over functions by skill name; what was called stays in `calls`."""

    def __init__(self, **bodies: Body) -> None:
        self.bodies = bodies
        self.calls: list[SkillCall] = []

    async def __call__(self, calls: Sequence[SkillCall], context: CallContext) -> Sequence[SkillResult | CallError]:
        self.calls += calls
        return await asyncio.gather(*(self._run(call, context) for call in calls))

    async def _run(self, call: SkillCall, context: CallContext) -> SkillResult | CallError:
        try:
            return await self.bodies[call.skill.name](call, context)
        except CallError as error:
            return error


def returns(data: bytes) -> Body:
    async def body(_call: SkillCall, _context: CallContext) -> SkillResult:
        return structured(data)

    return body


def fails(error: CallError) -> Body:
    async def body(_call: SkillCall, _context: CallContext) -> SkillResult:
        raise error

    return body


def agent_loop(
    model: ChatModel,
    *skills: Skill,
    fan_out: FanOut | None = None,
    shortlister: AllSkills | None = None,
    settings: LoopSettings | None = None,
) -> AgentLoop:
    return AgentLoop(
        Parts(
            model=model,
            catalogue=FixedCatalogue(*skills),
            shortlister=shortlister or AllSkills(),
            fan_out=fan_out or FunctionSkills(**{one.name: returns(b'{"ok":true}') for one in skills}),
            settings=settings or LoopSettings(run_timeout=20.0),
        )
    )


async def events_of(loop: AgentLoop, question: str = "What?", session: Session | None = None) -> list[Event]:
    """All events of one run, which is checked to end properly."""
    async with asyncio.timeout(30):
        events = [event async for event in loop.run(question, session=session or Session("s-1"))]
    ends = [event for event in events if isinstance(event, RunFinished)]
    assert ends == events[-1:]
    return events


def ending(events: Sequence[Event]) -> RunFinished:
    last = events[-1]
    assert isinstance(last, RunFinished)
    return last
