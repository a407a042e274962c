"""/v1/kv and /v1/session: keys, locks, and the sessions that hold them."""

from aiohttp import web

from agent_core.dev.registry import views
from agent_core.dev.registry.blocking import Index
from agent_core.dev.registry.kv import MAX_KEY_CHARS, MAX_VALUE_BYTES
from agent_core.dev.registry.refusals import RefusedError
from agent_core.dev.registry.registry import Registry
from agent_core.dev.registry.replies import answer, await_change, index_headers, read_json, view

_MAX_UINT64 = 2**64 - 1


class KeyRoutes:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._keys = registry.keys

    def all(self) -> list[web.RouteDef]:
        return [
            web.get("/v1/kv/{key:.*}", self._get),
            web.put("/v1/kv/{key:.*}", self._put),
            web.delete("/v1/kv/{key:.*}", self._delete),
        ]

    async def _get(self, request: web.Request) -> web.Response:
        key = request.match_info["key"]
        if "keys" in request.query:
            return await self._get_names(request, key)
        if "recurse" in request.query:
            return await self._get_under(request, key)
        key = _key(request)

        def index() -> int:
            return self._keys.index_of(key)

        await await_change(request, self._registry, index)
        entry = self._keys.get(key)
        if entry is None:
            return _missing(index)
        if "raw" in request.query:
            headers = {**index_headers(index()), "X-Content-Type-Options": "nosniff"}
            return web.Response(body=entry.value, content_type="text/plain", headers=headers)
        return answer([views.key(entry)], index())

    async def _get_under(self, request: web.Request, prefix: str) -> web.Response:
        def index() -> int:
            return self._keys.index_under(prefix)

        await await_change(request, self._registry, index)
        entries = self._keys.under(prefix)
        return answer([views.key(entry) for entry in entries], index()) if entries else _missing(index)

    async def _get_names(self, request: web.Request, prefix: str) -> web.Response:
        separator = request.query.get("separator", "")

        def index() -> int:
            return self._keys.index_under(prefix)

        await await_change(request, self._registry, index)
        names: dict[str, None] = {}
        for entry in self._keys.under(prefix):
            end = entry.key.find(separator, len(prefix)) if separator else -1
            names[entry.key if end < 0 else entry.key[: end + len(separator)]] = None
        return answer(list(names), index()) if names else _missing(index)

    async def _put(self, request: web.Request) -> web.Response:
        key = _key(request)
        if (request.content_length or 0) > MAX_VALUE_BYTES:
            raise _too_large(request.content_length or 0)
        value = await request.read()
        if len(value) > MAX_VALUE_BYTES:
            raise _too_large(len(value))
        query = request.query
        chosen = [name for name in ("cas", "acquire", "release") if name in query]
        if len(chosen) > 1:
            raise RefusedError(400, f"Conflicting flags: {'&'.join(f'{name}={query[name]}' for name in chosen)}")
        flags = _uint(query.get("flags", "0"))
        match chosen:
            case ["cas"]:
                return answer(self._keys.put_if(key, value, flags, _uint(query["cas"])))
            case ["acquire"]:
                session = query["acquire"]
                if self._registry.sessions.get(session) is None:
                    raise RefusedError(500, f'invalid session "{session}"')
                return answer(self._keys.acquire(key, value, flags, session))
            case ["release"]:
                return answer(self._keys.release(key, value, flags, query["release"]))
        self._keys.put(key, value, flags)
        return answer(body=True)

    async def _delete(self, request: web.Request) -> web.Response:
        query = request.query
        if "recurse" in query:
            if "cas" in query:
                raise RefusedError(400, f"Conflicting flags: cas={query['cas']}&recurse={query['recurse']}")
            self._keys.delete_under(request.match_info["key"])
            return answer(body=True)
        key = _key(request)
        if "cas" in query:
            return answer(self._keys.delete_if(key, _uint(query["cas"])))
        self._keys.delete(key)
        return answer(body=True)


class SessionRoutes:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._sessions = registry.sessions

    def all(self) -> list[web.RouteDef]:
        return [
            web.put("/v1/session/create", self._create),
            web.put("/v1/session/destroy/{id}", self._destroy),
            web.put("/v1/session/renew/{id}", self._renew),
            web.get("/v1/session/info/{id}", self._info),
            web.get("/v1/session/list", self._list),
            web.get("/v1/session/node/{name}", self._node),
        ]

    async def _create(self, request: web.Request) -> web.Response:
        return answer({"ID": self._sessions.create(await read_json(request)).id})

    async def _destroy(self, request: web.Request) -> web.Response:
        self._sessions.destroy(request.match_info["id"])
        return answer(body=True)

    async def _renew(self, request: web.Request) -> web.Response:
        session = self._sessions.renew(request.match_info["id"])
        return answer([views.session(self._registry.state, session)])

    async def _info(self, request: web.Request) -> web.Response:
        session_id = request.match_info["id"]

        def body() -> object:
            session = self._sessions.get(session_id)
            return [views.session(self._registry.state, session)] if session else []

        return await view(request, self._registry, lambda: self._sessions.index, body)

    async def _list(self, request: web.Request) -> web.Response:
        return await self._listed(request, known=True)

    async def _node(self, request: web.Request) -> web.Response:
        return await self._listed(request, known=request.match_info["name"] == self._registry.state.node.name)

    async def _listed(self, request: web.Request, *, known: bool) -> web.Response:
        def body() -> object:
            return [views.session(self._registry.state, session) for session in self._sessions.all() if known]

        return await view(request, self._registry, lambda: self._sessions.index, body)


def _key(request: web.Request) -> str:
    key = request.match_info["key"]
    if not key:
        raise RefusedError(400, "Missing key name")
    if len(key) > MAX_KEY_CHARS:
        raise RefusedError(400, f"A key may have {MAX_KEY_CHARS} characters.")
    return key


def _uint(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 20 and int(text) <= _MAX_UINT64):
        raise RefusedError(500, f'strconv.ParseUint: parsing "{text[:32]}": invalid syntax')
    return int(text)


def _missing(index: Index) -> web.Response:
    return web.Response(status=404, headers=index_headers(index()))


def _too_large(size: int) -> RefusedError:
    return RefusedError(413, f"Request body({size} bytes) too large, max size: {MAX_VALUE_BYTES} bytes.")
