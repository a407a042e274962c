"""HTTP servers of the no-infrastructure mode: on loopback, deaf to pages that rebind a name to it, quick to stop."""

import ipaddress
from collections.abc import Awaitable, Callable
from typing import Final

from aiohttp import web

_STOP_SECONDS: Final = 0.3

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine's own."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@web.middleware
async def refuse_foreign_names(request: web.Request, handler: Handler) -> web.StreamResponse:
    """A browser page that points its own name at 127.0.0.1 sends that name as Host."""
    if not is_loopback(request.url.host or ""):
        return web.Response(status=403, text="Only requests to localhost are answered here.")
    return await handler(request)


class LoopbackServer:
    """One application on one port. `port` is what was bound, also where 0 was asked for."""

    def __init__(self, app: web.Application) -> None:
        # Without handler_cancellation a long poll goes on after its client has left; with auto_decompress a body that
        # is no gzip becomes a stack trace.
        self._runner = web.AppRunner(
            app, handler_cancellation=True, auto_decompress=False, access_log=None, shutdown_timeout=_STOP_SECONDS
        )
        self.port = 0

    async def start(self, host: str, port: int) -> None:
        """Raises OSError where the port is taken."""
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, host, port).start()
        except BaseException:
            await self._runner.cleanup()
            raise
        self.port = int(self._runner.addresses[0][1])

    async def stop(self) -> None:
        """Close the port and every connection; handlers that still run are cancelled after a moment."""
        await self._runner.cleanup()
