"""`skillmesh skills`: what is in the catalogue."""

from typing import Annotated

import typer

app = typer.Typer(help="List the skills of the mesh, or show one.", invoke_without_command=True)


@app.callback()
def skills(
    context: typer.Context,
    json: Annotated[bool, typer.Option("--json", help="Print a JSON list.")] = False,
) -> None:
    """List the skills of the mesh as the core sees them."""
    if context.invoked_subcommand is not None:
        return
    from agent_core.app.environment import load
    from agent_core.app.running import run
    from agent_core.app.skill_views import list_skills

    run(list_skills(load(), as_json=json))


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="The skill's name.")],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show all that one skill says of itself, where it runs, and why it cannot be used where that is so."""
    from agent_core.app.environment import load
    from agent_core.app.running import run
    from agent_core.app.skill_views import show_skill

    run(show_skill(load(), name, as_json=json))
