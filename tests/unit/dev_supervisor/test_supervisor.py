import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_core.dev.process_spec import ProcessSpec, ProcessState, ProcessStatus, StartError
from agent_core.dev.supervisor import Supervisor
from agent_core.domain.errors import ConfigError
from tests.support.processes import PATIENCE, alive, until


def script(name: str, code: str, **more: object) -> ProcessSpec:
    argv = [sys.executable, "-I", "-S", "-u", "-c", code]
    return ProcessSpec(name=name, argv=argv, **more)  # type: ignore[arg-type] # keywords of the spec, passed on


SLEEP = "import time; print('up'); time.sleep(600)"
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up'); time.sleep(600)"
FAMILY = (
    "import subprocess, sys, time; child = subprocess.Popen([sys.executable, '-I', '-S', '-c', "
    "'import time; time.sleep(600)']); print(child.pid); time.sleep(600)"
)


def said(directory: Path, name: str, text: str) -> Callable[[int], object]:
    """Ready once its log has this text."""

    async def ready(_pid: int) -> None:
        await until(lambda: text in (directory / f"{name}.log").read_text())

    return ready


async def test_all_run_while_it_is_entered_and_none_afterwards(tmp_path: Path) -> None:
    specs = [script("a", SLEEP), script("b", SLEEP)]
    async with Supervisor(specs, tmp_path) as supervisor:
        pids = [status.pid for status in supervisor.statuses]
        assert [status.state for status in supervisor.statuses] == [ProcessState.RUNNING] * 2
        assert all(alive(pid) for pid in pids)
        assert all(os.getpgid(pid) == pid for pid in pids)
    assert not any(alive(pid) for pid in pids)
    assert [status.state for status in supervisor.statuses] == [ProcessState.STOPPED] * 2


async def test_nothing_to_run_is_no_error(tmp_path: Path) -> None:
    async with Supervisor([], tmp_path) as supervisor:
        assert supervisor.statuses == ()


async def test_each_starts_once_what_it_needs_is_ready_and_ends_before_that(tmp_path: Path) -> None:
    seen: list[tuple[str, ProcessState]] = []
    specs = [
        script("last", SLEEP, needs=("middle",)),
        script("first", SLEEP, ready=said(tmp_path, "first", "up")),
        script("middle", SLEEP, needs=("first",), ready=said(tmp_path, "middle", "up")),
    ]
    async with Supervisor(specs, tmp_path, on_status=lambda status: seen.append((status.name, status.state))):
        pass
    running = [name for name, state in seen if state is ProcessState.RUNNING]
    stopped = [name for name, state in seen if state is ProcessState.STOPPED]
    assert running == ["first", "middle", "last"]
    assert stopped == ["last", "middle", "first"]
    assert seen.index(("first", ProcessState.RUNNING)) < seen.index(("middle", ProcessState.STARTING))


async def test_one_may_end_before_others_that_it_does_not_wait_for(tmp_path: Path) -> None:
    seen: list[tuple[str, ProcessState]] = []
    specs = [script("core", SLEEP, ends_before=("a", "b")), script("a", SLEEP), script("b", SLEEP)]
    async with Supervisor(specs, tmp_path, on_status=lambda status: seen.append((status.name, status.state))):
        pass
    assert next(name for name, state in seen if state is ProcessState.STOPPED) == "core"
    assert seen.index(("core", ProcessState.STOPPED)) < seen.index(("a", ProcessState.STOPPING))


async def test_what_does_not_need_one_another_starts_together(tmp_path: Path) -> None:
    barrier = asyncio.Barrier(3)

    async def ready(_pid: int) -> None:
        await barrier.wait()

    async with asyncio.timeout(PATIENCE), Supervisor([script(name, SLEEP, ready=ready) for name in "abc"], tmp_path):
        pass


async def test_one_that_ends_before_it_is_ready_is_named_with_its_last_words(tmp_path: Path) -> None:
    async def never(_pid: int) -> None:
        await asyncio.Event().wait()

    specs = [
        script("fine", SLEEP),
        script("broken", "print('no port left'); raise SystemExit(3)", ready=never, needs=("fine",)),
    ]
    supervisor = Supervisor(specs, tmp_path)
    with pytest.raises(StartError, match=r"broken ended with exit code 3 before it was ready") as caught:
        await supervisor.__aenter__()
    assert "  | no port left" in str(caught.value)
    assert str(tmp_path / "broken.log") in str(caught.value)
    assert [status.pid for status in supervisor.statuses] == [0, 0]


async def test_one_that_is_not_ready_in_time_is_named_and_ended(tmp_path: Path) -> None:
    pids: list[int] = []

    async def never(pid: int) -> None:
        pids.append(pid)
        await asyncio.Event().wait()

    with pytest.raises(StartError, match=r"slow was not ready after 0\.3 s"):
        async with Supervisor([script("slow", SLEEP, ready=never, ready_seconds=0.3)], tmp_path):
            raise AssertionError
    assert not alive(pids[0])


async def test_a_command_that_does_not_exist_is_named(tmp_path: Path) -> None:
    async def never(_pid: int) -> None:
        await asyncio.Event().wait()

    with pytest.raises(StartError, match=r"(?s)ghost ended with exit code 127.*cannot run /no/such/program"):
        async with Supervisor([ProcessSpec(name="ghost", argv=["/no/such/program"], ready=never)], tmp_path):
            raise AssertionError


async def test_a_readiness_question_that_fails_is_told_as_a_failed_start(tmp_path: Path) -> None:
    async def broken(_pid: int) -> None:
        raise ValueError("no such service")

    with pytest.raises(StartError, match="could not be asked whether it is ready: no such service"):
        async with Supervisor([script("a", SLEEP, ready=broken)], tmp_path):
            raise AssertionError


async def test_what_must_be_prepared_is_before_the_start_and_its_failure_is_told(tmp_path: Path) -> None:
    done: list[str] = []

    async def prepare() -> None:
        done.append("prepared")

    async def ready(_pid: int) -> None:
        done.append("ready")

    async with Supervisor([script("a", SLEEP, prepare=prepare, ready=ready)], tmp_path):
        assert done == ["prepared", "ready"]

    async def fails() -> None:
        raise OSError("disk full")

    with pytest.raises(StartError, match="a could not be prepared: disk full"):
        async with Supervisor([script("a", SLEEP, prepare=fails)], tmp_path):
            raise AssertionError


async def test_one_that_crashes_is_started_again_and_that_is_told(tmp_path: Path) -> None:
    seen: list[ProcessStatus] = []
    back = asyncio.Event()

    def hear(status: ProcessStatus) -> None:
        seen.append(status)
        if status.state is ProcessState.RUNNING and status.restarts == 2:
            back.set()

    async with Supervisor([script("a", SLEEP)], tmp_path, on_status=hear, first_backoff=0.02) as supervisor:
        first = supervisor.statuses[0].pid
        os.kill(first, signal.SIGKILL)
        await until(lambda: supervisor.statuses[0].restarts == 1 and supervisor.statuses[0].state == "running")
        second = supervisor.statuses[0].pid
        assert second not in (0, first)
        os.kill(second, signal.SIGKILL)
        await asyncio.wait_for(back.wait(), PATIENCE)
        third = supervisor.statuses[0].pid
    assert (ProcessState.RESTARTING, -signal.SIGKILL) in [(status.state, status.exit_code) for status in seen]
    assert not alive(third)


async def test_one_that_cannot_be_started_again_is_tried_ever_later_and_says_why(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    code = (
        f"import os, time; os.path.exists({str(marker)!r}) and os._exit(7); open({str(marker)!r}, 'w'); time.sleep(600)"
    )

    async def ready(_pid: int) -> None:
        await until(marker.exists)
        if (tmp_path / "again").exists():
            await asyncio.Event().wait()

    seen: list[ProcessStatus] = []
    spec = script("a", code, ready=ready)
    async with Supervisor([spec], tmp_path, on_status=seen.append, first_backoff=0.02) as supervisor:
        (tmp_path / "again").touch()
        os.kill(supervisor.statuses[0].pid, signal.SIGKILL)
        await until(lambda: supervisor.statuses[0].restarts >= 2)
    assert "ended with exit code 7 before it was ready" in [status.problem for status in seen]
    assert supervisor.statuses[0].state is ProcessState.STOPPED


async def test_one_that_ignores_the_request_to_end_is_killed_after_the_grace(tmp_path: Path) -> None:
    spec = script("a", STUBBORN, ready=said(tmp_path, "a", "up"))
    async with Supervisor([spec], tmp_path, grace=0.2) as supervisor:
        pid = supervisor.statuses[0].pid
    assert not alive(pid)
    assert supervisor.statuses[0].exit_code == -signal.SIGKILL


async def test_a_frozen_process_is_ended_too(tmp_path: Path) -> None:
    async with Supervisor([script("a", SLEEP)], tmp_path, grace=0.2) as supervisor:
        pid = supervisor.statuses[0].pid
        os.kill(pid, signal.SIGSTOP)
    assert not alive(pid)


async def test_what_a_process_started_goes_with_it(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    async with Supervisor([script("a", FAMILY)], tmp_path):
        await until(lambda: log.read_text().strip().isdigit())
        grandchild = int(log.read_text())
        assert alive(grandchild)
    await until(lambda: not alive(grandchild))


async def test_cancelling_the_start_leaves_nothing(tmp_path: Path) -> None:
    pids: list[int] = []
    asked = asyncio.Event()

    async def never(pid: int) -> None:
        pids.append(pid)
        if len(pids) == 2:
            asked.set()
        await asyncio.Event().wait()

    async def start() -> None:
        async with Supervisor([script("a", SLEEP, ready=never), script("b", STUBBORN, ready=never)], tmp_path):
            raise AssertionError

    task = asyncio.create_task(start())
    await asyncio.wait_for(asked.wait(), PATIENCE)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not any(alive(pid) for pid in pids)


async def test_a_second_interrupt_while_it_stops_kills_at_once(tmp_path: Path) -> None:
    pids: list[int] = []
    stopping = asyncio.Event()

    def hear(status: ProcessStatus) -> None:
        if status.state is ProcessState.STOPPING:
            stopping.set()

    async def run() -> None:
        spec = script("a", STUBBORN, ready=said(tmp_path, "a", "up"))
        async with Supervisor([spec], tmp_path, grace=60.0, on_status=hear) as supervisor:
            pids.append(supervisor.statuses[0].pid)

    task = asyncio.create_task(run())
    await asyncio.wait_for(stopping.wait(), PATIENCE)
    started = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - started < 5
    assert not alive(pids[0])


async def test_lines_are_logged_and_told(tmp_path: Path) -> None:
    lines: list[tuple[str, str]] = []
    code = "import sys, time; print('één'); print('two', file=sys.stderr); time.sleep(600)"
    async with Supervisor([script("a", code)], tmp_path, on_line=lambda *line: lines.append(line)):
        await until(lambda: len(lines) == 2)
    assert lines == [("a", "één"), ("a", "two")]
    log = tmp_path / "a.log"
    assert log.read_text() == "één\ntwo\n"
    assert log.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("specs", "sentence"),
    [
        ([script("a", SLEEP), script("a", SLEEP)], "a name of its own"),
        ([script("a", SLEEP, needs=("b",))], "a needs b, which is not among"),
        ([script("a", SLEEP, needs=("b",)), script("b", SLEEP, needs=("a",))], "in a circle"),
    ],
)
def test_needs_that_make_no_order_are_refused(tmp_path: Path, specs: list[ProcessSpec], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        Supervisor(specs, tmp_path)
