"""What the model reads of a call: the result's own bytes where there is a result, else one clear sentence."""

from collections.abc import Iterator
from typing import Final, assert_never

from agent_core.agent.clip import clip
from agent_core.domain.call import BlobPart, JsonPart, LinkPart, Part, ResultStatus, SkillResult, TextPart
from agent_core.domain.errors import CallError

_NOTHING: Final = "The skill gave no output."
_TRUNCATED: Final = "[The skill left part of its result out for size; ask for less at once to see the rest.]"
_PREFIX: Final = {
    ResultStatus.SUCCESS: "",
    ResultStatus.FAILED: "The skill failed: ",
    ResultStatus.RETRYABLE: "The skill cannot do this now, as something that it needs is down; later it may: ",
}


def observe(outcome: SkillResult | CallError, limit: int) -> str:
    """Text for the model, never empty, of at most about `limit` bytes whoever made it and however large it was.

    Where a skill succeeded and gave only structured output, that is the text, byte for byte.
    """
    if isinstance(outcome, CallError):
        return clip(f"Error: {outcome.for_model}", limit)
    content = result_text(outcome, limit) or _NOTHING
    notes = [_TRUNCATED] if outcome.truncated else []
    return "\n".join([_PREFIX[outcome.status] + content, *notes])


def result_text(result: SkillResult, limit: int) -> str:
    """The result's content alone, clipped; what cannot be text is described."""
    if not result.parts:
        return clip(result.structured, limit)
    return clip("\n".join(_texts(result.parts)), limit)


def _texts(parts: tuple[Part, ...]) -> Iterator[str]:
    for part in parts:
        match part:
            case TextPart(text):
                yield text
            case JsonPart(data):
                yield data.decode("utf-8", "replace")
            case BlobPart(data, mime_type):
                yield f"[{mime_type or 'application/octet-stream'}, {len(data):,} bytes; it is passed to the user]"
            case LinkPart(uri, name, mime_type):
                described = ", ".join(filter(None, (name, mime_type)))
                yield f"[link: {uri}{f' ({described})' if described else ''}]"
            case _:
                assert_never(part)
