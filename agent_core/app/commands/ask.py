"""`skillmesh ask`: one question, answered by a core in this process."""

from typing import Annotated

import typer


def ask(
    question: Annotated[str, typer.Argument(help="The question, in quotes.")],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    events: Annotated[bool, typer.Option("--events", help="Print every event as a line of JSON.")] = False,
    trace: Annotated[bool, typer.Option("--trace", help="Print the trace tree after the answer.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the answer alone.")] = False,
) -> None:
    """Ask one question and print the answer."""
    from agent_core.app.asking import Output, ask_once
    from agent_core.app.environment import load
    from agent_core.app.running import run

    if not question.strip():
        raise typer.BadParameter("it is empty.", param_hint="QUESTION")
    output = Output(json=json, events=events, trace=trace, quiet=quiet)
    code = run(ask_once(load(), question, output))
    if code:
        raise SystemExit(code)
