"""`skillmesh serve`: the core as a process of its own."""

from typing import Annotated

import typer


def serve(
    host: Annotated[str, typer.Option(help="Address to bind; default SKILLMESH_CORE_HOST or 127.0.0.1.")] = "",
    port: Annotated[
        int | None,
        typer.Option(help="Port; 0: a free one; default SKILLMESH_CORE_PORT or 7400.", min=0, max=65_535),
    ] = None,
) -> None:
    """Serve MeshService: how skills call skills, and how programs without a model use the mesh."""
    from agent_core.app.environment import load
    from agent_core.app.running import run
    from agent_core.app.serving import serve_core

    settings = load("INFO")
    changes: dict[str, object] = {}
    if host:
        changes["core_host"] = host
    if port is not None:
        changes["core_port"] = port
    run(serve_core(settings.model_copy(update=changes)))
