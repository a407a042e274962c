"""Runs a command that dies with its supervisor, however that dies: `orphanless.py SUPERVISOR_PID COMMAND...`.

Started as a script, so that it imports next to nothing, and replaced by the command, which keeps its process id. On
Linux the kernel kills the command when the supervisor's thread that started it ends (prctl(2), PR_SET_PDEATHSIG);
elsewhere, or with `--watch` before the process id, a small process beside it looks out for the supervisor's end.
"""

import ctypes
import os
import signal
import sys
import time

_PR_SET_PDEATHSIG = 1
_POLL_SECONDS = 0.5


def main(arguments: list[str]) -> int:
    """Does not return where the command can be run; 127 otherwise, as a shell."""
    watch = arguments[:1] == ["--watch"] or sys.platform != "linux"
    if arguments[:1] == ["--watch"]:
        arguments = arguments[1:]
    supervisor, command = int(arguments[0]), arguments[1:]
    if watch:
        _watch_beside(supervisor)
    else:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != supervisor:  # it ended before we could ask
        return 1
    try:
        os.execvp(command[0], command)  # noqa: S606 - no shell is wanted
    except OSError as error:
        sys.stderr.write(f"cannot run {command[0]}: {error.strerror}\n")
        return 127


def _watch_beside(supervisor: int) -> None:
    """Leave a process that kills our group once the supervisor is gone, and ends with us."""
    command = os.getpid()
    if os.fork():
        return
    while os.getppid() == command:
        if not _alive(supervisor):
            os.killpg(os.getpgid(command), signal.SIGKILL)
        time.sleep(_POLL_SECONDS)
    os._exit(0)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
