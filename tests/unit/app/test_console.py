import io

import pytest

from agent_core.app.console import RunView
from agent_core.app.text import one_line, plain
from agent_core.domain.events import (
    AttemptFailed,
    CallFinished,
    CallProgressed,
    CallStarted,
    FinishReason,
    ModelRetried,
    RunFinished,
    TextDelta,
    Usage,
    Warned,
)
from skillmesh.errors import ErrorKind


def finished(answer: str, detail: str = "") -> RunFinished:
    reason = FinishReason.ANSWERED if answer else FinishReason.DEADLINE
    return RunFinished(answer=answer, reason=reason, detail=detail, turns=1, usage=Usage(), seconds=0.1, trace_id="ab")


def test_terminal_escapes_are_taken_out_of_what_others_wrote() -> None:
    assert plain("a\x1b[31mred\x07\tb\nc\x9b") == "a[31mred\tb\nc"
    assert plain("safe\u202etxt.exe\u2066") == "safetxt.exe"
    assert one_line("a\nb   c" * 100, 10) == "a b ca b …"


def test_the_answer_is_printed_once_whether_streamed_or_not() -> None:
    for events in ([TextDelta(text="4"), TextDelta(text="2"), finished("42")], [finished("42")]):
        out = io.StringIO()
        view = RunView(out=out, quiet=True)
        for event in events:
            view.show(event)
        assert out.getvalue() == "42\n"


def test_calls_are_noted_beside_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    view = RunView()
    for event in (
        CallStarted(call_id="1", skill="add", arguments='{"a": [red]}'),
        AttemptFailed(call_id="1", attempt=1, instance="i", kind=ErrorKind.UNAVAILABLE, message="gone", retry_in=0.1),
        CallProgressed(call_id="1", fraction=0.5, message="half"),
        CallFinished(call_id="1", skill="add", status="success", text="3", seconds=0.01, instance="i"),
        CallFinished(call_id="2", skill="add", status="error", text="no\nway", seconds=0.01),
        CallFinished(call_id="3", skill="add", status="success", text="3", seconds=0.01, cached=True),
        ModelRetried(turn=1, message="429", wait=2),
        Warned(message="careful"),
        TextDelta(text="3"),
        finished("3"),
    ):
        view.show(event)
    shown = capsys.readouterr()
    assert shown.out == "3\n"
    for words in (
        '→ add {"a": [red]}',
        "gone; again in 0.1 s",
        "half (50%)",
        "✓ add 10.0 ms on i",
        "not sent: no way",
        "from the cache",
        "model: 429; again in 2.0 s",
        "warning: careful",
    ):
        assert words in shown.err


def test_a_run_without_an_answer_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    RunView().show(finished("", "The time was used up."))
    assert "No answer: The time was used up." in capsys.readouterr().err
