"""Errors of the core. Each answers three questions: whose fault, may it be retried, and what the model reads.

SkillmeshError
+-- CallError        one call gave no result; `kind` is a row of skillmesh.errors
|   +-- InvalidArgumentsError     with the violations
|   +-- TryLaterError             breaker open or overloaded; says when
|   +-- NotSentError              no time left, too large: nothing ran
+-- ModelError       the model endpoint gave no usable reply
|   +-- PromptTooLongError        the conversation does not fit the model
+-- RegistryError    Consul cannot be reached or refuses
+-- ConfigError      a setting is wrong
"""

from dataclasses import dataclass

from skillmesh.errors import RULES, ErrorKind, ErrorRule, Fault, Ran


@dataclass(frozen=True, slots=True)
class Violation:
    """One argument that breaks the schema: where (`a.b[0]`; empty: the whole) and what is wrong."""

    path: str
    problem: str


class SkillmeshError(Exception):
    """Any expected failure; the message is one sentence for a person and says what to do."""

    fault: Fault = Fault.MESH
    retryable: bool = False

    @property
    def for_model(self) -> str:
        """The sentence that the model reads in place of a result."""
        return str(self)


class CallError(SkillmeshError):
    """One call gave no result.

    `instance` is the id of the one that was asked last, empty where none was; `attempts` is how many were made.
    """

    def __init__(self, kind: ErrorKind, message: str, *, for_model: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.instance = ""
        self.attempts = 0
        self._for_model = for_model

    @property
    def rule(self) -> ErrorRule:
        return RULES[self.kind]

    @property
    def fault(self) -> Fault:  # type: ignore[override]  # a value of the table here, a constant elsewhere
        return self.rule.fault

    @property
    def retryable(self) -> bool:  # type: ignore[override]
        return self.rule.retryable

    @property
    def ran(self) -> Ran:
        return self.rule.ran

    @property
    def for_model(self) -> str:
        return self._for_model or str(self)


class InvalidArgumentsError(CallError):
    """The arguments break the skill's schema; every violation at once, so that the model can mend them in one go."""

    def __init__(self, message: str, violations: tuple[Violation, ...] = ()) -> None:
        super().__init__(ErrorKind.INVALID_ARGUMENTS, message)
        self.violations = violations

    @property
    def for_model(self) -> str:
        lines = [f"- {v.path or 'arguments'}: {v.problem}" for v in self.violations]
        return "\n".join([str(self), *lines])


class TryLaterError(CallError):
    """Refused for now (`breaker_open`, `overloaded`); `retry_after` is in seconds, None where it is not known."""

    def __init__(self, kind: ErrorKind, message: str, *, retry_after: float | None, for_model: str = "") -> None:
        super().__init__(kind, message, for_model=for_model)
        self.retry_after = retry_after


class NotSentError(CallError):
    """The call was given up before anything was sent, so nothing ran whatever its kind says."""

    @property
    def ran(self) -> Ran:
        return Ran.NO


class ModelError(SkillmeshError):
    """The model endpoint gave no usable reply. `status` is HTTP's, None where there was none."""

    def __init__(
        self, message: str, *, retryable: bool = False, status: int | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.status = status
        self.retry_after = retry_after


class PromptTooLongError(ModelError):
    """The conversation is larger than the model's context window; a shorter one may be accepted."""


class RegistryError(SkillmeshError):
    """Consul cannot be reached, does not answer in time, or refuses."""

    retryable = True


class ConfigError(SkillmeshError):
    """A setting is wrong; the message names it and says what it may be."""

    fault = Fault.CALLER
