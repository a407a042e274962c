"""/v1/catalog, /v1/health and /v1/status: what exists and how it is."""

from collections.abc import Iterable
from typing import Final

from aiohttp import web

from agent_core.dev.registry import views
from agent_core.dev.registry.entries import Check, Service, Status
from agent_core.dev.registry.filters import parse_filter
from agent_core.dev.registry.refusals import RefusedError
from agent_core.dev.registry.registry import Registry
from agent_core.dev.registry.replies import answer, read_flag, view

_NOT_FILTERED: Final = "node-meta"


class CatalogRoutes:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._state = registry.state

    def all(self) -> list[web.RouteDef]:
        return [
            web.get("/v1/catalog/datacenters", self._datacenters),
            web.get("/v1/catalog/nodes", self._nodes),
            web.get("/v1/catalog/node/{name}", self._node),
            web.get("/v1/catalog/services", self._services),
            web.get("/v1/catalog/service/{name}", self._service),
            web.get("/v1/health/service/{name:[^/]*}", self._health_service),
            web.get("/v1/health/checks/{name}", self._health_checks),
            web.get("/v1/health/node/{name}", self._health_node),
            web.get("/v1/health/state/{state:[^/]*}", self._health_state),
            web.get("/v1/status/leader", self._leader),
            web.get("/v1/status/peers", self._peers),
        ]

    async def _datacenters(self, _request: web.Request) -> web.Response:
        return answer([self._state.node.datacenter])

    async def _nodes(self, request: web.Request) -> web.Response:
        _refuse(request, "filter", _NOT_FILTERED)
        return await view(request, self._registry, lambda: self._state.node_index, lambda: [views.node(self._state)])

    async def _node(self, request: web.Request) -> web.Response:
        _refuse(request, "filter")
        known = request.match_info["name"] == self._state.node.name

        def body() -> object:
            services = {key: views.health_service(service) for key, service in sorted(self._state.services.items())}
            return {"Node": views.node(self._state), "Services": services} if known else None

        return await view(request, self._registry, lambda: self._state.services_index, body)

    async def _services(self, request: web.Request) -> web.Response:
        _refuse(request, "filter", _NOT_FILTERED)
        return await view(
            request, self._registry, lambda: self._state.services_index, lambda: dict(self._state.names())
        )

    async def _service(self, request: web.Request) -> web.Response:
        _refuse(request, "filter", _NOT_FILTERED)
        name, tags = request.match_info["name"], request.query.getall("tag", [])

        def body() -> object:
            return [views.catalog_service(self._state, service) for service in _tagged(self._state.named(name), tags)]

        return await view(request, self._registry, lambda: self._state.service_index(name), body)

    async def _health_service(self, request: web.Request) -> web.Response:
        _refuse(request, _NOT_FILTERED)
        name, tags = request.match_info["name"], request.query.getall("tag", [])
        if not name:
            raise RefusedError(400, "Missing service name")
        passing = read_flag(request, "passing")
        expression = request.query.get("filter")
        matches = parse_filter(expression) if expression else None

        def body() -> object:
            entries = []
            for service in _tagged(self._state.named(name), tags):
                checks = [*self._state.checks_of(""), *self._state.checks_of(service.definition.id)]
                if passing and any(check.status is not Status.PASSING for check in checks):
                    continue
                entry = {
                    "Node": views.node(self._state),
                    "Service": views.health_service(service),
                    "Checks": [views.check(self._state, check) for check in checks],
                }
                if matches is None or matches(entry):
                    entries.append(entry)
            return entries

        return await view(request, self._registry, lambda: self._state.service_index(name), body)

    async def _health_checks(self, request: web.Request) -> web.Response:
        _refuse(request, "filter", _NOT_FILTERED)
        name = request.match_info["name"]

        def body() -> object:
            services = self._state.named(name)
            return self._shown(check for service in services for check in self._state.checks_of(service.definition.id))

        return await view(request, self._registry, lambda: self._state.service_index(name), body)

    async def _health_node(self, request: web.Request) -> web.Response:
        _refuse(request, "filter")
        known = request.match_info["name"] == self._state.node.name

        def body() -> object:
            return self._shown(self._all_checks()) if known else []

        return await view(request, self._registry, lambda: self._state.checks_index, body)

    async def _health_state(self, request: web.Request) -> web.Response:
        _refuse(request, "filter", _NOT_FILTERED)
        wanted = request.match_info["state"]
        if not wanted:
            raise RefusedError(400, "Missing check state")

        def body() -> object:
            return self._shown(check for check in self._all_checks() if wanted in ("any", check.status.value))

        return await view(request, self._registry, lambda: self._state.checks_index, body)

    async def _leader(self, _request: web.Request) -> web.Response:
        return answer(self._address())

    async def _peers(self, _request: web.Request) -> web.Response:
        return answer([self._address()])

    def _address(self) -> str:
        node = self._state.node
        return f"[{node.address}]:{node.port}" if ":" in node.address else f"{node.address}:{node.port}"

    def _all_checks(self) -> list[Check]:
        return [check for _, check in sorted(self._state.checks.items())]

    def _shown(self, checks: Iterable[Check]) -> list[views.Json]:
        return [views.check(self._state, check) for check in checks]


def _tagged(services: list[Service], tags: list[str]) -> list[Service]:
    """Those that have all the tags; Consul compares them without regard to case."""
    wanted = {tag.lower() for tag in tags}
    return [service for service in services if wanted <= {tag.lower() for tag in service.definition.tags}]


def _refuse(request: web.Request, *names: str) -> None:
    """An answer that ignored a filter would be wrong without a sign of it."""
    for name in names:
        if request.query.get(name):
            raise RefusedError(400, f"The development registry does not support ?{name} here; use Consul for it.")
