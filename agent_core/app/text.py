"""Text that others wrote, made fit for a terminal."""

import re

# C0 and C1 controls but for line feed and tab, and the bidirectional overrides of Unicode TR 9, by which a line can
# be shown as what it is not.
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_MAX_LINE = 160


def plain(text: str) -> str:
    """The text without what could command the terminal; line feeds and tabs stay."""
    return _UNFIT.sub("", text)


def one_line(text: str, limit: int = _MAX_LINE) -> str:
    """The text on one line of at most `limit` characters."""
    line = " ".join(plain(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
