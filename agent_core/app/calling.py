"""One skill through the whole call path, with no model."""

import sys
import time
from dataclasses import asdict
from uuid import uuid4

from agent_core.app.console import RunView, wide_console, write_json
from agent_core.app.exits import Exit, complain
from agent_core.app.settings import CoreSettings
from agent_core.app.skill_views import find_skill
from agent_core.app.text import plain
from agent_core.app.tracing import traced_process
from agent_core.app.wiring import Core, open_core
from agent_core.domain.call import CallContext, ResultStatus, SkillCall, SkillResult, new_run_id
from agent_core.domain.errors import CallError, InvalidArgumentsError
from agent_core.domain.events import CallFinished, CallStarted, Event
from agent_core.invocation.rendering import result_text
from agent_core.telemetry.spans import current_trace_id, span


async def call_once(
    settings: CoreSettings, name: str, arguments: bytes, *, timeout: float, as_json: bool, with_trace: bool
) -> Exit:
    """`skillmesh call`. Raises CallError where there is no such skill."""
    view = RunView()

    def show(event: Event) -> None:
        if not as_json and not isinstance(event, CallStarted | CallFinished):
            view.show(event)

    async with (
        traced_process(settings, read_back=with_trace) as traces,
        open_core(settings, show, with_model=False) as core,
    ):
        call = SkillCall(id=uuid4().hex, skill=find_skill(core, name), arguments=arguments)
        context = CallContext(
            run_id=new_run_id(), deadline=time.monotonic() + timeout, emit=show, time_zone=settings.time_zone
        )
        with span("skillmesh call"):
            trace_id = current_trace_id()
            outcome = await _outcome(core, call, context)
        code = _print(outcome, as_json=as_json)
        if with_trace:
            await traces.show(trace_id, wide_console(stderr=as_json))
    return code


async def _outcome(core: Core, call: SkillCall, context: CallContext) -> SkillResult | CallError:
    try:
        return await core.invoke(call, context)
    except CallError as error:
        return error


def _print(outcome: SkillResult | CallError, *, as_json: bool) -> Exit:
    if isinstance(outcome, CallError):
        if as_json:
            violations = outcome.violations if isinstance(outcome, InvalidArgumentsError) else ()
            error = {
                "kind": outcome.kind,
                "message": str(outcome),
                "fault": outcome.fault,
                "retryable": outcome.retryable,
                "violations": [asdict(one) for one in violations],
            }
            write_json({"status": "error", "error": error, "attempts": outcome.attempts})
        else:
            complain(outcome.for_model)
        return Exit.NO_RESULT
    text = result_text(outcome)
    if as_json:
        summary = {key: getattr(outcome, key) for key in ("status", "truncated", "cached", "instance", "attempts")}
        write_json({**summary, "text": text})
    else:
        sys.stdout.write(plain(text) + "\n")
    return Exit.OK if outcome.status is ResultStatus.SUCCESS else Exit.NO_RESULT
