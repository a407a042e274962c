"""Starts `tests.support.scripted_skill` as a real process, and sees to its end."""

import json
import select
import subprocess
import sys
from pathlib import Path
from types import TracebackType

from agent_core.domain.skill import Instance

_ROOT = Path(__file__).resolve().parents[2]
_START_SECONDS = 30.0


class ScriptedProcess:
    def __init__(self, process: subprocess.Popen[bytes], port: int, host: str) -> None:
        self._process = process
        self._host = host
        self.port = port

    @property
    def target(self) -> str:
        return f"ipv6:{self._host}:{self.port}" if ":" in self._host else f"ipv4:{self._host}:{self.port}"

    def instance(self, instance_id: str = "scripted-1") -> Instance:
        return Instance(instance_id, "scripted", self.target)

    def kill(self) -> None:
        """SIGKILL, and wait for the end."""
        self._process.kill()
        self._process.wait()

    def signal(self, number: int) -> None:
        self._process.send_signal(number)


class scripted_skill:  # noqa: N801  # used as a statement: `with scripted_skill("--no-stream") as process:`
    """A process with these arguments around the block, be it `with` or `async with`."""

    def __init__(self, *arguments: str, host: str = "127.0.0.1") -> None:
        self._command = (sys.executable, "-m", "tests.support.scripted_skill", "--host", host, *arguments)
        self._host = host

    def __enter__(self) -> ScriptedProcess:
        self._process = subprocess.Popen(self._command, cwd=_ROOT, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        readable, _, _ = select.select([self._process.stdout], [], [], _START_SECONDS)
        if not readable:
            self.__exit__(None, None, None)
            raise AssertionError(f"the scripted skill did not start within {_START_SECONDS:g} s")
        return ScriptedProcess(self._process, json.loads(self._process.stdout.readline())["port"], self._host)

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        with self._process:
            self._process.kill()

    async def __aenter__(self) -> ScriptedProcess:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, traceback)
