"""`skillmesh serve`: the core as a process of its own."""

from typing import Annotated

import typer


def serve(
    host: Annotated[str, typer.Option(help="Address to bind; default SKILLMESH_CORE_HOST or 127.0.0.1.")] = "",
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one; default SKILLMESH_CORE_PORT or 7400.")] = -1,
) -> None:
    """Serve MeshService: how skills call skills, and how programs without a model use the mesh."""
    from agent_core.app.environment import load
    from agent_core.app.running import run
    from agent_core.app.serving import serve_core

    settings = load("INFO")
    changes: dict[str, object] = {}
    if host:
        changes["core_host"] = host
    if port >= 0:
        changes["core_port"] = port
    run(serve_core(settings.model_copy(update=changes)))
