"""What of a conversation goes to the model: as much as fits, in whole pieces."""

from collections.abc import Sequence
from typing import Final

from agent_core.agent.clip import SMALLEST, clip
from agent_core.domain.model import AssistantMessage, Message, SystemMessage, ToolMessage, UserMessage

_MESSAGE_BYTES: Final = 16  # what a message costs beside its text
_Group = list[Message]


def size(messages: Sequence[Message]) -> int:
    """About how many bytes of UTF-8 the messages are."""
    return sum(_size(message) for message in messages)


def fit(messages: Sequence[Message], limit: int) -> tuple[Message, ...]:
    """The messages, cut to about `limit` bytes.

    The system prompt and the last question stay. What goes first is the oldest question with all that followed from
    it; then tool results of this question, the oldest first, are shortened; then its oldest calls go. A call and its
    replies are kept or dropped together, so the first message after the system prompt is never a reply.
    """
    if size(messages) <= limit:
        return tuple(messages)
    system = [message for message in messages if isinstance(message, SystemMessage)]
    spoken = [message for message in messages if not isinstance(message, SystemMessage)]
    *history, current = _split(spoken, UserMessage)
    room = limit - size(system) - size(current)
    while history and sum(map(size, history)) > room:
        del history[0]
    if not history:
        current = _shortened(current, limit - size(system))
    return (*system, *(message for exchange in history for message in exchange), *current)


def _split(messages: Sequence[Message], starts: type[Message]) -> list[_Group]:
    """Groups that each begin with a message of the type `starts`; what comes before the first is a group, too."""
    groups: list[_Group] = [[]]
    for message in messages:
        if isinstance(message, starts) and groups[-1]:
            groups.append([])
        groups[-1].append(message)
    return groups


def _shortened(current: _Group, limit: int) -> _Group:
    """The question, its calls and their replies, the replies shortened from the oldest on until they fit."""
    head = [message for message in current[:1] if isinstance(message, UserMessage)]
    groups = _split(current[len(head) :], AssistantMessage)
    for position in range(len(groups) - 1):
        if size(head) + sum(map(size, groups)) <= limit:
            break
        groups[position] = [_clipped(message, SMALLEST) for message in groups[position]]
    least = size(head) + size([_clipped(message, SMALLEST) for message in groups[-1]])
    while len(groups) > 1 and least + sum(map(size, groups[:-1])) > limit:
        del groups[0]
    excess = size(head) + sum(map(size, groups)) - limit
    if excess > 0:
        groups[-1] = _clipped_evenly(groups[-1], excess)
    return [*head, *(message for group in groups for message in group)]


def _clipped_evenly(group: _Group, excess: int) -> _Group:
    replies = [message for message in group if isinstance(message, ToolMessage)]
    if not replies:
        return group
    share = max((size(replies) - excess) // len(replies) - _MESSAGE_BYTES, SMALLEST)
    return [_clipped(message, share) for message in group]


def _clipped(message: Message, limit: int) -> Message:
    if isinstance(message, ToolMessage):
        return ToolMessage(message.request_id, clip(message.text, limit))
    return message


def _size(message: Message) -> int:
    total = _MESSAGE_BYTES + _bytes(message.text)
    if isinstance(message, AssistantMessage):
        total += sum(_MESSAGE_BYTES + _bytes(request.name) + _bytes(request.arguments) for request in message.requests)
    return total


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
