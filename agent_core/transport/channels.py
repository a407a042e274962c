"""One gRPC channel per instance, kept open, made in the loop that uses it."""

import asyncio
from collections.abc import Set as AbstractSet

import grpc

from agent_core.domain.skill import Instance
from agent_core.transport.plain_grpc import open_channel
from skillmesh.conventions import MAX_MESSAGE_BYTES, client_options
from skillmesh.stubs import SkillServiceStub


class Line:
    """A channel to one target, its typed stub, and how many calls use it now."""

    __slots__ = ("_tasks", "channel", "closing", "in_flight", "leaving", "stub", "unary_only")

    def __init__(self, channel: grpc.aio.Channel, tasks: set[asyncio.Task[None]]) -> None:
        self._tasks = tasks
        self.channel = channel
        self.stub = SkillServiceStub(channel)
        self.in_flight = 0
        self.leaving = False
        self.closing: asyncio.Task[None] | None = None
        self.unary_only = False

    def leave(self) -> None:
        """Take no new calls; closed at once where none is under way."""
        self.leaving = True
        self._close_if_idle()

    def release(self) -> None:
        """One call has ended; the last one of a line that is to leave closes it."""
        self.in_flight -= 1
        self._close_if_idle()

    def _close_if_idle(self) -> None:
        if self.leaving and not self.in_flight and self.closing is None:
            self.closing = asyncio.ensure_future(self.channel.close())
            self._tasks.add(self.closing)  # the loop itself keeps no hold of a task
            self.closing.add_done_callback(self._tasks.discard)


class _OfLoop:
    """What belongs to one event loop: its lines by target, those that leave, and the channels that it is closing."""

    __slots__ = ("closing", "leaving", "lines")

    def __init__(self) -> None:
        self.lines: dict[str, Line] = {}
        self.leaving: set[Line] = set()
        self.closing: set[asyncio.Task[None]] = set()


class Channels:
    """Lines by target and running loop: a grpc.aio channel belongs to one loop, the core may outlive several."""

    def __init__(self, *, max_message_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self._options = client_options(max_message_bytes)
        self._loops: dict[asyncio.AbstractEventLoop, _OfLoop] = {}

    def line(self, instance: Instance) -> Line:
        """The instance's line in the running loop, one more call counted in; `release()` it afterwards."""
        here = self._here()
        line = here.lines.get(instance.target)
        if line is None:
            line = Line(open_channel(instance.target, self._options), here.closing)
            here.lines[instance.target] = line
        line.in_flight += 1
        return line

    def reachable(self, instance: Instance) -> bool:
        """False where the instance's channel has failed to connect and not recovered yet; never waits."""
        line = self._here().lines.get(instance.target)
        if line is None:
            return True
        return line.channel.get_state() is not grpc.ChannelConnectivity.TRANSIENT_FAILURE

    def unary_only(self, instance: Instance) -> bool:
        """Whether the instance is known not to serve InvokeStream."""
        line = self._here().lines.get(instance.target)
        return line is not None and line.unary_only

    def retain(self, targets: AbstractSet[str]) -> None:
        """Close the channels to every other target of this loop, each once its calls have ended."""
        here = self._here()
        here.leaving = {line for line in here.leaving if line.in_flight}
        for target in here.lines.keys() - targets:
            line = here.lines.pop(target)
            here.leaving.add(line)
            line.leave()

    async def close(self) -> None:
        """Close all channels of the running loop; calls under way on them fail."""
        here = self._loops.pop(asyncio.get_running_loop(), None)
        if here is not None:
            lines = (*here.lines.values(), *here.leaving)
            await asyncio.gather(*(line.channel.close() for line in lines), *here.closing)

    def _here(self) -> _OfLoop:
        loop = asyncio.get_running_loop()
        here = self._loops.get(loop)
        if here is None:
            for known in list(self._loops):
                if known.is_closed():
                    del self._loops[known]
            here = self._loops[loop] = _OfLoop()
        return here
