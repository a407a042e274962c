"""A result as the text that the model reads."""

from typing import assert_never

from agent_core.domain.call import BlobPart, JsonPart, LinkPart, Part, SkillResult, TextPart


def result_text(result: SkillResult) -> str:
    """The content parts where there are any, what cannot be text described; else the structured value, as it came."""
    if not result.parts:
        return result.structured.decode(errors="replace")
    return "\n".join(_part_text(part) for part in result.parts)


def _part_text(part: Part) -> str:
    match part:
        case TextPart(text):
            return text
        case JsonPart(data):
            return data.decode(errors="replace")
        case BlobPart(data, mime_type):
            return f"[{mime_type or 'application/octet-stream'}, {len(data):,} bytes; it is passed to the user]"
        case LinkPart(uri, name, mime_type):
            described = ", ".join(filter(None, (name, mime_type)))
            return f"[link: {uri}{f' ({described})' if described else ''}]"
        case _:
            assert_never(part)
