"""Settings of a command: the environment, completed by the mesh that runs on this machine where there is one."""

import logging
import os
import sys
from collections.abc import Mapping, MutableMapping

from agent_core.app.settings import CoreSettings, load_settings
from agent_core.dev.state_file import RunningMesh, read_running

_LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s %(message)s"
_MODEL_VARIABLES = ("SKILLMESH_MODEL", "OPENAI_BASE_URL", "OPENAI_API_KEY")


def load(log_level: str = "ERROR", *, join: bool = True) -> CoreSettings:
    """The settings, those of a running mesh too if `join`; logging is set up by them, else at `log_level`.

    Raises ConfigError, a sentence per problem.
    """
    if join:
        join_running_mesh()
    settings = load_settings()
    logging.basicConfig(level=settings.log_level or log_level, format=_LOG_FORMAT, stream=sys.stderr)
    return settings


def join_running_mesh(environ: MutableMapping[str, str] = os.environ) -> RunningMesh | None:
    """Fill in the addresses of a running `skillmesh up`, unless a Consul is named; the mesh, where there is one."""
    if environ.get("CONSUL_HTTP_ADDR"):
        return None
    mesh = read_running()
    if mesh is not None:
        complete(environ, mesh.environ)
    return mesh


def complete(environ: MutableMapping[str, str], mesh: Mapping[str, str]) -> None:
    """Add a mesh's variables to an environment.

    The three of the model go together: where the user names a model none of the mesh's is taken, and where not, all
    are, so that a key meant for a real endpoint never goes to the stand-in.
    """
    for name in _MODEL_VARIABLES if not environ.get("SKILLMESH_MODEL") else ():
        if name in mesh:
            environ[name] = mesh[name]
    for name, value in mesh.items():
        if name not in _MODEL_VARIABLES and not environ.get(name):
            environ[name] = value


def described(environ: Mapping[str, str] = os.environ) -> str:
    """Where the settings come from, for people."""
    mesh = read_running()
    if mesh is not None and environ.get("CONSUL_HTTP_ADDR") == mesh.environ.get("CONSUL_HTTP_ADDR"):
        return f"of the mesh that `skillmesh up` runs here (pid {mesh.pid}, logs in {mesh.log_dir})"
    return "read from the environment" + (
        f" and {environ['SKILLMESH_CONFIG']}" if environ.get("SKILLMESH_CONFIG") else ""
    )
