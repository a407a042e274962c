"""What a document shows, in a form to run: its fenced blocks.

The word after the fence says how: ```sh (a script that must succeed), ```sh background until: TEXT (left running,
and TEXT must appear), ```sh skip: REASON, ```python (a program of its own), ```python file: NAME (written first).
"""

import re
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(
    r"^```(?P<language>sh|python|toml|json)[ ]?(?P<how>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Shown:
    language: str
    how: str
    text: str
    line: int

    @property
    def until(self) -> str | None:
        """What a background command must print before the next block runs."""
        return self.how.partition("until: ")[2] if self.how.startswith("background") else None

    @property
    def file(self) -> str | None:
        return self.how.removeprefix("file: ") if self.how.startswith("file: ") else None

    @property
    def skipped(self) -> bool:
        return self.how.startswith("skip: ")


def shown_in(document: Path) -> list[Shown]:
    """The blocks of a Markdown file, in order."""
    source = document.read_text(encoding="utf-8")
    return [
        Shown(found["language"], found["how"].strip(), found["text"], source.count("\n", 0, found.start()) + 1)
        for found in _FENCE.finditer(source)
    ]
