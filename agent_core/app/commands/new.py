"""`skillmesh new`: a working skill service with its test."""

from pathlib import Path
from typing import Annotated

import typer


def new(
    name: Annotated[str, typer.Argument(help="The service's name: lower-case letters, digits and dashes.")],
    directory: Annotated[Path, typer.Option("--in", help="Where to make its folder.")] = Path(),
) -> None:
    """Write a working skill service with a test into a new folder."""
    from agent_core.app.scaffold import scaffold

    folder = scaffold(name, directory)
    typer.echo(f"Wrote {folder}. What next: see {folder / 'README.md'}.")
