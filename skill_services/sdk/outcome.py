"""What becomes of the author's code ending: a Result, a sentence for the caller, and the whole story in the log."""

import asyncio
import logging

from skill_services.sdk.errors import CallFailedError, failed
from skillmesh.errors import ErrorKind

_logger = logging.getLogger("skillmesh.sdk")


def crashed(skill: str, call_id: str, error: BaseException) -> CallFailedError:
    """An exception that the author did not foresee: its type is told, its text and traceback go to the log alone."""
    _logger.error("Skill %r crashed in call %r.", skill, call_id[:128], exc_info=error)
    kind = type(error).__name__
    return failed(ErrorKind.CRASHED, f"Skill {skill!r} crashed with {kind}; the log of its service says why.")


def too_late(skill: str, seconds: float) -> CallFailedError:
    """The deadline passed while the author's code ran."""
    return failed(ErrorKind.DEADLINE_EXCEEDED, f"Skill {skill!r} did not finish within the {seconds:.3g} s it had.")


def is_ours(_error: asyncio.CancelledError) -> bool:
    """True where this task was asked to stop; False where the author's code raised CancelledError of its own accord."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0
