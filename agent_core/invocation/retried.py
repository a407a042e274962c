"""Further attempts: for reads, and for other effects only where it is certain that nothing ran."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final

from agent_core.domain.call import CallContext, Invoke, Layer, ResultStatus, SkillCall, SkillResult
from agent_core.domain.errors import CallError, TryLaterError
from agent_core.domain.events import AttemptFailed
from agent_core.domain.ports import Clock, RetryBudget
from agent_core.domain.skill import Effect
from agent_core.invocation.rendering import result_text
from agent_core.telemetry import instruments
from skillmesh.conventions import ATTR_SERVICE, ATTR_SKILL
from skillmesh.errors import ErrorKind, Fault, Ran

MAX_ATTEMPTS: Final = 3
_MAX_MESSAGE_CHARS: Final = 500

Backoff = Callable[[int], float]
"""Seconds to wait after attempt number n."""
Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class RetryRules:
    """How often, after how long, and with whose leave. `sleep` waits for seconds."""

    budget: RetryBudget
    backoff: Backoff
    max_attempts: int = MAX_ATTEMPTS
    clock: Clock = time.monotonic
    sleep: Sleep = asyncio.sleep


def retried(rules: RetryRules) -> Layer:
    """The first attempt's error is the one that is raised, as later ones often say less (`breaker open`).

    An idempotent or write call that broke where it may have run is `outcome_unknown`, and is not sent again.
    """

    def layer(inner: Invoke) -> Invoke:
        async def invoke(call: SkillCall, context: CallContext) -> SkillResult:
            rules.budget.deposit(call.skill.label)
            attempts = _Attempts(rules, call, context)
            try:
                while True:
                    try:
                        outcome: SkillResult | CallError = await inner(attempts.call, context)
                    except CallError as error:
                        outcome = error
                    wait = attempts.judge(outcome)
                    if wait is None:
                        return attempts.conclude()
                    await rules.sleep(wait)
                    attempts.advance()
            finally:
                labels = {ATTR_SKILL: call.skill.name, ATTR_SERVICE: call.skill.service}
                instruments.attempts.record(attempts.made, labels)

        return invoke

    return layer


class _Attempts:
    """What one call has tried so far. `made` counts attempts that reached an instance."""

    __slots__ = ("_context", "_first", "_instance", "_read", "_rules", "_shown", "call", "made")

    def __init__(self, rules: RetryRules, call: SkillCall, context: CallContext) -> None:
        self._rules = rules
        self._context = context
        self._read = call.skill.descriptor.effect is Effect.READ
        self._first: SkillResult | CallError | None = None
        self._shown: SkillResult | CallError | None = None
        self._instance = ""
        self.call = call
        self.made = 0

    def judge(self, outcome: SkillResult | CallError) -> float | None:
        """Seconds until the next attempt; None: it is over, and `conclude` gives the outcome."""
        if outcome.instance:
            self.made += 1
            self._instance = outcome.instance
        if isinstance(outcome, CallError):
            wait = self._after_error(outcome)
        elif self._read and outcome.status is ResultStatus.RETRYABLE:
            wait = self._wait(None)
            self._tell(ErrorKind.UNAVAILABLE, result_text(outcome)[:_MAX_MESSAGE_CHARS], wait)
        else:
            self._shown = outcome
            return None
        if self._first is None:
            self._first = outcome
        if wait is None and self._shown is None:
            self._shown = self._first
        return wait

    def conclude(self) -> SkillResult:
        """Raises the error to show where there is no result."""
        shown = self._shown
        if isinstance(shown, SkillResult):
            return shown if shown.attempts == self.made else replace(shown, attempts=self.made)
        if shown is None:
            raise AssertionError("judge has not ended it")
        shown.attempts = self.made
        raise shown

    def advance(self) -> None:
        tried = self.call.tried | {self._instance} if self._instance else self.call.tried
        self.call = replace(self.call, attempt=self.call.attempt + 1, tried=tried)

    def _after_error(self, error: CallError) -> float | None:
        wait = None
        if not self._read and error.ran is not Ran.NO:
            self._shown = _outcome_unknown(self.call, error)
        elif _may_retry(error):
            wait = self._wait(error)
        elif error.kind is ErrorKind.SCHEMA_MOVED or error.fault is Fault.CALLER:
            self._shown = error  # what the caller can act on, whatever went before
        if error.instance:
            self._tell(error.kind, str(error)[:_MAX_MESSAGE_CHARS], wait)
        return wait

    def _wait(self, error: CallError | None) -> float | None:
        """Backoff or what the error asks for, whichever is longer; None: no attempt left, no time or no budget."""
        rules = self._rules
        if self.call.attempt >= rules.max_attempts:
            return None
        wait = rules.backoff(self.call.attempt)
        if isinstance(error, TryLaterError) and error.retry_after is not None:
            wait = max(wait, error.retry_after)
        if rules.clock() + wait >= self._context.deadline:
            return None
        return wait if rules.budget.withdraw(self.call.skill.label) else None

    def _tell(self, kind: ErrorKind, message: str, retry_in: float | None) -> None:
        self._context.emit(
            AttemptFailed(
                run_id=self._context.run_id,
                call_id=self.call.id,
                attempt=self.call.attempt,
                instance=self._instance,
                kind=kind,
                message=message,
                retry_in=retry_in,
            )
        )


def _may_retry(error: CallError) -> bool:
    if error.kind is ErrorKind.OVERLOADED:  # only where it says when
        return isinstance(error, TryLaterError) and error.retry_after is not None
    return error.retryable and error.kind is not ErrorKind.SCHEMA_MOVED


def _outcome_unknown(call: SkillCall, error: CallError) -> CallError:
    label = call.skill.label
    unknown = CallError(
        ErrorKind.OUTCOME_UNKNOWN,
        f"It is unknown whether {label} took effect: {error}",
        for_model=(
            f"{label} broke off ({error.kind.value.replace('_', ' ')}), so it may or may not have happened; "
            "do not repeat it, but find out whether it happened or tell the user."
        ),
    )
    unknown.instance = error.instance
    unknown.__cause__ = error
    return unknown
