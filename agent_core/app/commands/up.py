"""`skillmesh up`: the whole mesh on this machine, with no infrastructure and no API key."""

from typing import Annotated

import typer


def up(
    ask: Annotated[str, typer.Option("--ask", help="Ask this question once the mesh is up.")] = "",
    sample: Annotated[bool, typer.Option("--sample", help="Ask a sample question once the mesh is up.")] = False,
    exit_: Annotated[bool, typer.Option("--exit", help="End after the answer instead of staying up.")] = False,
    services: Annotated[str, typer.Option(help="Bundled services to start, separated by commas; default: all.")] = "",
) -> None:
    """Start registry, bundled skill services, stand-in model and core on loopback; Ctrl-C ends them all."""
    from agent_core.app.running import run
    from agent_core.app.starting import SAMPLE_QUESTION, bring_up

    question = ask or (SAMPLE_QUESTION if sample else "")
    code = run(bring_up(question, stay=not exit_, services=services))
    if code:
        raise SystemExit(code)
