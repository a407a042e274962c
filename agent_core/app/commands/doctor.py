"""`skillmesh doctor`: what is wrong with this mesh, and what to do."""

from typing import Annotated

import typer


def doctor(
    json: Annotated[bool, typer.Option("--json", help="Print a JSON list of findings.")] = False,
) -> None:
    """Check registry, model, services, clocks and versions, and say what to do; exit 1 where something is wrong."""
    from agent_core.app.diagnosis import diagnose
    from agent_core.app.running import run

    code = run(diagnose(as_json=json))
    if code:
        raise SystemExit(code)
