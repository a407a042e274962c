"""What a docstring tells the model: the text before its sections, and the description of each parameter."""

import re
from dataclasses import dataclass
from inspect import cleandoc

from docstring_parser import parse

_WRAPPED_LINE = re.compile(r"(?<=\S)[ \t]*\n(?![ \t]*(\n|[-*•][ \t]|\d+[.)][ \t]))[ \t]*")


@dataclass(frozen=True, slots=True)
class Documentation:
    """`description` is empty where there is none; `parameters` is by name."""

    description: str
    parameters: dict[str, str]


def read_docstring(text: str | None) -> Documentation:
    """Google, NumPy, reST and Epydoc styles are understood; lines wrapped for the editor are joined again."""
    if not text or not text.strip():
        return Documentation("", {})
    parsed = parse(cleandoc(text))
    gap = "\n\n" if parsed.blank_after_short_description else "\n"
    description = gap.join(part for part in (parsed.short_description, parsed.long_description) if part)
    parameters = {
        meta.arg_name: _unwrapped(meta.description)
        for meta in parsed.params
        if meta.description and meta.args[0] != "attribute"
    }
    return Documentation(_unwrapped(description), parameters)


def _unwrapped(text: str) -> str:
    return _WRAPPED_LINE.sub(" ", text).strip()
