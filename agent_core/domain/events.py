"""Everything observable, as typed values: what a run does, and what the mesh does around it."""

from dataclasses import asdict, dataclass
from enum import StrEnum

from skillmesh.errors import ErrorKind


class FinishReason(StrEnum):
    """Why a run ended."""

    ANSWERED = "answered"
    TURN_LIMIT = "turn_limit"
    DEADLINE = "deadline"
    MODEL_FAILED = "model_failed"
    CANCELLED = "cancelled"
    FAILED = "failed"  # a fault of the core itself; its log says which


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the endpoint reports them; 0 where it does not."""

    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Anything observable. `run_id` is empty for what happens outside a run."""

    run_id: str = ""

    def to_dict(self) -> dict[str, object]:
        """JSON-able; `event` is the type in snake case."""
        name = "".join("_" + c.lower() if c.isupper() else c for c in type(self).__name__).lstrip("_")
        return {"event": name, **asdict(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(Event):
    question: str
    trace_id: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted(Event):
    """`shortlist`: names of the skills offered; `turn` counts from 1."""

    turn: int
    shortlist: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned(Event):
    """Something that did not stop the run but that its owner should know."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta(Event):
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningDelta(Event):
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReplied(Event):
    turn: int
    model: str
    finish_reason: str
    usage: Usage
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRetried(Event):
    """The model endpoint failed in a way that may pass; it is asked again after `wait` seconds."""

    turn: int
    message: str
    wait: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStarted(Event):
    """`arguments` is the model's own text."""

    call_id: str
    skill: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptStarted(Event):
    """`reason` says why this instance was picked."""

    call_id: str
    attempt: int
    instance: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptFailed(Event):
    """`retry_in` is in seconds; None where no further attempt follows."""

    call_id: str
    attempt: int
    instance: str
    kind: ErrorKind
    message: str
    retry_in: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallProgressed(Event):
    """`fraction` is 0 to 1, None where unknown."""

    call_id: str
    fraction: float | None
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFinished(Event):
    """`status` is a ResultStatus or "error"; `text` is what the model reads."""

    call_id: str
    skill: str
    status: str
    text: str
    seconds: float
    instance: str = ""
    attempts: int = 0
    cached: bool = False
    error: ErrorKind | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished(Event):
    """`answer` is empty unless reason is ANSWERED; then `detail` says in a sentence why there is none."""

    answer: str
    reason: FinishReason
    detail: str
    turns: int
    usage: Usage
    seconds: float
    trace_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueChanged(Event):
    version: int
    skills: int
    instances: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryLost(Event):
    """The registry stopped answering; the last known catalogue keeps serving."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryFound(Event):
    away: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NameClashed(Event):
    """Two services offer one name: it is withdrawn, each is offered as service__skill."""

    name: str
    services: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NameFreed(Event):
    name: str
    service: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceQuarantined(Event):
    """A service, or a part of it, cannot be used; `message` says why."""

    service: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerChanged(Event):
    """States are `closed`, `open` and `half-open`."""

    skill: str
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceEjected(Event):
    instance: str
    service: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceRestored(Event):
    instance: str
    service: str
