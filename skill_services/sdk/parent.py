"""Ends a process whose supervisor is gone, so that nothing outlives a `skillmesh up` that was killed.

Polls instead of prctl(PR_SET_PDEATHSIG): that signal comes when the parent's *thread* ends, exists on Linux only, and
does not reach through a shell between the two.
"""

import asyncio
import os
import sys
from typing import Final

_POLL_SECONDS: Final = 1.0


class ParentWatch:
    """Make it as early as possible: it must see its parent alive once."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._child = os.getppid() == pid

    def alive(self) -> bool:
        if self._child:  # holds for a zombie parent as well, and is safe from a reused pid
            return os.getppid() == self._pid
        try:
            os.kill(self._pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True

    async def gone(self) -> None:
        """Return once the parent is gone. On Windows never: signal 0 would be sent there as Ctrl-C."""
        while sys.platform == "win32" or self.alive():  # noqa: ASYNC110  # nothing tells of another process's end
            await asyncio.sleep(_POLL_SECONDS)
