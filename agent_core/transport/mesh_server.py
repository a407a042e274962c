"""MeshService: how a skill calls another through this core, and how a client without a model uses the mesh."""

import difflib
import time
import uuid
from collections.abc import Mapping
from typing import Final, cast

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as health_aio
from grpc_reflection.v1alpha import reflection
from opentelemetry import context as otel_context
from opentelemetry import propagate
from opentelemetry.trace import SpanKind

from agent_core.domain.call import CallContext, Invoke, Principal, SkillCall, new_run_id, nobody_listens
from agent_core.domain.errors import CallError, ConfigError, InvalidArgumentsError, SkillmeshError, TryLaterError
from agent_core.domain.ports import CatalogueSource, Emit
from agent_core.domain.skill import Catalogue, Skill
from agent_core.telemetry.spans import current_trace_id, span
from agent_core.transport.mesh_texts import check_texts
from agent_core.transport.plain_grpc import make_server
from agent_core.transport.wire import result_to_pb
from skillmesh import conventions, status
from skillmesh.digests import arguments_digest
from skillmesh.errors import RULES, ErrorKind
from skillmesh.stubs import add_mesh_service
from skillmesh.v1 import mesh_service_pb2 as pb

NO_DEADLINE_SECONDS: Final = 60.0
MAX_CONCURRENT_CALLS: Final = 256
_OTHER_RPCS: Final = 64  # health and reflection, which must answer when no more calls are taken
_OVERLOADED_RETRY_SECONDS: Final = 0.2
_MARGIN_SHARE: Final = 0.05
_MAX_MARGIN_SECONDS: Final = 0.1
_SPAN: Final = f"{conventions.MESH_SERVICE}/Call"

_Context = grpc.aio.ServicerContext[pb.CallRequest, pb.CallResponse]


class MeshServicer:
    """Serves MeshService around the call path, `most` calls at a time; `emit` takes the events of its calls."""

    def __init__(
        self,
        invoke: Invoke,
        source: CatalogueSource,
        emit: Emit = nobody_listens,
        *,
        most: int = MAX_CONCURRENT_CALLS,
    ) -> None:
        self._invoke = invoke
        self._source = source
        self._emit = emit
        self._free = most

    async def Call(self, request: pb.CallRequest, context: _Context) -> pb.CallResponse:  # noqa: N802  # the wire's name
        attributes = {conventions.RPC_SYSTEM: "grpc", conventions.RPC_METHOD: _SPAN}
        token = otel_context.attach(propagate.extract(_headers(context)))
        try:
            with span(_SPAN, kind=SpanKind.SERVER, attributes=attributes) as current:
                try:
                    response = await self._call(request, context)
                except SkillmeshError as error:
                    code = RULES[error.kind].status if isinstance(error, CallError) else "INTERNAL"
                    current.set_attribute(conventions.RPC_STATUS, code)
                    raise
                current.set_attribute(conventions.RPC_STATUS, "OK")
                return response
        except CallError as error:
            failure = _wire_error(error)
        except SkillmeshError as error:
            failure = status.WireError(ErrorKind.UNAVAILABLE, str(error))
        finally:
            otel_context.detach(token)
        await context.abort_with_status(status.to_status(failure))
        raise AssertionError("abort raises")

    async def _call(self, request: pb.CallRequest, context: _Context) -> pb.CallResponse:
        if not self._free:
            sentence = "The core runs as many calls as it takes at a time."
            raise TryLaterError(ErrorKind.OVERLOADED, sentence, retry_after=_OVERLOADED_RETRY_SECONDS)
        self._free -= 1
        try:
            return await self._run(request, context)
        finally:
            self._free += 1

    async def _run(self, request: pb.CallRequest, context: _Context) -> pb.CallResponse:
        check_texts(request)
        skill = _resolve(self._source.catalogue, request)
        call_id = request.call_id or uuid.uuid4().hex
        call = SkillCall(
            call_id,
            skill,
            request.arguments,
            idempotency_key=request.idempotency_key,
            approval_token=request.approval_token,
        )
        result = await self._invoke(call, self._context(request, context))
        return pb.CallResponse(
            result=result_to_pb(result),
            instance=result.instance,
            attempts=result.attempts,
            trace_id=current_trace_id(),
        )

    def _context(self, request: pb.CallRequest, context: _Context) -> CallContext:
        principal = request.principal
        return CallContext(
            run_id=request.run_id or new_run_id(),
            deadline=time.monotonic() + _budget(context),
            principal=Principal(principal.subject, tuple(principal.roles)),
            emit=self._emit,
            session_id=request.session_id,
            depth=request.depth,
            time_zone=request.time_zone or "UTC",
            locale=request.locale,
            principal_token=request.principal_token,
        )


class MeshServer:
    """MeshService with health and reflection on one port."""

    def __init__(self, servicer: MeshServicer, *, max_message_bytes: int = conventions.MAX_MESSAGE_BYTES) -> None:
        self._servicer = servicer
        self._options = conventions.server_options(max_message_bytes)
        self._server: grpc.aio.Server | None = None
        self._health = health_aio.HealthServicer()

    async def start(self, host: str, port: int) -> int:
        """Serve, and return the port bound, which is `port` unless that is 0. Raises ConfigError."""
        server = make_server(self._options, MAX_CONCURRENT_CALLS + _OTHER_RPCS)
        add_mesh_service(server, self._servicer)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        reflection.enable_server_reflection(
            (
                conventions.MESH_SERVICE,
                health_pb2.DESCRIPTOR.services_by_name["Health"].full_name,
                reflection.SERVICE_NAME,
            ),
            server,
        )
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        try:
            bound = server.add_insecure_port(address)
        except RuntimeError as error:
            raise ConfigError(
                f"The core cannot listen on {address}: choose another port, or 0 for a free one."
            ) from error
        await server.start()
        self._server = server
        for name in ("", conventions.MESH_SERVICE):
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)
        return bound

    async def stop(self, grace: float) -> None:
        """Say NOT_SERVING, refuse new calls, give those under way `grace` seconds, then cancel them."""
        if self._server is None:
            return
        server, self._server = self._server, None
        await self._health.enter_graceful_shutdown()
        await server.stop(grace)


def _resolve(catalogue: Catalogue, request: pb.CallRequest) -> Skill:
    if request.depth > conventions.MAX_DEPTH:
        raise CallError(
            ErrorKind.DEPTH_EXCEEDED,
            f"Skills call one another {request.depth} deep, and the limit is {conventions.MAX_DEPTH}.",
        )
    if request.arguments_digest and request.arguments_digest != arguments_digest(request.arguments):
        raise CallError(ErrorKind.CORRUPTED_REQUEST, "The arguments were damaged on the way; nothing ran.")
    skill = catalogue.skills.get(request.skill)
    if skill is None:
        near = difflib.get_close_matches(request.skill[:64], catalogue.skills, n=3)
        hint = f" Did you mean {', '.join(near)}?" if near else ""
        raise CallError(ErrorKind.UNKNOWN_SKILL, f"There is no skill {request.skill[:64]!r} now.{hint}")
    return skill


def _budget(context: _Context) -> float:
    """Seconds for the call: what the RPC has left, less a margin in which the answer travels back."""
    left = cast("float | None", context.time_remaining())  # its stub leaves out that there may be no deadline
    if left is None:
        return NO_DEADLINE_SECONDS
    return left - min(left * _MARGIN_SHARE, _MAX_MARGIN_SECONDS)


def _headers(context: _Context) -> Mapping[str, str]:
    return {key: value for key, value in context.invocation_metadata() or () if isinstance(value, str)}


def _wire_error(error: CallError) -> status.WireError:
    violations = error.violations if isinstance(error, InvalidArgumentsError) else ()
    return status.WireError(
        error.kind,
        str(error),
        error.retry_after if isinstance(error, TryLaterError) else None,
        [status.Violation(one.path, one.problem) for one in violations],
    )
