"""The HTTP under py-consul: aiohttp with a bounded pool and a bounded body.

py-consul's own adapter builds a TLS context even for plain http, reads answers of any size, and passes arguments
that aiohttp has deprecated, which makes it fail where warnings are errors.
"""

import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import aiohttp
from consul import base

from agent_core.discovery.settings import ConsulAddress
from agent_core.domain.errors import RegistryError

MAX_BODY_BYTES = 64 * 1024 * 1024
_CHUNK_BYTES = 64 * 1024
_CONNECT_SECONDS = 5.0

Callback = Callable[[Any], Any]
Parameters = Sequence[tuple[str, object]]


class HttpAdapter(base.HTTPClient):  # type: ignore[misc]  # py-consul ships no types
    """What py-consul asks of an HTTP client; time limits are the caller's.

    `polls`: for long polls, whose lost connection is an error. aiohttp would send the query again unseen, index and
    all, to a Consul that may have restarted and counts from 1 again: it would wait there and miss every change.
    """

    def __init__(self, address: ConsulAddress, *, connections: int, tls: ssl.SSLContext | None, polls: bool) -> None:
        super().__init__(address.host, address.port, address.scheme)
        self.base_uri = address.url
        connector = aiohttp.TCPConnector(limit=connections, ssl=tls if tls is not None else True)
        self._session = aiohttp.ClientSession(
            connector=connector,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS),
            cookie_jar=aiohttp.DummyCookieJar(),
            middlewares=(_sent_once,) if polls else (),
        )

    async def get(
        self,
        callback: Callback,
        path: str,
        params: Parameters | None = None,
        headers: Mapping[str, str] | None = None,
        **_options: object,
    ) -> Any:  # noqa: ANN401  # what the callback returns
        return await self._request(callback, "GET", self.uri(path, params), headers)

    async def put(
        self,
        callback: Callback,
        path: str,
        params: Parameters | None = None,
        data: str | bytes = "",
        headers: Mapping[str, str] | None = None,
        **_options: object,
    ) -> Any:  # noqa: ANN401
        return await self._request(callback, "PUT", self.uri(path, params), headers, data)

    # The base class demands these two; nothing that discovery asks of Consul uses them.
    async def post(self, *_arguments: object, **_options: object) -> Any:  # noqa: ANN401
        raise NotImplementedError

    async def delete(self, *_arguments: object, **_options: object) -> Any:  # noqa: ANN401
        raise NotImplementedError

    async def close(self) -> None:
        await self._session.close()

    async def _request(
        self, callback: Callback, method: str, uri: str, headers: Mapping[str, str] | None, data: str | bytes = ""
    ) -> Any:  # noqa: ANN401
        # Redirects are not followed: Consul sends none, and the token would go with them.
        async with self._session.request(
            method, uri, headers=headers, data=data or None, allow_redirects=False
        ) as reply:
            body = await _read(reply)
            return callback(base.Response(reply.status, reply.headers, body.decode(errors="replace")))


class Consul(base.Consul):  # type: ignore[misc]  # py-consul ships no types
    """py-consul's client on the adapter above; needs a running event loop."""

    def __init__(
        self, address: ConsulAddress, token: str, *, connections: int, tls: ssl.SSLContext | None, polls: bool
    ) -> None:
        self._address, self._connections, self._tls, self._polls = address, connections, tls, polls
        super().__init__(host=address.host, port=address.port, scheme=address.scheme, verify=False)
        self.token = token or None  # py-consul prefers the environment's token to the one it is given

    def http_connect(self, *_arguments: object, **_options: object) -> HttpAdapter:
        return HttpAdapter(self._address, connections=self._connections, tls=self._tls, polls=self._polls)

    async def close(self) -> None:
        await self.http.close()


async def _sent_once(
    request: aiohttp.ClientRequest, send: Callable[[aiohttp.ClientRequest], Awaitable[aiohttp.ClientResponse]]
) -> aiohttp.ClientResponse:
    """Turns the errors on which aiohttp sends a request again into one on which it does not."""
    try:
        return await send(request)
    except aiohttp.ClientConnectorError:  # never sent, never sent again
        raise
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        message = "the connection was lost"
        raise aiohttp.ClientConnectionError(message) from error


async def _read(reply: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for chunk in reply.content.iter_chunked(_CHUNK_BYTES):
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            message = f"Consul's answer is larger than {MAX_BODY_BYTES // 1024 // 1024} MiB: is this a Consul?"
            raise RegistryError(message)
    return bytes(body)
