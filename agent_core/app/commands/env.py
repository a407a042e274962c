"""`skillmesh env`: the running mesh's addresses, for other programs."""

import typer


def env() -> None:
    """Print the running mesh's addresses as export lines: eval "$(skillmesh env)"."""
    from agent_core.app.starting import print_environment

    code = print_environment()
    if code:
        raise typer.Exit(code)
