"""What a person sees of a run: events as lines beside the answer. Untrusted text loses its terminal escapes here."""

import sys
from typing import TextIO

import orjson
from rich.console import Console

from agent_core.app.text import one_line, plain
from agent_core.domain.events import (
    AttemptFailed,
    CallFinished,
    CallProgressed,
    CallStarted,
    Event,
    ModelRetried,
    RunFinished,
    TextDelta,
    Warned,
)

_WIDE = 220


def wide_console(*, stderr: bool = False) -> Console:
    """A console for tables and trees: as wide as the terminal, and wide enough for them where there is none."""
    console = Console(stderr=stderr, highlight=False)
    return console if console.is_terminal else Console(stderr=stderr, highlight=False, width=_WIDE)


def write_json(value: object, *, indent: bool = True) -> None:
    option = orjson.OPT_APPEND_NEWLINE | (orjson.OPT_INDENT_2 if indent else 0)
    sys.stdout.buffer.write(orjson.dumps(value, default=str, option=option))
    sys.stdout.flush()


class RunView:
    """Prints a run: notes on stderr as they happen, the answer on stdout as it streams."""

    def __init__(self, *, quiet: bool = False, out: TextIO | None = None) -> None:
        self._out = out or sys.stdout
        self._notes = Console(stderr=True, quiet=quiet, highlight=False, soft_wrap=True)
        self._streamed = False

    def show(self, event: Event) -> None:
        match event:
            case TextDelta(text=text):
                self._out.write(plain(text))
                self._out.flush()
                self._streamed = True
            case RunFinished() as finished:
                self._finish(finished)
            case _:
                note = _note(event)
                if note:
                    self._break_line()
                    self._notes.print(note, style="dim", markup=False)

    def _finish(self, finished: RunFinished) -> None:
        if finished.answer and not self._streamed:
            self._out.write(plain(finished.answer))
            self._streamed = True
        self._break_line()
        if not finished.answer:
            self._notes.print(f"No answer: {plain(finished.detail)}", style="bold red", markup=False)

    def _break_line(self) -> None:
        if self._streamed:
            self._out.write("\n")
            self._out.flush()
            self._streamed = False


def _note(event: Event) -> str:
    match event:
        case CallStarted(skill=skill, arguments=arguments):
            return f"→ {skill} {one_line(arguments)}"
        case CallProgressed(fraction=fraction, message=message):
            return f"  … {one_line(message)}" + (f" ({fraction:.0%})" if fraction is not None else "")
        case AttemptFailed(attempt=attempt, message=message, retry_in=retry_in):
            then = f"; again in {retry_in:.1f} s" if retry_in is not None else ""
            return f"  attempt {attempt} failed: {one_line(message)}{then}"
        case CallFinished(skill=skill, status=status, seconds=seconds, instance=instance, cached=cached):
            mark = "✓" if status == "success" else "✗"
            where = "from the cache" if cached else f"on {instance}" if instance else "not sent"
            tail = "" if status == "success" else f": {one_line(event.text)}"
            return f"{mark} {skill} {seconds * 1000:.1f} ms {where}{tail}"
        case ModelRetried(message=message, wait=wait):
            return f"model: {one_line(message)}; again in {wait:.1f} s"
        case Warned(message=message):
            return f"warning: {one_line(message)}"
        case _:
            return ""
