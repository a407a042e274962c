"""/v1/agent: registering services and checks, and what this agent knows of them."""

from typing import Final

from aiohttp import web

from agent_core.dev.registry import views
from agent_core.dev.registry.definitions import read_check, read_service, read_status
from agent_core.dev.registry.entries import Status
from agent_core.dev.registry.refusals import RefusedError
from agent_core.dev.registry.registry import Registry
from agent_core.dev.registry.replies import answer, read_flag, read_json
from agent_core.dev.registry.state import CONSUL_SERVICE

API_VERSION: Final = "1.20.0+skillmesh.dev"
_HTTP_OF_HEALTH: Final = {"passing": 200, "warning": 429}


class AgentRoutes:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._state = registry.state

    def all(self) -> list[web.RouteDef]:
        return [
            web.get("/v1/agent/self", self._self),
            web.get("/v1/agent/members", self._members),
            web.get("/v1/agent/services", self._services),
            web.get("/v1/agent/service/{id}", self._service),
            web.get("/v1/agent/checks", self._checks),
            web.get("/v1/agent/health/service/id/{id}", self._health),
            web.put("/v1/agent/service/register", self._register),
            web.put("/v1/agent/service/deregister/{id}", self._deregister),
            web.put("/v1/agent/service/maintenance/{id}", self._maintenance),
            web.put("/v1/agent/check/register", self._register_check),
            web.put("/v1/agent/check/deregister/{id}", self._deregister_check),
            web.put("/v1/agent/check/pass/{id}", self._pass),
            web.put("/v1/agent/check/warn/{id}", self._warn),
            web.put("/v1/agent/check/fail/{id}", self._fail),
            web.put("/v1/agent/check/update/{id}", self._update),
        ]

    async def _self(self, _request: web.Request) -> web.Response:
        node = self._state.node
        config = {
            "Datacenter": node.datacenter,
            "NodeName": node.name,
            "NodeID": node.id,
            "Server": True,
            "Version": API_VERSION,
        }
        return answer({"Config": config, "DebugConfig": {}, "Member": self._member(), "Meta": {}})

    async def _members(self, _request: web.Request) -> web.Response:
        return answer([self._member()])

    async def _services(self, _request: web.Request) -> web.Response:
        return answer(
            {
                service_id: views.agent_service(service)
                for service_id, service in sorted(self._state.services.items())
                if service_id != CONSUL_SERVICE
            }
        )

    async def _service(self, request: web.Request) -> web.Response:
        service_id = request.match_info["id"]
        service = self._state.services.get(service_id)
        if service is None or service_id == CONSUL_SERVICE:
            raise RefusedError(404, f"unknown service ID: {service_id}")
        view = views.agent_service(service)
        content = views.content_hash(view)
        response = answer({**view, "ContentHash": content})
        response.headers["X-Consul-ContentHash"] = content
        return response

    async def _checks(self, _request: web.Request) -> web.Response:
        checks = sorted(self._state.checks.items())
        return answer({check_id: views.check(self._state, check) for check_id, check in checks if check.type})

    async def _health(self, request: web.Request) -> web.Response:
        service = self._state.services.get(request.match_info["id"])
        if service is None:
            raise RefusedError(404, f"ServiceId {request.match_info['id']} not found")
        checks = self._state.checks_of(service.definition.id)
        status = views.aggregated(checks)
        body = {
            "AggregatedStatus": status,
            "Service": views.agent_service(service),
            "Checks": [views.check(self._state, check) for check in checks],
        }
        return answer(body, status=_HTTP_OF_HEALTH.get(status, 503))

    async def _register(self, request: web.Request) -> web.Response:
        service, checks = read_service(await read_json(request))
        if CONSUL_SERVICE in (service.id, service.name):
            raise RefusedError(400, "The service consul is the registry's own.")
        replace_checks = read_flag(request, "replace-existing-checks")
        self._state.register(service, checks, replace_checks=replace_checks)
        for check in checks:
            self._registry.checks.watch(check)
        return web.Response()

    async def _deregister(self, request: web.Request) -> web.Response:
        service_id = request.match_info["id"]
        if service_id == CONSUL_SERVICE or not self._state.deregister(service_id):
            sentence = "Ensure that the service ID is passed, not the service name."
            raise RefusedError(404, f'Unknown service ID "{service_id}". {sentence}')
        return web.Response()

    async def _maintenance(self, request: web.Request) -> web.Response:
        if "enable" not in request.query:
            raise RefusedError(400, "Missing value for enable")
        self._state.set_maintenance(
            request.match_info["id"], enabled=read_flag(request, "enable"), reason=request.query.get("reason", "")[:512]
        )
        return web.Response()

    async def _register_check(self, request: web.Request) -> web.Response:
        check, service_id = read_check(await read_json(request))
        if service_id and service_id not in self._state.services:
            raise RefusedError(400, f'ServiceID "{service_id}" does not exist')
        self._state.put_check(check, service_id)
        self._registry.checks.watch(check)
        return web.Response()

    async def _deregister_check(self, request: web.Request) -> web.Response:
        check = self._state.checks.get(request.match_info["id"])
        if check is None or not check.type:
            sentence = "Ensure that the check ID is passed, not the check name."
            raise RefusedError(404, f'Unknown check ID "{request.match_info["id"]}". {sentence}')
        self._state.remove_check(check.id)
        return web.Response()

    async def _pass(self, request: web.Request) -> web.Response:
        return self._heartbeat(request, Status.PASSING, request.query.get("note", ""))

    async def _warn(self, request: web.Request) -> web.Response:
        return self._heartbeat(request, Status.WARNING, request.query.get("note", ""))

    async def _fail(self, request: web.Request) -> web.Response:
        return self._heartbeat(request, Status.CRITICAL, request.query.get("note", ""))

    async def _update(self, request: web.Request) -> web.Response:
        body = await read_json(request)
        fields = {str(key).lower(): value for key, value in body.items()} if isinstance(body, dict) else {}
        return self._heartbeat(request, read_status(fields.get("status")), str(fields.get("output") or ""))

    def _heartbeat(self, request: web.Request, status: Status, output: str) -> web.Response:
        self._registry.checks.heartbeat(request.match_info["id"], status, output)
        return web.Response()

    def _member(self) -> dict[str, object]:
        node = self._state.node
        return {"Name": node.name, "Addr": node.address, "Port": node.port, "Tags": {"role": "consul"}, "Status": 1}
