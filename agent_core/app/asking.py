"""One question to a core in this process."""

from contextlib import aclosing, suppress
from dataclasses import dataclass, field

from agent_core.agent.loop import AgentLoop
from agent_core.agent.session import Session
from agent_core.app.console import RunView, wide_console, write_json
from agent_core.app.exits import Exit
from agent_core.app.settings import CoreSettings
from agent_core.app.tracing import traced_process
from agent_core.app.wiring import open_core
from agent_core.domain.events import CallFinished, Event, FinishReason, RunFinished
from agent_core.domain.ports import Emit


@dataclass(frozen=True, slots=True)
class Output:
    """What to print of a run."""

    json: bool = False
    events: bool = False
    trace: bool = False
    quiet: bool = False


@dataclass(slots=True)
class RunSummary:
    """What a finished run comes to."""

    calls: list[CallFinished] = field(default_factory=list)
    finished: RunFinished | None = None

    def add(self, event: Event) -> None:
        if isinstance(event, CallFinished):
            self.calls.append(event)
        elif isinstance(event, RunFinished):
            self.finished = event

    @property
    def exit(self) -> Exit:
        """UNREACHABLE where the model endpoint gave no usable reply."""
        if self.finished is not None and self.finished.reason is FinishReason.MODEL_FAILED:
            return Exit.UNREACHABLE
        if self.finished is None or self.finished.reason is not FinishReason.ANSWERED:
            return Exit.NO_RESULT
        return Exit.OK

    def to_dict(self) -> dict[str, object]:
        run = self.finished.to_dict() if self.finished else {}
        run.pop("event", None)
        calls = [call.to_dict() for call in self.calls]
        for call in calls:
            call.pop("event")
            call.pop("run_id")
        return {**run, "calls": calls}


async def ask_once(settings: CoreSettings, question: str, output: Output) -> Exit:
    """`skillmesh ask`."""
    show = shower(output)
    async with (
        traced_process(settings, read_back=output.trace) as traces,
        open_core(settings, _besides(show), with_model=True) as core,
    ):
        if core.loop is None:
            raise AssertionError
        summary = await ask(core.loop, question, Session(time_zone=settings.time_zone), show)
        if output.json:
            write_json(summary.to_dict())
        if output.trace and summary.finished:
            await traces.show(summary.finished.trace_id, wide_console(stderr=output.json or output.events))
    return summary.exit


async def ask(loop: AgentLoop, question: str, session: Session, show: Emit) -> RunSummary:
    """Run one question to its end, showing each event; cancelling it ends the run."""
    summary = RunSummary()
    async with aclosing(loop.run(question, session=session)) as events:
        async for event in events:
            show(event)
            summary.add(event)
    return summary


def _besides(show: Emit) -> Emit:
    """For events of the mesh, which come from its callbacks: a reader that has left is noticed by the run itself."""

    def emit(event: Event) -> None:
        with suppress(BrokenPipeError):
            show(event)

    return emit


def shower(output: Output) -> Emit:
    """How events are shown: as JSON lines, not at all, or for a person."""
    if output.events:
        return lambda event: write_json(event.to_dict(), indent=False)
    if output.json:
        return lambda _event: None
    return RunView(quiet=output.quiet).show
