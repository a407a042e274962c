"""The loop that turns a question into an answer; each run is one iterator of events."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator
from functools import partial
from typing import Final

from opentelemetry.util.genai.handler import TelemetryHandler
from opentelemetry.util.genai.invocation import LocalAgentInvocation
from opentelemetry.util.genai.types import Error, InputMessage, OutputMessage, TextPart

from agent_core.agent.channel import Channel
from agent_core.agent.run import Ending, Parts, Run
from agent_core.agent.session import Session
from agent_core.domain.call import CallContext, Principal, new_run_id
from agent_core.domain.events import Event, FinishReason, RunFinished, RunStarted
from agent_core.telemetry.spans import current_trace_id
from skillmesh.conventions import ATTR_RUN_ID

_log = logging.getLogger(__name__)
AGENT_NAME: Final = "skillmesh"
_SCOPE: Final = "skillmesh.agent_core"
_CANCELLED: Final = Ending(FinishReason.CANCELLED, detail="The run was cancelled.")


class AgentLoop:
    """Any number of runs at a time; what belongs to one is in its Run, what outlives it in its Session."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._telemetry = TelemetryHandler(instrumentation_scope_name=_SCOPE)

    async def run(
        self,
        question: str,
        *,
        session: Session,
        principal: Principal = Principal(),
        deadline: float | None = None,
        run_id: str = "",
    ) -> AsyncGenerator[Event, None]:
        """Events from RunStarted to RunFinished, which is always last and says why the run ended.

        `deadline` is monotonic time; without it the run has `run_timeout`. Closing the iterator, or cancelling the
        task that reads it, cancels the model's stream and the calls before it returns. The run works in a task of its
        own, so the reader's context is never that of the run.
        """
        channel = Channel()
        context = CallContext(
            run_id=run_id or new_run_id(),
            deadline=deadline if deadline is not None else time.monotonic() + self._parts.settings.run_timeout,
            principal=principal,
            emit=channel.emit,
            session_id=session.id,
            time_zone=session.time_zone,
            locale=session.locale,
            session=session.values,
        )
        asked = question.encode("utf-8", "replace").decode()  # half a surrogate pair cannot be sent on
        run = Run(self._parts, asked, session=session, context=context, channel=channel)
        task = asyncio.create_task(self._drive(run, context, asked), name=f"run {context.run_id}")
        task.add_done_callback(partial(_make_sure_of_an_end, run, context))
        try:
            finished = False
            while not finished:
                event = await channel.next()
                finished = isinstance(event, RunFinished)
                yield event
        finally:
            task.cancel()  # does nothing where the run has ended
            await asyncio.wait([task])

    async def _drive(self, run: Run, context: CallContext, question: str) -> None:
        began = time.monotonic()
        invocation = self._telemetry.invoke_local_agent(
            agent_name=AGENT_NAME, request_model=self._parts.model.name, conversation_id=context.session_id or None
        )
        invocation.attributes[ATTR_RUN_ID] = context.run_id
        trace_id = current_trace_id()
        context.emit(
            RunStarted(run_id=context.run_id, question=question, trace_id=trace_id, model=self._parts.model.name)
        )
        ending = _CANCELLED
        try:
            ending = await run.finish()
        finally:
            _end(invocation, run, ending, question)
            context.emit(
                RunFinished(
                    run_id=context.run_id,
                    answer=ending.answer,
                    reason=ending.reason,
                    detail=ending.detail,
                    turns=run.turns,
                    usage=run.usage,
                    seconds=time.monotonic() - began,
                    trace_id=trace_id,
                )
            )


def _make_sure_of_an_end(run: Run, context: CallContext, task: asyncio.Task[None]) -> None:
    """A fault before the run or after it, as of the telemetry, must not leave the reader waiting."""
    error = None if task.cancelled() else task.exception()
    if error is None:
        return
    _log.error("run %s failed", context.run_id, exc_info=error)
    context.emit(  # dropped where RunFinished is out already
        RunFinished(
            run_id=context.run_id,
            answer="",
            reason=FinishReason.FAILED,
            detail=f"The core failed ({type(error).__name__}). Its log says where; please report it.",
            turns=run.turns,
            usage=run.usage,
            seconds=0.0,
            trace_id="",
        )
    )


def _end(invocation: LocalAgentInvocation, run: Run, ending: Ending, question: str) -> None:
    """End the run's span, ahead of RunFinished: who exits on that event loses no span."""
    if run.usage.input_tokens or run.usage.output_tokens:
        invocation.input_tokens = run.usage.input_tokens
        invocation.output_tokens = run.usage.output_tokens
    if invocation.should_capture_content:
        invocation.input_messages = [InputMessage("user", [TextPart(question)])]
        invocation.output_messages = [OutputMessage("assistant", [TextPart(ending.answer)])]
    if ending.reason is FinishReason.ANSWERED:
        invocation.stop()
    else:
        invocation.fail(Error(message=ending.detail, type=ending.reason.value))
