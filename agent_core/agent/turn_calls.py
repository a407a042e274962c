"""The calls of one turn: run together, told as events, answered one by one."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from agent_core.agent.clip import clip
from agent_core.agent.intake import Intake
from agent_core.agent.observation import observe, result_text
from agent_core.domain.call import CallContext, ResultStatus, SkillCall, SkillResult
from agent_core.domain.errors import CallError
from agent_core.domain.events import CallFinished, CallStarted, Event
from agent_core.domain.model import ToolMessage
from agent_core.domain.ports import FanOut

Outcome = SkillResult | CallError
_UNKNOWN: Final = "No result: the run ended while this call ran. It may have taken effect."
_MAX_DIRECT_BYTES: Final = 1024 * 1024


class TurnCalls:
    """One use. Where the call path tells a call's events itself, they pass; what it leaves out is told here."""

    def __init__(self, fan_out: FanOut, context: CallContext, intakes: Sequence[Intake], limit: int) -> None:
        self._fan_out = fan_out
        self._context = replace(context, emit=self._from_call)
        self._emit = context.emit
        self._intakes = intakes
        self._limit = limit
        self._texts = {intake.kept.id: _UNKNOWN for intake in intakes}
        self._started: set[str] = set()
        self._finished: set[str] = set()

    async def run(self) -> Sequence[Outcome]:
        """One outcome per intake, in their order."""
        for intake in self._intakes:
            if isinstance(intake.outcome, CallError):
                self._tell(intake, intake.outcome, 0.0)
        calls = [intake.outcome for intake in self._intakes if isinstance(intake.outcome, SkillCall)]
        began = time.monotonic()
        results = await self._fan_out(calls, self._context) if calls else ()
        seconds = time.monotonic() - began
        given = dict(zip((call.id for call in calls), results, strict=True))
        outcomes: list[Outcome] = []
        for intake in self._intakes:
            if isinstance(intake.outcome, CallError):
                outcomes.append(intake.outcome)
            else:
                outcomes.append(given[intake.kept.id])
                self._tell(intake, outcomes[-1], seconds)
        return outcomes

    def messages(self) -> list[ToolMessage]:
        """One reply per call, in their order; a call that has no outcome gets a reply that says so."""
        return [ToolMessage(call_id, text) for call_id, text in self._texts.items()]

    def _tell(self, intake: Intake, outcome: Outcome, seconds: float) -> None:
        call_id = intake.kept.id
        text = self._texts[call_id] = observe(outcome, self._limit)
        if call_id not in self._started:
            self._emit(
                CallStarted(
                    run_id=self._context.run_id,
                    call_id=call_id,
                    skill=intake.wanted.name,
                    arguments=intake.wanted.arguments,
                )
            )
        if call_id not in self._finished:
            event = CallFinished(
                run_id=self._context.run_id,
                call_id=call_id,
                skill=intake.wanted.name,
                status="error" if isinstance(outcome, CallError) else outcome.status.value,
                text=text,
                seconds=seconds,
                instance=outcome.instance,
                attempts=outcome.attempts,
            )
            if isinstance(outcome, CallError):
                self._emit(replace(event, error=outcome.kind))
            else:
                self._emit(replace(event, cached=outcome.cached))

    def _from_call(self, event: Event) -> None:
        match event:
            case CallStarted(call_id=call_id):
                self._started.add(call_id)
            case CallFinished(call_id=call_id, text=text):
                self._finished.add(call_id)
                event = replace(event, text=clip(text, self._limit))
        self._emit(event)


def direct_answer(intakes: Sequence[Intake], outcomes: Sequence[Outcome]) -> str:
    """The results as the answer, where every skill called says that its result is one and succeeded; else empty."""
    texts = []
    for intake, outcome in zip(intakes, outcomes, strict=True):
        direct = isinstance(intake.outcome, SkillCall) and intake.outcome.skill.descriptor.return_direct
        if not direct or isinstance(outcome, CallError) or outcome.status is not ResultStatus.SUCCESS:
            return ""
        texts.append(result_text(outcome, _MAX_DIRECT_BYTES))
    return "\n\n".join(texts)
