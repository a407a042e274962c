"""Runs the skills of one process: every check in order, then the author's code, then the result."""

import asyncio
import inspect
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

from skill_services.sdk.bound import BoundSkill
from skill_services.sdk.context import Emit, SkillContext, Speaker
from skill_services.sdk.descriptor import service_fingerprint, with_state
from skill_services.sdk.errors import CallFailedError, SkillDefinitionError, SkillError, failed, overloaded
from skill_services.sdk.outcome import crashed, is_ours, too_late
from skill_services.sdk.output import failure_of, result_of
from skill_services.sdk.prerequisites import PrerequisiteWatch
from skill_services.sdk.threads import SkillThreads
from skillmesh.conventions import (
    DEFAULT_TIMEOUT_SECONDS,
    MAX_ARGUMENT_BYTES,
    MAX_DEPTH,
    MAX_MESSAGE_BYTES,
    MAX_SKILLS_PER_SERVICE,
)
from skillmesh.digests import arguments_digest
from skillmesh.errors import ErrorKind
from skillmesh.v1.result_pb2 import Result
from skillmesh.v1.skill_service_pb2 import DescribeResponse, InvokeRequest

__all__ = ["CallFailedError", "Incoming", "Runtime", "RuntimeOptions"]

_logger = logging.getLogger("skillmesh.sdk")
_MAX_NAMES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeOptions:
    """How one process runs its skills. Times are seconds; `operator_defaults` is {skill: {parameter: value}}."""

    max_concurrent_calls: int = 64
    threads: int = 8
    max_message_bytes: int = MAX_MESSAGE_BYTES
    operator_defaults: Mapping[str, Mapping[str, object]] = field(default_factory=lambda: MappingProxyType({}))
    prerequisite_interval: float = 5.0


@dataclass(frozen=True, slots=True)
class Incoming:
    """What the server knows of one call.

    `deadline` is monotonic time in seconds. `emit` takes progress and parts, always on the event loop's thread;
    None where the call is unary.
    """

    request: InvokeRequest
    deadline: float | None = None
    emit: Emit | None = None


class Runtime:
    """The skills of one process. `start` before the first call, `stop` at the end.

    Raises SkillDefinitionError where two skills share a name, or a skill or an operator default is wrong.
    """

    def __init__(self, skills: Sequence[object], options: RuntimeOptions) -> None:
        self._options = options
        max_waiting = max(1, options.max_concurrent_calls // 2)
        self._threads = SkillThreads(options.threads, max_waiting)
        self._threads.when_quiet(self._notice_quiet)
        self._skills = _bound(skills, options, max_waiting)
        self._watch = PrerequisiteWatch(
            dict.fromkeys(item for skill in self._skills.values() for item in skill.prerequisites)
        )
        self._watching: asyncio.Task[None] | None = None
        self._fingerprint = self._current_fingerprint()
        self._running = 0
        self._refusing = False
        self._quiet = asyncio.Event()

    def describe(self) -> DescribeResponse:
        skills = [with_state(skill.descriptor, skill.state(self._watch)) for skill in self._skills.values()]
        return DescribeResponse(skills=skills, fingerprint=self._fingerprint)

    @property
    def fingerprint(self) -> str:
        """Over the skills and the state of their prerequisites; for Consul's meta."""
        return self._fingerprint

    @property
    def running(self) -> int:
        """Calls that somebody waits for."""
        return self._running

    async def start(self, on_change: Callable[[], None]) -> None:
        """Evaluate prerequisites, then again periodically; `on_change` is called when the fingerprint changes."""
        await self._watch.evaluate()
        self._fingerprint = self._current_fingerprint()

        def changed() -> None:
            self._fingerprint = self._current_fingerprint()
            try:
                on_change()
            except Exception:
                _logger.exception("A change of prerequisites could not be announced.")

        self._watching = asyncio.create_task(self._watch.keep(self._options.prerequisite_interval, changed))

    async def invoke(self, incoming: Incoming) -> Result:
        """Run one call. Raises CallFailedError, and CancelledError where the caller left."""
        request = incoming.request
        skill = self._admitted(request)
        self._running += 1
        try:
            return await self._run(skill, incoming)
        finally:
            self._running -= 1
            if not self._running:
                self._notice_quiet()

    def refuse_new_calls(self) -> None:
        """From now on a new call is answered with DRAINING; what runs goes on."""
        self._refusing = True

    async def idle(self) -> None:
        """Return once nothing runs, sync skills whose callers left included."""
        while self._running or self._threads.busy:
            self._quiet.clear()
            await self._quiet.wait()

    async def stop(self) -> None:
        """End the periodic evaluation and let go of the threads, without waiting for those that still work."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait((self._watching,))
        self._threads.stop()

    def _admitted(self, request: InvokeRequest) -> BoundSkill:
        """The skill that is asked for, once everything that needs no look into the arguments is in order."""
        if self._refusing:
            raise failed(ErrorKind.DRAINING, "This instance is shutting down; nothing ran, call another one.")
        skill = self._skills.get(request.skill)
        if skill is None:
            raise failed(ErrorKind.UNKNOWN_SKILL, self._what_exists(request.skill))
        if request.fingerprint and request.fingerprint != skill.fingerprint:
            text = f"Skill {skill.name!r} has changed since it was described; nothing ran, describe it again."
            raise failed(ErrorKind.SCHEMA_MOVED, text)
        if request.depth > MAX_DEPTH:
            text = f"Skill {skill.name!r} was called {request.depth} skills deep; the limit is {MAX_DEPTH}."
            raise failed(ErrorKind.DEPTH_EXCEEDED, text)
        size = max(len(request.arguments), len(request.hidden_arguments))
        if size > MAX_ARGUMENT_BYTES:
            text = f"The arguments have {size:,} bytes; the limit is {MAX_ARGUMENT_BYTES:,}. Send less at once."
            raise failed(ErrorKind.MESSAGE_TOO_LARGE, text)
        if request.arguments_digest and request.arguments_digest != arguments_digest(request.arguments):
            raise failed(ErrorKind.CORRUPTED_REQUEST, "The arguments were damaged on the way; nothing ran, send again.")
        if self._running >= self._options.max_concurrent_calls:
            raise overloaded(f"This instance runs {self._running} calls, which is its limit; nothing ran")
        return skill

    async def _run(self, skill: BoundSkill, incoming: Incoming) -> Result:
        request, size = incoming.request, self._options.max_message_bytes
        self._require_prerequisites(skill)
        arguments = _arguments(skill, request)
        seconds = _seconds_left(skill, incoming.deadline)
        speaker = None if incoming.emit is None else Speaker(incoming.emit, size)
        context = SkillContext(request, time.monotonic() + seconds, speaker)
        try:
            async with asyncio.timeout(seconds) as limit:
                value = await self._call(skill, arguments, context)
            return result_of(skill.name, value, size)
        except SkillError as error:
            return failure_of(skill.name, error, size)
        except CallFailedError:
            raise
        except asyncio.CancelledError as error:
            context.mark_cancelled()
            if is_ours(error):
                raise
            raise crashed(skill.name, request.call_id, error) from None
        except BaseException as error:  # the author's; logged and told
            if isinstance(error, GeneratorExit) and not skill.blocking:  # this very coroutine is being closed
                raise
            if limit.expired() and isinstance(error, TimeoutError):
                context.mark_cancelled()
                raise too_late(skill.name, seconds) from None
            raise crashed(skill.name, request.call_id, error) from None
        finally:
            if speaker is not None:
                speaker.close()

    async def _call(self, skill: BoundSkill, arguments: dict[str, object], context: SkillContext) -> object:
        """The author's code, within the skill's own limits. A place is given back when the code has really ended."""
        if skill.places is not None:
            await skill.places.take(context.deadline)
        if skill.blocking:
            function = partial(skill.call, arguments, context)
            value = await self._threads.run(function, context.deadline, skill.give_back_place)
            return await value if inspect.isawaitable(value) else value
        try:
            value = skill.call(arguments, context)
            return await value if inspect.isawaitable(value) else value
        finally:
            skill.give_back_place()

    def _require_prerequisites(self, skill: BoundSkill) -> None:
        for name, reason in skill.state(self._watch) if skill.prerequisites else ():
            if reason:
                text = f"Skill {skill.name!r} cannot work now, as {name} is not met: {reason}"
                raise failed(ErrorKind.PREREQUISITE_UNMET, text)

    def _what_exists(self, asked: str) -> str:
        names = sorted(self._skills)
        listed = ", ".join(names[:_MAX_NAMES]) + (", ..." if len(names) > _MAX_NAMES else "")
        return f"There is no skill {asked[:64]!r} in this service; it has {listed}."

    def _current_fingerprint(self) -> str:
        return service_fingerprint(
            (skill.name, skill.fingerprint, skill.state(self._watch)) for skill in self._skills.values()
        )

    def _notice_quiet(self) -> None:
        self._quiet.set()


def _bound(skills: Sequence[object], options: RuntimeOptions, max_waiting: int) -> dict[str, BoundSkill]:
    if not skills:
        raise SkillDefinitionError("A skill service needs at least one skill.")
    if len(skills) > MAX_SKILLS_PER_SERVICE:
        raise SkillDefinitionError(f"A service holds at most {MAX_SKILLS_PER_SERVICE} skills; split it.")
    bound: dict[str, BoundSkill] = {}
    for skill in skills:
        own = BoundSkill(skill, options.operator_defaults, max_waiting)
        if own.name in bound:
            raise SkillDefinitionError(f"Two skills are called {own.name!r}; set name=... on one of them.")
        bound[own.name] = own
    for name in options.operator_defaults.keys() - bound.keys():
        _logger.warning("The operator defaults name skill %r, which this service does not have.", name)
    return bound


def _arguments(skill: BoundSkill, request: InvokeRequest) -> dict[str, object]:
    """What the model sent, checked, and the hidden parameters."""
    try:
        arguments = skill.read(request.arguments)
        arguments.update(skill.hidden.for_call(request))
    except CallFailedError:
        raise
    except Exception as error:  # noqa: BLE001  # an author's own validator crashed
        raise crashed(skill.name, request.call_id, error) from None
    return arguments


def _seconds_left(skill: BoundSkill, deadline: float | None) -> float:
    """What the call may take: the caller's deadline, bounded by what the skill says of itself."""
    if deadline is None:
        return skill.timeout or DEFAULT_TIMEOUT_SECONDS
    remaining = deadline - time.monotonic()
    if remaining <= 0:
        text = f"The deadline passed before skill {skill.name!r} could start; nothing ran."
        raise failed(ErrorKind.DEADLINE_EXCEEDED, text)
    return remaining if skill.timeout is None else min(remaining, skill.timeout)
