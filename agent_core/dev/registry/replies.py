"""What all routes share: reading a request as Consul does, and answering with its headers."""

from collections.abc import Callable
from typing import Final

import orjson
from aiohttp import web

from agent_core.dev.loopback import Handler
from agent_core.dev.registry.blocking import Index, read_wait
from agent_core.dev.registry.refusals import RefusedError
from agent_core.dev.registry.registry import Registry

_TRUE: Final = ("", "1", "t", "T", "TRUE", "true", "True")
_FALSE: Final = ("0", "f", "F", "FALSE", "false", "False")


def answer(body: object, index: int | None = None, *, status: int = 200) -> web.Response:
    """JSON, with the index headers where it is a view."""
    headers = {} if index is None else index_headers(index)
    return web.Response(status=status, body=orjson.dumps(body), content_type="application/json", headers=headers)


def index_headers(index: int) -> dict[str, str]:
    return {
        "X-Consul-Index": str(max(1, index)),
        "X-Consul-KnownLeader": "true",
        "X-Consul-LastContact": "0",
        "X-Consul-Effective-Consistency": "leader",
    }


async def await_change(request: web.Request, registry: Registry, index: Index) -> None:
    """Where the request asks for it, wait until the view's index has moved. Raises RefusedError."""
    datacenter = request.query.get("dc", registry.state.node.datacenter)
    if datacenter != registry.state.node.datacenter:
        raise RefusedError(500, "No path to datacenter")
    since, seconds = read_wait(request.query)
    if since:
        await registry.waiters.wait(index, since, seconds)


async def view(request: web.Request, registry: Registry, index: Index, body: Callable[[], object]) -> web.Response:
    """A blocking view: `body` is made when it is answered."""
    await await_change(request, registry, index)
    return answer(body(), index())


async def read_json(request: web.Request) -> object:
    """The body; `{}` where there is none. Raises RefusedError."""
    data = await request.read()
    try:
        return orjson.loads(data) if data.strip() else {}
    except orjson.JSONDecodeError as error:
        raise RefusedError(400, f"Request decode failed: {error}") from None


def read_flag(request: web.Request, name: str) -> bool:
    """A query's boolean as Go reads it; present without a value is true. Raises RefusedError."""
    value = request.query.get(name)
    if value is None or value in _FALSE:
        return False
    if value not in _TRUE:
        raise RefusedError(400, f"Invalid value for ?{name}")
    return True


@web.middleware
async def plain_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Errors as Consul words them: a status and one line."""
    try:
        return await handler(request)
    except RefusedError as refused:
        return web.Response(status=refused.status, text=refused.text)
    except web.HTTPRequestEntityTooLarge as error:
        return web.Response(status=413, text=f"Request body too large: {error.text}")
    except web.HTTPMethodNotAllowed as error:
        allowed = ",".join(sorted(error.allowed_methods))
        return web.Response(status=405, text=f"method {request.method} not allowed", headers={"Allow": allowed})
    except web.HTTPNotFound:
        return web.Response(status=404, text=f"The development registry does not serve {request.path}; Consul may.")
