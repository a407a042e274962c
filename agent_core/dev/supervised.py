"""One supervised process: started, waited for, started again when it crashes, and ended for certain."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from agent_core.dev.process_log import ProcessLog
from agent_core.dev.process_spec import ProcessSpec, ProcessState, ProcessStatus, StartError

FIRST_BACKOFF_SECONDS: Final = 1.0
MAX_BACKOFF_SECONDS: Final = 30.0
STABLE_SECONDS: Final = 30.0
KILL_SECONDS: Final = 5.0
_LOG_END_SECONDS: Final = 1.0
_WRAPPER: Final = str(Path(__file__).with_name("orphanless.py"))

OnStatus = Callable[[ProcessStatus], None]


class Supervised:
    """`start`, then `run` until cancelled, then `stop`; in any state `stop` leaves no process behind."""

    def __init__(self, spec: ProcessSpec, log: ProcessLog, on_status: OnStatus, first_backoff: float) -> None:
        self.spec = spec
        self.log = log
        self.status = ProcessStatus(name=spec.name, state=ProcessState.WAITING, pid=0, log_path=log.path)
        self._on_status = on_status
        self._first_backoff = first_backoff
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._output: asyncio.ReadTransport | None = None

    async def start(self) -> None:
        """Start it and wait until it is ready. Raises StartError; the process is gone then."""
        self._say(replace(self.status, state=ProcessState.STARTING))
        try:
            await self._prepare()
            await self._wait_ready(await self._spawn())
        except BaseException:
            await self.stop(grace=0.0)
            raise
        self._say(replace(self.status, state=ProcessState.RUNNING))

    async def run(self) -> None:
        """While it is wanted: start it again when it ends by itself, ever later, up to 30 s."""
        backoff = self._first_backoff
        loop = asyncio.get_running_loop()
        while True:
            started = loop.time()
            if self._process is not None and self.status.state is ProcessState.RUNNING:
                await self._process.wait()
            await self._bury()
            if loop.time() - started >= STABLE_SECONDS:
                backoff = self._first_backoff
            self._say(replace(self.status, state=ProcessState.RESTARTING))
            await asyncio.sleep(backoff)
            backoff = min(2 * backoff, MAX_BACKOFF_SECONDS)
            self._say(replace(self.status, state=ProcessState.STARTING, restarts=self.status.restarts + 1))
            try:
                await self._wait_ready(await self._spawn())
            except StartError as error:
                self._say(replace(self.status, state=ProcessState.STARTING, problem=error.reason))
                continue
            self._say(replace(self.status, state=ProcessState.RUNNING, problem=""))

    async def stop(self, grace: float) -> None:
        """SIGTERM, `grace` seconds, then SIGKILL for it and all it started."""
        if self._process is not None and self._process.returncode is None:
            self._say(replace(self.status, state=ProcessState.STOPPING))
        await self._end(grace)
        if self.status.state is not ProcessState.WAITING:
            self._say(replace(self.status, state=ProcessState.STOPPED))
        self.log.close()

    def kill(self) -> None:
        """At once, without waiting for its end."""
        if self._process is not None:
            _signal(self._process.pid, signal.SIGKILL, group=True)

    async def _prepare(self) -> None:
        if self.spec.prepare is None:
            return
        try:
            async with asyncio.timeout(self.spec.ready_seconds):
                await self.spec.prepare()
        except (OSError, TimeoutError) as error:
            raise self._failed(f"could not be prepared: {str(error) or 'it took too long'}") from error

    async def _spawn(self) -> asyncio.subprocess.Process:
        environ = {**self.spec.env, "SKILLMESH_PARENT_PID": str(os.getpid())}
        output = await self._open_output()
        try:
            process = await asyncio.create_subprocess_exec(
                *_orphanless(self.spec.argv),
                env=environ,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise self._failed(f"could not be started: {error.strerror}") from error
        finally:
            os.close(output)
        self._process = process
        self._say(replace(self.status, pid=process.pid))
        return process

    async def _open_output(self) -> int:
        """A pipe whose other end goes to the log.

        With asyncio's own pipe, `wait` would not see the end of a process whose children live on.
        """
        ours, its = os.pipe()
        stream = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(ours, "rb")
        )
        self._output = transport
        self._reader = asyncio.create_task(self.log.follow(stream))
        return its

    async def _wait_ready(self, process: asyncio.subprocess.Process) -> None:
        ended = asyncio.ensure_future(process.wait())
        ready = asyncio.ensure_future(self._ready(process.pid))
        try:
            await asyncio.wait((ended, ready), timeout=self.spec.ready_seconds, return_when=asyncio.FIRST_COMPLETED)
            if ended.done():
                await asyncio.wait([self._reader] if self._reader else [ended], timeout=_LOG_END_SECONDS)
                raise self._failed(f"ended with exit code {process.returncode} before it was ready")
            if not ready.done():
                raise self._failed(f"was not ready after {self.spec.ready_seconds:g} s")
            try:
                ready.result()
            except Exception as error:
                raise self._failed(f"could not be asked whether it is ready: {error}") from error
        finally:
            for task in (ended, ready):
                task.cancel()
            await asyncio.gather(ended, ready, return_exceptions=True)

    async def _ready(self, pid: int) -> None:
        if self.spec.ready is not None:
            await self.spec.ready(pid)

    async def _end(self, grace: float) -> None:
        process = self._process
        if process is not None and process.returncode is None and grace > 0:
            _signal(process.pid, signal.SIGTERM, group=False)
            with suppress(TimeoutError):
                async with asyncio.timeout(grace):
                    await process.wait()
        await self._bury()

    async def _bury(self) -> None:
        """Kill what is left of its group, take note of how it ended, and read its last words."""
        process, reader = self._process, self._reader
        if process is not None:
            _signal(process.pid, signal.SIGKILL, group=True)
            with suppress(TimeoutError):
                async with asyncio.timeout(KILL_SECONDS):
                    await process.wait()
        if reader is not None:
            await asyncio.wait((reader,), timeout=_LOG_END_SECONDS)
            reader.cancel()
            await asyncio.gather(reader, return_exceptions=True)
        if self._output is not None:
            self._output.close()
        self._process = self._reader = self._output = None
        if process is not None:
            self._say(replace(self.status, pid=0, exit_code=process.returncode))

    def _failed(self, reason: str) -> StartError:
        return StartError(self.spec.name, reason, self.log.path, tuple(self.log.last_lines))

    def _say(self, status: ProcessStatus) -> None:
        if status != self.status:
            self.status = status
            self._on_status(status)


def _orphanless(argv: Sequence[str]) -> list[str]:
    return [sys.executable, "-I", "-S", _WRAPPER, str(os.getpid()), *argv]


def _signal(pid: int, number: signal.Signals, *, group: bool) -> None:
    """A process that has gone meanwhile needs no signal; a group may be there no more, or not yet ours."""
    with suppress(ProcessLookupError, PermissionError):
        if group:
            os.killpg(pid, number)
        else:
            os.kill(pid, number)
