"""A real `consul agent -dev` for a test: free loopback ports, quiet, ready with a leader, gone afterwards."""

import asyncio
import os
import shutil
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import aiohttp

_READY_SECONDS = 20.0
_STOP_SECONDS = 5.0


def find_consul() -> Path | None:
    """The binary named by SKILLMESH_CONSUL_BIN, else the one on PATH; None where there is none."""
    named = os.environ.get("SKILLMESH_CONSUL_BIN")
    found = named if named and Path(named).is_file() else shutil.which("consul")
    return Path(found) if found else None


class ConsulAgent:
    """One agent on fixed ports. `stop` and `start` again is an agent that lost its data."""

    def __init__(self, binary: Path) -> None:
        self._binary = binary
        self._ports = dict(zip(("http", "server", "serf_lan"), _free_ports(3), strict=True))
        self._process: asyncio.subprocess.Process | None = None
        self.http_addr = f"127.0.0.1:{self._ports['http']}"
        self.url = f"http://{self.http_addr}"

    @property
    def pid(self) -> int:
        assert self._process is not None, "the agent does not run"
        return self._process.pid

    async def start(self) -> None:
        """Start and wait for a leader."""
        ports = ", ".join(f"{name} = {port}" for name, port in self._ports.items())
        self._process = await asyncio.create_subprocess_exec(
            str(self._binary), "agent", "-dev", "-bind=127.0.0.1", "-client=127.0.0.1", "-log-level=err",
            "-hcl", f"ports {{ {ports}, dns = -1, grpc = -1, serf_wan = -1 }}",
            "-hcl", "disable_update_check = true",
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL, stdin=asyncio.subprocess.DEVNULL,
        )  # fmt: skip  # options in pairs
        try:
            await self._wait_for_leader(self._process)
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Kill it (a frozen agent, too) and wait until it is gone."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            process.kill()
        await asyncio.wait_for(process.wait(), _STOP_SECONDS)

    async def get(self, path: str) -> object:
        """JSON answer of one request to the agent's HTTP API, such as `/v1/agent/services`."""
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as session,
            session.get(self.url + path) as reply,
        ):
            reply.raise_for_status()
            return await reply.json(content_type=None)

    async def put(self, path: str, body: object = None) -> None:
        """One PUT to the agent's HTTP API, such as a registration by hand."""
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as session,
            session.put(self.url + path, json=body) as reply,
        ):
            reply.raise_for_status()

    async def _wait_for_leader(self, process: asyncio.subprocess.Process) -> None:
        end = time.monotonic() + _READY_SECONDS
        while time.monotonic() < end:
            if process.returncode is not None:
                raise RuntimeError(f"consul ended with {process.returncode} before it was ready")
            with suppress(aiohttp.ClientError, TimeoutError):
                # The node is in the catalogue only once the leader has taken it up; before, services are not seen.
                if await self.get("/v1/status/leader") and await self.get("/v1/catalog/nodes"):
                    return
            await asyncio.sleep(0.05)
        raise RuntimeError(f"consul had no leader after {_READY_SECONDS:.0f} s")


@asynccontextmanager
async def consul_agent() -> AsyncIterator[ConsulAgent]:
    """A started agent; its process is gone at the end of the block."""
    binary = find_consul()
    if binary is None:
        raise RuntimeError("no consul binary: set SKILLMESH_CONSUL_BIN or put consul on PATH")
    agent = ConsulAgent(binary)
    await agent.start()
    try:
        yield agent
    finally:
        await agent.stop()


def _free_ports(count: int) -> list[int]:
    """Ports free for TCP now (serf wants UDP as well, which nearly always agrees)."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for sock in sockets:
            sock.bind(("127.0.0.1", 0))
        return [sock.getsockname()[1] for sock in sockets]
    finally:
        for sock in sockets:
            sock.close()
