"""What the supervisor is asked to run, and what it says of what runs."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from agent_core.domain.errors import SkillmeshError

Ready = Callable[[int], Awaitable[None]]
"""Returns once the process with this id is ready; it is cancelled where that takes too long."""


class ProcessState(StrEnum):
    WAITING = "waiting"
    STARTING = "starting"
    RUNNING = "running"
    RESTARTING = "restarting"
    STOPPING = "stopping"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessSpec:
    """One process. `env` is all of its environment; `needs` names those that must be ready before it starts.

    In the end it goes before those that it needs, and before those that `ends_before` names.
    `prepare` is awaited once before its first start. `ready_seconds` bounds that, and each wait for `ready`; without
    `ready` it counts as ready once it runs.
    """

    name: str
    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    ready: Ready | None = None
    ready_seconds: float = 30.0
    needs: tuple[str, ...] = ()
    ends_before: tuple[str, ...] = ()
    prepare: Callable[[], Awaitable[None]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessStatus:
    """How one process stands.

    `pid` is 0 while there is none; `exit_code` is that of its last end, as Python has it; `problem` says why the last
    start failed.
    """

    name: str
    state: ProcessState
    pid: int
    log_path: Path
    restarts: int = 0
    exit_code: int | None = None
    problem: str = ""


class StartError(SkillmeshError):
    """A process did not become ready; the message names it and shows where and how its log ends."""

    def __init__(self, name: str, reason: str, log_path: Path, last_lines: Sequence[str]) -> None:
        shown = "\n".join(f"  | {line}" for line in last_lines) or "  (nothing)"
        super().__init__(f"{name} {reason}. Its log, {log_path}, ends with:\n{shown}")
        self.name = name
        self.reason = reason
        self.log_path = log_path
