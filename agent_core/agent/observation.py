"""What the model reads of a call: the result's own bytes where there is a result, else one clear sentence."""

from typing import Final

from agent_core.agent.clip import clip
from agent_core.domain.call import ResultStatus, SkillResult
from agent_core.domain.errors import CallError
from agent_core.invocation import rendering

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
    return clip(rendering.result_text(result) if result.parts else result.structured, limit)
