"""`skillmesh chat`: a conversation, answered by a core in this process."""

from typing import Annotated

import typer


def chat(
    trace: Annotated[bool, typer.Option("--trace", help="Print the trace tree after each answer.")] = False,
) -> None:
    """Talk with the mesh; /reset forgets, /skills lists, /quit or Ctrl-D ends, Ctrl-C stops an answer."""
    from agent_core.app.chatting import chat_on
    from agent_core.app.environment import load
    from agent_core.app.running import run

    run(chat_on(load(), trace=trace))
