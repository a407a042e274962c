"""A streamed reply put together, whatever the server makes of the format.

Shapes: the Chat Completions API's `chat.completion.chunk` and `chat.completion`. Nothing in a chunk is trusted to be
there or to have its type; what is not understood is passed over, and a reply without a finish reason is an error.
"""

from collections.abc import Iterator
from typing import Final

from agent_core.domain.errors import ModelError
from agent_core.domain.events import Usage
from agent_core.domain.model import ModelReply, ReasoningChunk, TextChunk
from agent_core.llm.surrogates import Pairing
from agent_core.llm.tool_deltas import ToolDeltas
from skillmesh.conventions import STAND_IN_FIELD

MAX_REPLY_CHARS: Final = 4 * 1024 * 1024
_MAX_NOTE_CHARS: Final = 500
_LIMIT_WORDS: Final = ("length", "max_tokens")


class Assembler:
    """Takes the chunks of one reply in their order; gives what may be shown at once, and in the end the whole."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._size = 0
        self._text_pairing = Pairing()
        self._reasoning_pairing = Pairing()
        self._tools = ToolDeltas()
        self._finish_reason = ""
        self._id = ""
        self._model = ""
        self._note = ""
        self._usage = Usage()

    def finished(self) -> bool:
        """Whether the model has said that it is done; only usage may still follow."""
        return bool(self._finish_reason)

    @property
    def empty(self) -> bool:
        return not self._text and not self._tools

    def add(self, chunk: object) -> Iterator[TextChunk | ReasoningChunk]:
        """Raises ModelError where the reply outgrows its limits."""
        if not isinstance(chunk, dict):
            return
        self._id = self._id or _text(chunk.get("id"))
        self._model = self._model or _text(chunk.get("model"))
        self._note = self._note or _text(chunk.get(STAND_IN_FIELD))[:_MAX_NOTE_CHARS]
        self._usage = _usage(chunk.get("usage")) or self._usage
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and choice.get("index") in (0, None):
                yield from self._choice(choice)

    def reply(self, model: str) -> ModelReply:
        """The whole reply; `model` where the server named none. Raises ModelError where it is cut, empty or useless."""
        text = "".join(self._text)
        requests = self._tools.requests()
        if not self.finished():
            started = "broke off" if text or requests else "was empty"
            raise ModelError(f"The model's reply {started}: the stream ended without a finish reason.", retryable=True)
        if not text.strip() and not requests:
            raise self._useless()
        return ModelReply(
            text=text,
            requests=requests,
            finish_reason=self._finish_reason,
            model=self._model or model,
            usage=self._usage,
            id=self._id,
            note=self._note,
        )

    def _choice(self, choice: dict[str, object]) -> Iterator[TextChunk | ReasoningChunk]:
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            message = choice.get("message")  # a reply that was not streamed, or a summary after the deltas
            delta = message if isinstance(message, dict) and self.empty else {}
        yield from self._delta(delta)
        self._finish_reason = _text(choice.get("finish_reason")) or self._finish_reason

    def _delta(self, delta: dict[str, object]) -> Iterator[TextChunk | ReasoningChunk]:
        thought = _text(delta.get("reasoning_content")) or _text(delta.get("reasoning"))
        reasoning = self._reasoning_pairing.feed(thought)
        if reasoning:
            self._grow(reasoning)
            yield ReasoningChunk(reasoning)
        text = self._text_pairing.feed(_content(delta.get("content")) or _text(delta.get("refusal")))
        if text:
            self._grow(text)
            self._text.append(text)
            yield TextChunk(text)
        calls = delta.get("tool_calls")
        for position, call in enumerate(calls if isinstance(calls, list) else [calls]):
            if isinstance(call, dict):
                self._tools.add(call, position)
        legacy = delta.get("function_call")
        if isinstance(legacy, dict):
            self._tools.add({"index": 0, "function": legacy}, 0)

    def _grow(self, text: str) -> None:
        self._size += len(text)
        if self._size > MAX_REPLY_CHARS:
            raise ModelError(f"The model's reply is longer than {MAX_REPLY_CHARS:,} characters; it was not read on.")

    def _useless(self) -> ModelError:
        if self._finish_reason in _LIMIT_WORDS:
            return ModelError("The model used up its output limit before it answered. Raise SKILLMESH_MAX_TOKENS.")
        if self._finish_reason == "content_filter":
            return ModelError("The model endpoint's content filter withheld the reply. Ask in other words.")
        return ModelError("The model's reply was empty.", retryable=True)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _content(value: object) -> str:
    """Text, or the text parts of a list of parts."""
    if isinstance(value, list):
        return "".join(_text(part.get("text")) for part in value if isinstance(part, dict))
    return _text(value)


def _usage(value: object) -> Usage | None:
    if not isinstance(value, dict):
        return None
    return Usage(_count(value.get("prompt_tokens")), _count(value.get("completion_tokens")))


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
