"""The outermost layer: one execute_tool span, the call's first and last event, its metrics."""

import asyncio
import logging
import time

from opentelemetry.trace import Span

from agent_core.domain.call import CallContext, Invoke, Layer, SkillCall, SkillResult
from agent_core.domain.errors import CallError
from agent_core.domain.events import CallFinished, CallStarted
from agent_core.invocation import genai
from agent_core.invocation.rendering import result_text
from agent_core.telemetry import instruments
from agent_core.telemetry.spans import span
from skillmesh import conventions
from skillmesh.errors import ErrorKind

_log = logging.getLogger(__name__)
_MAX_CONTENT_CHARS = 32_768


def traced(*, record_content: bool = False) -> Layer:
    """No exception but CallError and a cancellation leaves this layer; a fault of the core's own is logged here."""

    def layer(inner: Invoke) -> Invoke:
        async def invoke(call: SkillCall, context: CallContext) -> SkillResult:
            started = time.monotonic()
            labels = {conventions.ATTR_SKILL: call.skill.name, conventions.ATTR_SERVICE: call.skill.service}
            context.emit(
                CallStarted(
                    run_id=context.run_id,
                    call_id=call.id,
                    skill=call.skill.name,
                    arguments=call.arguments.decode(errors="replace"),
                )
            )
            instruments.in_flight.add(1, labels)
            status = "cancelled"
            try:
                with span(f"execute_tool {call.skill.name}", attributes=_attributes(call, context)) as current:
                    if record_content and current.is_recording():
                        arguments = call.arguments[:_MAX_CONTENT_CHARS].decode(errors="replace")
                        current.set_attribute(genai.TOOL_ARGUMENTS, arguments)
                    result = await _run(inner, call, context)
                    text = result_text(result)
                    if current.is_recording():
                        _record(current, result, text if record_content else None)
                status = result.status.value
            except asyncio.CancelledError:
                context.emit(_failure(call, context, cancelled(call), time.monotonic() - started))
                raise
            except CallError as error:
                status = error.kind.value
                context.emit(_failure(call, context, error, time.monotonic() - started))
                raise
            finally:
                instruments.in_flight.add(-1, labels)
                instruments.call_duration.record(
                    time.monotonic() - started, {**labels, conventions.ATTR_STATUS: status}
                )
            context.emit(_finish(call, context, result, text, time.monotonic() - started))
            return result

        return invoke

    return layer


async def _run(inner: Invoke, call: SkillCall, context: CallContext) -> SkillResult:
    try:
        return await inner(call, context)
    except CallError:
        raise
    except Exception as error:
        _log.exception("The call path failed at %s (call %s)", call.skill.label, call.id)
        raise CallError(
            ErrorKind.UNKNOWN,
            f"The core failed at {call.skill.label}: {type(error).__name__}; its log says more.",
            for_model=f"{call.skill.label} could not be called because of a fault in the system. Answer without it.",
        ) from error


def cancelled(call: SkillCall) -> CallError:
    """What became of a call that was ended from outside."""
    return CallError(
        ErrorKind.CANCELLED,
        f"{call.skill.label} was cancelled.",
        for_model=f"{call.skill.label} was cancelled before it answered. Answer without it.",
    )


def _attributes(call: SkillCall, context: CallContext) -> dict[str, str]:
    skill = call.skill
    return {
        genai.OPERATION: genai.EXECUTE_TOOL,
        genai.TOOL_NAME: skill.name,
        genai.TOOL_TYPE: genai.TOOL_TYPE_EXTENSION,
        genai.TOOL_CALL_ID: call.id,
        conventions.ATTR_CALL_ID: call.id,
        conventions.ATTR_RUN_ID: context.run_id,
        conventions.ATTR_SERVICE: skill.service,
        conventions.ATTR_SKILL: skill.name,
        conventions.ATTR_SKILL_VERSION: skill.descriptor.version,
        conventions.ATTR_FINGERPRINT: skill.descriptor.fingerprint,
    }


def _record(current: Span, result: SkillResult, text: str | None) -> None:
    current.set_attribute(conventions.ATTR_STATUS, result.status.value)
    if result.instance:
        current.set_attribute(conventions.ATTR_INSTANCE, result.instance)
    if text is not None:
        current.set_attribute(genai.TOOL_RESULT, text[:_MAX_CONTENT_CHARS])


def _finish(call: SkillCall, context: CallContext, result: SkillResult, text: str, seconds: float) -> CallFinished:
    return CallFinished(
        run_id=context.run_id,
        call_id=call.id,
        skill=call.skill.name,
        status=result.status.value,
        text=text,
        seconds=seconds,
        instance=result.instance,
        attempts=result.attempts,
        cached=result.cached,
    )


def _failure(call: SkillCall, context: CallContext, error: CallError, seconds: float) -> CallFinished:
    return CallFinished(
        run_id=context.run_id,
        call_id=call.id,
        skill=call.skill.name,
        status="error",
        text=error.for_model,
        seconds=seconds,
        instance=error.instance,
        attempts=error.attempts,
        error=error.kind,
    )
