"""The whole mesh on this machine: started, asked, shown, and ended without a trace."""

import os
import sys
import time
from collections.abc import Callable

from rich.console import Console

from agent_core.agent.session import Session
from agent_core.app import environment
from agent_core.app.asking import ask
from agent_core.app.console import RunView, wide_console
from agent_core.app.exits import Exit, complain
from agent_core.app.running import until_interrupted
from agent_core.app.settings import CoreSettings
from agent_core.app.tracing import traced_process
from agent_core.app.wiring import open_core
from agent_core.dev.mesh import LocalMesh, MeshOptions
from agent_core.dev.mesh_specs import BUNDLED_SERVICES
from agent_core.dev.process_spec import ProcessState, ProcessStatus

SAMPLE_QUESTION = "What is 2357 * 4821, and what time is it in Tokyo?"


async def bring_up(question: str, *, stay: bool, services: str) -> Exit:
    """`skillmesh up`. Raises ConfigError, StartError and RegistryError; nothing runs then."""
    notes = Console(stderr=True, highlight=False, soft_wrap=True)
    stand_in = not environment.load(join=False).model
    began = time.monotonic()
    chosen = tuple(name.strip() for name in services.split(",") if name.strip()) or BUNDLED_SERVICES
    options = MeshOptions(services=chosen, model=stand_in, core=True, publish=stay, on_status=_teller(notes))
    notes.print(f"Starting the mesh on loopback: {', '.join(chosen)} …", style="dim")
    async with LocalMesh(options) as mesh:
        os.environ.update(mesh.environ)
        settings = environment.load(join=False)
        notes.print(f"The mesh is up after {time.monotonic() - began:.1f} s; logs in {mesh.log_dir}", style="dim")
        _tell_model(notes, settings, stand_in=stand_in)
        code = await _ask_and_show(question, settings, notes) if question else Exit.OK
        if stay:
            _tell_next(notes, mesh)
            await until_interrupted()
            notes.print("Ending the mesh …", style="dim")
            return Exit.OK
    return code


async def _ask_and_show(question: str, settings: CoreSettings, notes: Console) -> Exit:
    view = RunView()
    notes.print(f"\n? {question}", style="bold", markup=False)
    async with (
        traced_process(settings, read_back=True) as traces,
        open_core(settings, view.show, with_model=True) as core,
    ):
        if core.loop is None:
            raise AssertionError
        summary = await ask(core.loop, question, Session(time_zone=settings.time_zone), view.show)
        if summary.finished:
            sys.stdout.write("\n")
            await traces.show(summary.finished.trace_id, wide_console())
    return summary.exit


def _tell_model(notes: Console, settings: CoreSettings, *, stand_in: bool) -> None:
    if not stand_in:
        notes.print(f"Model: {settings.model} at {settings.openai_base_url}", style="dim", markup=False)
        return
    notes.print(
        "Model: a stand-in without any weights, which routes questions to skills by their descriptions. For a real "
        "one set SKILLMESH_MODEL and OPENAI_API_KEY (OPENAI_BASE_URL for an endpoint that is not OpenAI's).",
        style="dim",
    )


def _tell_next(notes: Console, mesh: LocalMesh) -> None:
    if mesh.published:
        notes.print('\nIn another terminal: skillmesh ask "…" · chat · skills · trace · doctor', style="dim")
    else:
        complain("another mesh runs here already, and other terminals find that one. To use this one there, run first:")
        for name, value in mesh.environ.items():
            complain(f"export {name}='{value}'")
    notes.print("Ctrl-C ends the mesh.")


def _teller(notes: Console) -> Callable[[ProcessStatus], None]:
    def tell(status: ProcessStatus) -> None:
        if status.state is ProcessState.RESTARTING:
            notes.print(
                f"{status.name} ended (exit {status.exit_code}) and is started again; its log: {status.log_path}",
                style="yellow",
                markup=False,
            )

    return tell


def print_environment() -> Exit:
    """`skillmesh env`."""
    mesh = environment.join_running_mesh({})
    if mesh is None:
        complain("no mesh runs here: start one with `skillmesh up`.")
        return Exit.UNREACHABLE
    for name, value in mesh.environ.items():
        sys.stdout.write(f"export {name}='{value}'\n")
    return Exit.OK
