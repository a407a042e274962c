"""Errors of the SDK.

SkillDefinitionError   a skill is declared wrongly; raised when it is declared or when its service is built
SkillError             the author's code says no: becomes a Result with status failed or retryable
CallFailedError        a call gave no Result: becomes a gRPC status
"""

from collections.abc import Sequence

from skillmesh.errors import ErrorKind
from skillmesh.status import Violation, WireError

_OVERLOADED_RETRY_SECONDS = 0.2


class SkillDefinitionError(Exception):
    """A skill is declared wrongly; the message says what to change."""


class SkillError(Exception):
    """Raise it in a skill that cannot do what it was asked; it never counts as a crash.

    Args:
        message: One sentence for people.
        retryable: True where something that the skill depends on is down, so that the same call may work later; it
            counts against the skill's circuit breaker. False where the request itself cannot be served.
        for_model: One sentence that the model reads in place of `message`, such as what to ask for instead.
    """

    def __init__(self, message: str, *, retryable: bool = False, for_model: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.retryable = retryable
        self.for_model = for_model or message


class CallFailedError(Exception):
    """A call gave no result; `error` is what crosses the wire."""

    def __init__(self, error: WireError) -> None:
        super().__init__(error.message)
        self.error = error


def failed(kind: ErrorKind, message: str, violations: Sequence[Violation] = ()) -> CallFailedError:
    """The exception for a call that fails as `kind`; the caller reads `message`."""
    return CallFailedError(WireError(kind, message, violations=tuple(violations)))


def overloaded(message: str) -> CallFailedError:
    """Refused for now, and nothing ran; the caller is told how long to wait."""
    return CallFailedError(WireError(ErrorKind.OVERLOADED, message, retry_after=_OVERLOADED_RETRY_SECONDS))
