"""One attempt: leave of the skill's breaker, an instance, the RPC, and a report to both."""

import time
from dataclasses import dataclass
from functools import lru_cache

from opentelemetry.trace import Span, SpanKind

from agent_core.domain.call import CallContext, Invoke, ResultStatus, SkillCall, SkillResult
from agent_core.domain.errors import CallError, NotSentError
from agent_core.domain.events import AttemptStarted
from agent_core.domain.ports import Balancer, Breakers, Clock, Outcome, Pick, Transport
from agent_core.telemetry import instruments
from agent_core.telemetry.spans import span
from skillmesh import conventions
from skillmesh.errors import ErrorKind


@dataclass(frozen=True, slots=True)
class Routing:
    """Who decides where an attempt goes, and what carries it there."""

    breakers: Breakers
    balancer: Balancer
    transport: Transport
    clock: Clock = time.monotonic


def routed(routing: Routing) -> Invoke:
    """The innermost step. What it raises bears the instance asked, where one was."""

    async def invoke(call: SkillCall, context: CallContext) -> SkillResult:
        skill = call.skill
        timeout = min(skill.descriptor.timeout, context.deadline - routing.clock())
        if timeout <= 0:
            raise _no_time(call)
        permit = routing.breakers.admit(skill)
        breaker_says = instance_says = Outcome.NOTHING
        pick: Pick | None = None
        try:
            pick = routing.balancer.pick(skill, call.tried)
            context.emit(
                AttemptStarted(
                    run_id=context.run_id,
                    call_id=call.id,
                    attempt=call.attempt,
                    instance=pick.instance.id,
                    reason=pick.reason,
                )
            )
            result = await _attempt(routing, call, context, pick, permit.state, timeout)
            instance_says = Outcome.SUCCESS
            breaker_says = Outcome.FAILURE if result.status is ResultStatus.RETRYABLE else Outcome.SUCCESS
        except CallError as error:
            if pick is not None:
                error.instance = pick.instance.id
                rule = error.rule
                if error.kind is ErrorKind.DEADLINE_EXCEEDED and timeout < skill.descriptor.timeout:
                    raise  # the caller was in a hurry; that says nothing of those who were not given their time
                breaker_says = Outcome.FAILURE if rule.breaker else Outcome.NOTHING
                instance_says = Outcome.FAILURE if rule.instance else Outcome.NOTHING
            raise
        else:
            return result
        finally:
            # Reached by a cancellation, too, which says nothing of either.
            permit.report(breaker_says)
            if pick is not None:
                pick.done(instance_says)

    return invoke


async def _attempt(
    routing: Routing, call: SkillCall, context: CallContext, pick: Pick, breaker: str, timeout: float
) -> SkillResult:
    """The client span and the RPC's duration; the span covers the whole exchange, a stream's as well."""
    instance = pick.instance
    method = routing.transport.method(call, instance, context)
    started = routing.clock()
    status = "CANCELLED"
    attributes = _attributes(call, pick, breaker, method)
    try:
        with span(method, kind=SpanKind.CLIENT, attributes=attributes) as current:
            try:
                result = await routing.transport.send(call, instance, context, timeout)
            except CallError as error:
                status = error.rule.status
                current.set_attribute(conventions.RPC_STATUS, status)
                raise
            status = "OK"
            if current.is_recording():
                _record(current, result)
            return result
    finally:
        labels = {conventions.RPC_SYSTEM: "grpc", conventions.RPC_METHOD: method, conventions.RPC_STATUS: status}
        instruments.rpc_duration.record(routing.clock() - started, labels)


def _attributes(call: SkillCall, pick: Pick, breaker: str, method: str) -> dict[str, str | int]:
    instance = pick.instance
    attributes: dict[str, str | int] = {
        conventions.RPC_SYSTEM: "grpc",
        conventions.RPC_METHOD: method,
        conventions.ATTR_SKILL: call.skill.name,
        conventions.ATTR_SERVICE: instance.service,
        conventions.ATTR_INSTANCE: instance.id,
        conventions.ATTR_ATTEMPT: call.attempt,
        conventions.ATTR_PICK: pick.reason,
        conventions.ATTR_BREAKER: breaker,
    }
    host, port = _address(instance.target)
    attributes[conventions.SERVER_ADDRESS] = host
    if port:
        attributes[conventions.SERVER_PORT] = port
    return attributes


def _record(current: Span, result: SkillResult) -> None:
    current.set_attribute(conventions.RPC_STATUS, "OK")
    current.set_attribute(conventions.ATTR_STATUS, result.status.value)


@lru_cache(maxsize=1_024)
def _address(target: str) -> tuple[str, int]:
    """Host and port of a gRPC target (`ipv4:127.0.0.1:7001`, `dns:///skills:7001`, `unix:/run/a.sock`: port 0)."""
    scheme, _, rest = target.partition(":")
    if scheme in {"unix", "unix-abstract"}:
        return rest, 0
    address = rest.lstrip("/") if scheme in {"ipv4", "ipv6", "dns"} else target
    host, _, port = address.rpartition(":")
    return (host.strip("[]"), int(port)) if host and port.isdecimal() else (address, 0)


def _no_time(call: SkillCall) -> NotSentError:
    label = call.skill.label
    return NotSentError(
        ErrorKind.DEADLINE_EXCEEDED,
        f"There was no time left to call {label}; nothing was sent.",
        for_model=f"There was no time left to call {label}. Answer without it.",
    )
