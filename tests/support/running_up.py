"""`skillmesh` commands and a running `skillmesh up` as a user has them, with a state of their own."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PATIENCE_SECONDS = 60
_HIDDEN = ("CONSUL_", "OPENAI_", "SKILLMESH_", "OTEL_")


def environment(state: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment without anything that points to another mesh."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_HIDDEN)}
    return {**kept, "SKILLMESH_STATE_DIR": str(state), "PYTHONUNBUFFERED": "1", **(more or {})}


def skillmesh(
    *arguments: str, state: Path, more: Mapping[str, str] | None = None, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run one command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "agent_core.app.cli", *arguments],
        env=environment(state, more), input=stdin, capture_output=True, text=True, timeout=PATIENCE_SECONDS,
        check=False,
    )  # fmt: skip


@dataclass(slots=True)
class RunningUp:
    """A mesh that stays up; `log` is all that it prints."""

    process: subprocess.Popen[bytes]
    log: Path
    state: Path

    def printed(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def wait_for(self, text: str) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while text not in self.printed():
            assert self.process.poll() is None, self.printed()
            assert time.monotonic() < deadline, self.printed()
            time.sleep(0.05)

    def end(self, with_signal: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(with_signal)
        return self.process.wait(timeout=30)


@contextmanager
def running_up(state: Path, *arguments: str, more: Mapping[str, str] | None = None) -> Iterator[RunningUp]:
    """`skillmesh up`, once it is up; ended with the block where that has not ended it."""
    log = state / "up.log"
    state.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "agent_core.app.cli", "up", *arguments],
            env=environment(state, more), stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
    up = RunningUp(process, log, state)
    try:
        up.wait_for("Ctrl-C ends the mesh")
        yield up
    finally:
        if process.poll() is None:
            up.end()


def processes_of(state: Path) -> dict[int, str]:
    """Live processes that were started with this state directory, by pid (Linux)."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if f"SKILLMESH_STATE_DIR={state}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                    status = (entry / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
                    if status != "Z":
                        command = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                        found[int(entry.name)] = command.decode(errors="replace")
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
    return found
