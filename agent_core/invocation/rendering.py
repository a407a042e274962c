"""A result as the text that the model reads."""

from agent_core.domain.call import BlobPart, JsonPart, LinkPart, Part, SkillResult, TextPart


def result_text(result: SkillResult) -> str:
    """The content parts where there are any, else the structured value, byte for byte."""
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
            return f"[{mime_type}, {len(data)} bytes]"
        case LinkPart(uri, name, _):
            return f"[{name}]({uri})" if name else uri
