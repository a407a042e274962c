"""What a running skill knows of its call, and how it speaks before its result."""

import asyncio
import logging
import math
import threading
import time
from collections.abc import Callable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from opentelemetry import trace

from skill_services.sdk.content import Part
from skill_services.sdk.errors import failed
from skill_services.sdk.output import part_message, part_size
from skillmesh.conventions import MAX_MESSAGE_BYTES
from skillmesh.errors import ErrorKind
from skillmesh.v1.skill_service_pb2 import InvokeRequest, InvokeStreamResponse, Progress

Emit = Callable[[InvokeStreamResponse], None]
_MAX_PROGRESS_CHARS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks. An empty subject is anonymous."""

    subject: str = ""
    roles: tuple[str, ...] = ()


class SkillContext:
    """A skill gets it by a parameter annotated `SkillContext`, which is no part of its schema.

    Everything here may be used from async skills and, in their threads, from sync ones.
    """

    __slots__ = ("_cancelled", "_deadline", "_logger", "_request", "_speaker")

    def __init__(self, request: InvokeRequest, deadline: float, speaker: "Speaker | None" = None) -> None:
        self._request = request
        self._deadline = deadline
        self._speaker = speaker
        self._cancelled = False
        self._logger: CallLogger | None = None

    @property
    def deadline(self) -> float:
        """When the answer is due, in monotonic seconds (`time.monotonic()`)."""
        return self._deadline

    def time_remaining(self) -> float:
        """Seconds until the deadline; 0 once it has passed."""
        return max(0.0, self._deadline - time.monotonic())

    @property
    def cancelled(self) -> bool:
        """True once nobody waits for the answer: the caller left or the deadline passed.

        An async skill is cancelled where it awaits; a sync one that runs long should look here and return.
        """
        return self._cancelled

    def progress(self, fraction: float | None = None, message: str = "") -> None:
        """Tell the caller how far the work is: 0 to 1, None where it is not known. Dropped where nobody listens."""
        if self._speaker is None:
            return
        event = Progress(message=message[:_MAX_PROGRESS_CHARS])
        if fraction is not None and math.isfinite(fraction):
            event.fraction = min(1.0, max(0.0, fraction))
        self._speaker.say(InvokeStreamResponse(progress=event))

    def part(self, part: Part) -> None:
        """Hand out a piece of the output ahead of the result, which must contain it again."""
        if self._speaker is not None:
            self._speaker.part(self._request.skill, part)

    @property
    def logger(self) -> "CallLogger":
        """A logger whose records carry the skill, the call id, the run id and the trace id."""
        if self._logger is None:
            self._logger = CallLogger(self._request)
        return self._logger

    @property
    def principal(self) -> Principal:
        """On whose behalf the call runs."""
        return Principal(self._request.principal.subject, tuple(self._request.principal.roles))

    @property
    def call_id(self) -> str:
        """The same for each attempt of one call."""
        return self._request.call_id

    @property
    def run_id(self) -> str:
        return self._request.run_id

    @property
    def session_id(self) -> str:
        return self._request.session_id

    @property
    def time_zone(self) -> str:
        """IANA name of the user's time zone; UTC where it is not known."""
        return self._request.time_zone or "UTC"

    @property
    def locale(self) -> str:
        """BCP 47 tag of the user's language; empty where it is not known."""
        return self._request.locale

    @property
    def depth(self) -> int:
        """How many skills are above this one; 0 where the model or a client asked for it."""
        return self._request.depth

    @property
    def attempt(self) -> int:
        """1 for the first attempt."""
        return self._request.attempt or 1

    @property
    def idempotency_key(self) -> str:
        """The same for each attempt that must have one effect together; empty where the caller wants none."""
        return self._request.idempotency_key

    def mark_cancelled(self) -> None:
        """For the runtime: from now on `cancelled` is true."""
        self._cancelled = True


class CallLogger(logging.LoggerAdapter[logging.Logger]):
    """Adds `skill`, `call_id`, `run_id` and `trace_id` (32 hex digits) to each record, beside the author's extra."""

    def __init__(self, request: InvokeRequest) -> None:
        span = trace.get_current_span().get_span_context()
        fields = {
            "skill": request.skill,
            "call_id": request.call_id,
            "run_id": request.run_id,
            "trace_id": format(span.trace_id, "032x") if span.is_valid else "",
        }
        super().__init__(logging.getLogger(f"skillmesh.skill.{request.skill}"), fields)

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:  # noqa: ANN401  # as the standard library types it
        kwargs["extra"] = {**(kwargs.get("extra") or {}), **(self.extra or {})}
        return msg, kwargs


class Speaker:
    """Carries progress and parts to the event loop's thread, from whichever thread they come, until it is closed."""

    __slots__ = ("_emit", "_limit", "_loop", "_thread")

    def __init__(self, emit: Emit, limit: int = MAX_MESSAGE_BYTES) -> None:
        self._emit: Emit | None = emit
        self._limit = limit
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    def part(self, skill: str, part: Part) -> None:
        """Raises CallFailedError (REPLY_TOO_LARGE) for a part over the message limit."""
        message = part_message(part, skill)
        size = part_size(message)
        if size > self._limit:
            text = f"A part of the output of skill {skill!r} has {size:,} bytes; the limit is {self._limit:,}."
            raise failed(ErrorKind.REPLY_TOO_LARGE, f"{text} Send less, or a link.")
        self.say(InvokeStreamResponse(part=message))

    def say(self, event: InvokeStreamResponse) -> None:
        if self._emit is None:
            return
        if threading.get_ident() == self._thread:
            self._emit(event)
        else:
            with suppress(RuntimeError):  # the loop is closed: the process is ending
                self._loop.call_soon_threadsafe(self._say_on_loop, event)

    def close(self) -> None:
        """What is said from now on is dropped: the call is over."""
        self._emit = None

    def _say_on_loop(self, event: InvokeStreamResponse) -> None:
        if self._emit is not None:
            self._emit(event)
