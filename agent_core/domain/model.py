"""A conversation with a model: messages, the tools it is offered, and what it replies."""

from collections.abc import Callable
from dataclasses import dataclass, field

from agent_core.domain.events import Event, Usage


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A skill as the model sees it; `parameters` is a JSON Schema text, UTF-8."""

    name: str
    description: str
    parameters: bytes


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """The model's wish to call a tool; `arguments` is its own text, not yet checked."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class SystemMessage:
    text: str


@dataclass(frozen=True, slots=True)
class UserMessage:
    text: str


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    text: str
    requests: tuple[ToolRequest, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """The one reply to the request `request_id`."""

    request_id: str
    text: str


Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage


def _ignore(_event: Event) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One LLM call. `deadline` is monotonic time in seconds; `tools` in the order offered.

    `emit` takes what happens on the way (`ModelRetried`); `run_id` and `turn` are for those events.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    deadline: float
    conversation_id: str = ""
    run_id: str = ""
    turn: int = 0
    emit: Callable[[Event], None] = field(default=_ignore, repr=False)


@dataclass(frozen=True, slots=True)
class TextChunk:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningChunk:
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """The whole reply, after its last chunk. `id` is the endpoint's own name for it, `note` what it says of itself."""

    text: str
    requests: tuple[ToolRequest, ...]
    finish_reason: str
    model: str
    usage: Usage = Usage()
    id: str = ""
    note: str = ""


ModelChunk = TextChunk | ReasoningChunk | ModelReply
