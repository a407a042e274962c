"""What a check of the mesh found, and how it is shown."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum

from rich.console import Console
from rich.markup import escape

from agent_core.app.console import write_json
from agent_core.app.text import plain


class Level(StrEnum):
    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


_MARKS = {Level.OK: "[green]✓[/]", Level.WARNING: "[yellow]![/]", Level.PROBLEM: "[red]✗[/]"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing checked: what was seen, and what to do about it (empty where nothing is to do)."""

    check: str
    level: Level
    seen: str
    advice: str = ""


def show(findings: Sequence[Finding], *, as_json: bool) -> None:
    """Print all findings, in order."""
    if as_json:
        write_json([asdict(finding) for finding in findings])
        return
    console = Console(highlight=False, soft_wrap=True)
    for finding in findings:
        console.print(f"{_MARKS[finding.level]} [bold]{finding.check}[/]: {escape(plain(finding.seen))}")
        if finding.advice:
            console.print(f"  → {escape(plain(finding.advice))}")
