"""What endpoints that all call themselves compatible differ in; learnt from a refusal, kept for later requests."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent_core.domain.errors import ModelError, PromptTooLongError
from agent_core.domain.model import AssistantMessage, Message

_REFUSED = (400, 422)


@dataclass(frozen=True, slots=True)
class Dialect:
    """How requests are worded.

    `empty_content`: what stands for the text of an assistant message that has only calls; some refuse null, some
    the empty string. `limit_field`: OpenAI's reasoning models refuse `max_tokens`, others know only that.
    `usage`: whether to ask for token counts, which older servers refuse as an unknown field.
    """

    empty_content: str | None = None
    limit_field: str = "max_tokens"
    usage: bool = True


def adapted(dialect: Dialect, error: ModelError, messages: Sequence[Message]) -> Dialect | None:
    """The one other wording worth a try after this refusal; None where the wording is not what was refused."""
    if error.status not in _REFUSED or isinstance(error, PromptTooLongError):
        return None
    said = str(error)
    if "max_completion_tokens" in said and dialect.limit_field == "max_tokens":
        return replace(dialect, limit_field="max_completion_tokens")
    if "stream_options" in said and dialect.usage:
        return replace(dialect, usage=False)
    if dialect.empty_content is None and any(_only_calls(message) for message in messages):
        return replace(dialect, empty_content="")
    return None


def _only_calls(message: Message) -> bool:
    return isinstance(message, AssistantMessage) and bool(message.requests) and not message.text
