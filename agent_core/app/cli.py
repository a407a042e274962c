"""The `skillmesh` command. Starting it imports typer and rich alone; each command imports what it runs with."""

import os
import sys
from typing import Annotated

import typer

from agent_core.app.commands import ask, call, chat, doctor, env, new, serve, skills, trace, up
from agent_core.app.exits import Exit, guarded
from agent_core.app.streams import open_missing_streams
from skillmesh import __version__

app = typer.Typer(
    name="skillmesh",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done; 1 no result; 2 wrong usage or setting; 3 registry or model of no use; 130 Ctrl-C.",
)


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,  # noqa: FBT002 - typer reads the default here
) -> None:
    """Skills for LLM agents as independently deployed services: found, guarded and traced."""
    if version:
        typer.echo(f"skillmesh {__version__}")
        raise typer.Exit(Exit.OK)


app.command()(up.up)
app.command()(serve.serve)
app.command()(ask.ask)
app.command()(chat.chat)
app.add_typer(skills.app, name="skills")
app.command()(call.call)
app.command()(trace.trace)
app.command()(doctor.doctor)
app.command()(new.new)
app.command()(env.env)


def main() -> None:
    """Entry point."""
    open_missing_streams()
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # its C core prints what we say ourselves; read at its import
    sys.exit(guarded(app))


if __name__ == "__main__":
    main()
