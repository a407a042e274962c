"""A conversation on the terminal, with a core in this process."""

import asyncio
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from agent_core.agent.loop import AgentLoop
from agent_core.agent.session import Session
from agent_core.app.asking import RunSummary, ask
from agent_core.app.console import RunView, wide_console
from agent_core.app.settings import CoreSettings
from agent_core.app.text import plain
from agent_core.app.tracing import traced_process
from agent_core.app.wiring import Core, open_core

_HELP = "/reset forgets what was said, /skills lists what is offered, /quit or Ctrl-D ends, Ctrl-C stops an answer."


async def chat_on(settings: CoreSettings, *, trace: bool) -> None:
    """`skillmesh chat`; a piped stdin is read line by line, without prompts."""
    view = RunView()
    async with (
        traced_process(settings, read_back=trace) as traces,
        open_core(settings, view.show, with_model=True) as core,
    ):
        if core.loop is None:
            raise AssertionError
        session = Session(time_zone=settings.time_zone)
        _say(f"{settings.model} with {len(core.catalogue.catalogue.skills)} skills. {_HELP}")
        while (line := await _read_line()) is not None:
            match line.strip():
                case "":
                    continue
                case "/quit":
                    break
                case "/reset":
                    session = Session(time_zone=settings.time_zone)
                    _say("Forgotten.")
                case "/skills":
                    _list(core)
                case question:
                    summary = await _answer(core.loop, question, session, view)
                    if trace and summary and summary.finished:
                        await traces.show(summary.finished.trace_id, wide_console())


async def _answer(loop: AgentLoop, question: str, session: Session, view: RunView) -> RunSummary | None:
    """One answer, which Ctrl-C stops without ending the chat; None where it did."""
    answering = asyncio.create_task(ask(loop, question, session, view.show))
    with _interrupted_by(answering):
        await asyncio.wait([answering])
    if answering.cancelled():
        _say("Stopped.")
        return None
    return answering.result()


@contextmanager
def _interrupted_by(task: "asyncio.Task[RunSummary]") -> Iterator[None]:
    """While the block runs, Ctrl-C cancels the task alone."""
    loop = asyncio.get_running_loop()
    before = signal.getsignal(signal.SIGINT)
    loop.add_signal_handler(signal.SIGINT, task.cancel)
    try:
        yield
    finally:
        task.cancel()  # does nothing where it has ended; where the chat itself is cancelled the run ends with it
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)


async def _read_line() -> str | None:
    """The next line of stdin; None at its end. A thread that dies with the process reads, as a terminal may never."""
    loop = asyncio.get_running_loop()
    line: asyncio.Future[str | None] = loop.create_future()

    def read() -> None:
        try:
            text = sys.stdin.readline()
        except (OSError, ValueError):
            text = ""
        loop.call_soon_threadsafe(_settle, line, text or None)

    if sys.stdin.isatty():
        sys.stderr.write("> ")
        sys.stderr.flush()
    Thread(target=read, daemon=True).start()
    return await line


def _settle(line: "asyncio.Future[str | None]", text: str | None) -> None:
    if not line.done():  # the chat may have been ended meanwhile
        line.set_result(text)


def _list(core: Core) -> None:
    for skill in core.catalogue.catalogue.skills.values():
        _say(f"{skill.name}: {skill.descriptor.description.partition('. ')[0]}")


def _say(sentence: str) -> None:
    sys.stderr.write(f"{plain(sentence)}\n")
