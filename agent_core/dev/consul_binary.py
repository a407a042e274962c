"""The real Consul agent, where there is a binary: found, asked for its version, and told how to run."""

import asyncio
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agent_core.domain.errors import ConfigError

CONSUL_VARIABLE: Final = "SKILLMESH_CONSUL_BIN"
_VERSION_SECONDS: Final = 5.0
_FIRST_WITH_GRPC_TLS: Final = (1, 14)


def find_consul(environ: Mapping[str, str]) -> Path | None:
    """The binary that SKILLMESH_CONSUL_BIN names, or the one on PATH. Raises ConfigError where the name is wrong."""
    if named := environ.get(CONSUL_VARIABLE):
        found = shutil.which(named)
        if found is None:
            raise ConfigError(f"{CONSUL_VARIABLE} names {named}, which is no program that can be run.")
    else:
        found = shutil.which("consul", path=environ.get("PATH"))
    return Path(found) if found else None


async def consul_command(binary: Path, ports: tuple[int, int, int]) -> list[str]:
    """Arguments of an agent in memory on loopback; `ports` are for HTTP, servers and gossip."""
    http, server, gossip = ports
    config = f"http = {http}, server = {server}, serf_lan = {gossip}, serf_wan = -1, dns = -1, grpc = -1"
    if await _version(binary) >= _FIRST_WITH_GRPC_TLS:
        config += ", grpc_tls = -1"
    return [
        *(str(binary), "agent", "-dev", "-bind=127.0.0.1", "-client=127.0.0.1", "-log-level=warn"),
        *("-hcl", f"ports {{ {config} }}", "-hcl", "disable_update_check = true"),
    ]


async def _version(binary: Path) -> tuple[int, int]:
    """Raises ConfigError where the binary does not say."""
    try:
        process = await asyncio.create_subprocess_exec(
            str(binary), "version", stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE
        )
    except OSError as error:
        raise ConfigError(f"{binary} cannot be run: {error.strerror}.") from error
    try:
        async with asyncio.timeout(_VERSION_SECONDS):
            output, _ = await process.communicate()
    except BaseException as error:
        process.kill()
        await process.wait()
        if isinstance(error, TimeoutError):
            raise ConfigError(f"{binary} did not tell its version within {_VERSION_SECONDS:g} s.") from error
        raise
    found = re.search(rb"v(\d+)\.(\d+)", output)
    if found is None:
        raise ConfigError(f"{binary} is no Consul: it did not tell its version.")
    return int(found[1]), int(found[2])
