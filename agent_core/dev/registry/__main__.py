"""`python -m agent_core.dev.registry --port N`: run a development registry until SIGTERM or SIGINT."""

import argparse
import asyncio
import importlib
import logging
import signal
import sys
from collections.abc import Sequence

from agent_core.dev.loopback import is_loopback
from agent_core.dev.registry.server import RegistryServer

_log = logging.getLogger("skillmesh.registry")


async def _probe(target: str, service: str, *, timeout: float, tls: bool) -> tuple[bool, str]:
    from skillmesh.probe import serving  # gRPC takes longer to import than the rest takes to start

    return await serving(target, service, timeout=timeout, tls=tls)


async def serve(host: str, port: int, *, force: bool) -> None:
    """Serve until told to stop. Raises OSError where the port is taken."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with RegistryServer(_probe, host=host, port=port, any_name=force) as server:
        _log.info("development registry on http://%s:%d (in memory; production is real Consul)", host, server.port)
        warm = asyncio.create_task(asyncio.to_thread(importlib.import_module, "skillmesh.probe"))
        await stop.wait()
        warm.cancel()


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0 told to stop, 1 could not start, 2 wrong usage."""
    parser = argparse.ArgumentParser(prog="python -m agent_core.dev.registry", description=__doc__)
    parser.add_argument("--port", type=int, required=True, help="0 takes a free one")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--force", action="store_true", help="listen beyond this machine, without any access control")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    if not is_loopback(options.host) and not options.force:
        _log.error("%s is not loopback and this registry has no access control; --force listens anyway", options.host)
        return 2
    try:
        asyncio.run(serve(options.host, options.port, force=options.force))
    except OSError as error:
        _log.error("cannot listen on %s:%d: %s", options.host, options.port, error.strerror or error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
