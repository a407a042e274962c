"""`skillmesh call`: one skill through the whole call path, with no model."""

from typing import Annotated

import typer

from skillmesh.conventions import MAX_ARGUMENT_BYTES


def call(
    skill: Annotated[str, typer.Argument(help="The skill's name, as `skillmesh skills` lists it.")],
    arguments: Annotated[str, typer.Argument(help="The arguments as one JSON object; - reads them from stdin.")] = "{}",
    timeout: Annotated[float, typer.Option(help="Seconds for everything, retries included.", min=0.001)] = 30.0,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    trace: Annotated[bool, typer.Option("--trace", help="Print the trace tree after the result.")] = False,
) -> None:
    """Call one skill: validation, policy, cache, retries, breakers and trace as for a model's call."""
    import os
    import sys

    from agent_core.app.calling import call_once
    from agent_core.app.environment import load
    from agent_core.app.running import run

    data = sys.stdin.buffer.read(MAX_ARGUMENT_BYTES + 1) if arguments == "-" else os.fsencode(arguments)
    code = run(call_once(load(), skill, data, timeout=timeout, as_json=json, with_trace=trace))
    if code:
        raise SystemExit(code)
