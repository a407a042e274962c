"""`skillmesh trace`: the trace tree of a run."""

from typing import Annotated

import typer


def trace(
    run_id: Annotated[str, typer.Argument(help="The run's id or a trace id; none: the latest run.")] = "",
    json: Annotated[bool, typer.Option("--json", help="Print the spans as a JSON tree.")] = False,
) -> None:
    """Print the trace tree of a run, from the collector of a running `skillmesh up`."""
    from agent_core.app.environment import load
    from agent_core.app.running import run
    from agent_core.app.tracing import print_trace

    code = run(print_trace(load(), run_id, as_json=json))
    if code:
        raise SystemExit(code)
