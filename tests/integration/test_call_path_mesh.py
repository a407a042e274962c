"""MeshService around the call path, as a skill process or a client without a model uses it."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import orjson
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from opentelemetry.trace import INVALID_SPAN_CONTEXT, SpanKind

from agent_core.domain.call import CallContext, ResultStatus, SkillCall, SkillResult
from agent_core.domain.errors import ConfigError, InvalidArgumentsError, RegistryError, TryLaterError, Violation
from agent_core.domain.events import CallFinished
from agent_core.transport.mesh_server import MeshServer, MeshServicer
from agent_core.transport.mesh_texts import MAX_ID_CHARS, MAX_ROLES, MAX_TOKEN_CHARS
from skillmesh import conventions, status
from skillmesh.digests import arguments_digest, result_digest
from skillmesh.errors import ErrorKind
from skillmesh.stubs import MeshServiceStub
from skillmesh.v1 import mesh_service_pb2 as pb
from skillmesh.v1.skill_service_pb2 import Principal
from tests.support.call_path import Core, running_core, scripted
from tests.support.call_path_values import FixedCatalogue, catalogue_of
from tests.support.eventually import eventually
from tests.support.recorded_spans import attribute, parent_of, recorded_spans
from tests.support.scripted_process import ScriptedProcess, scripted_skill

NAMES = ("echo", "show", "hang", "abort")


@pytest.fixture(scope="module")
def process() -> Iterator[ScriptedProcess]:
    """One for all tests that neither count its calls nor harm it."""
    with scripted_skill() as started:
        yield started


@asynccontextmanager
async def mesh(process: ScriptedProcess) -> AsyncIterator[tuple[Core, MeshServiceStub, grpc.aio.Channel]]:
    async with running_core() as core:
        core.source.catalogue = catalogue_of(*(scripted(name, process.instance(), timeout=4.0) for name in NAMES))
        server = MeshServer(MeshServicer(core.invoke, core.source, core.events.append))
        port = await server.start("127.0.0.1", 0)
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield core, MeshServiceStub(channel), channel
        await server.stop(1.0)


async def refused(stub: MeshServiceStub, request: pb.CallRequest, timeout: float = 5.0) -> status.WireError:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub.call(request, timeout=timeout)
    return status.from_rpc_error(caught.value)


async def test_a_call_through_the_mesh_runs_the_whole_path_under_the_callers_trace(process: ScriptedProcess) -> None:
    async with mesh(process) as (core, stub, _):
        trace_id = "0af7651916cd43dd8448eb211c80319c"
        with recorded_spans() as spans:
            response = await stub.call(
                pb.CallRequest(skill="echo", arguments=b'{"a":1}', arguments_digest=arguments_digest(b'{"a":1}')),
                timeout=5.0,
                metadata=(("traceparent", f"00-{trace_id}-b7ad6b7169203331-01"), ("x-bin", b"binary")),
            )
        assert response.result.structured == b'{"a":1}'
        assert response.result.digest == result_digest(response.result)
        assert (response.instance, response.attempts, response.trace_id) == ("scripted-1", 1, trace_id)
        served = spans.one("skillmesh.v1.MeshService/Call")
        tool = spans.one("execute_tool echo")
        attempt = spans.one("skillmesh.v1.SkillService/Invoke")
        assert (served.kind, attribute(served, conventions.RPC_STATUS)) == (SpanKind.SERVER, "OK")
        assert format((served.get_span_context() or INVALID_SPAN_CONTEXT).trace_id, "032x") == trace_id
        assert parent_of(tool, spans.all()) is served
        assert parent_of(attempt, spans.all()) is tool
        assert core.of(CallFinished)[0].status == "success"


async def test_what_the_caller_says_of_itself_reaches_the_skill_with_less_time(process: ScriptedProcess) -> None:
    async with mesh(process) as (_, stub, _channel):
        request = pb.CallRequest(
            skill="show",
            call_id="call-9",
            run_id="run-9",
            session_id="session-9",
            principal=Principal(subject="ann", roles=["dev"]),
            idempotency_key="key-9",
            depth=3,
            time_zone="Asia/Tokyo",
            locale="ja",
        )
        seen = orjson.loads((await stub.call(request, timeout=1.0)).result.structured)
        assert (seen["call_id"], seen["run_id"], seen["session_id"]) == ("call-9", "run-9", "session-9")
        assert (seen["subject"], seen["roles"], seen["depth"]) == ("ann", ["dev"], 3)
        assert (seen["time_zone"], seen["locale"], seen["idempotency_key"]) == ("Asia/Tokyo", "ja", "key-9")
        assert 0 < seen["left"] < 0.96
        without = orjson.loads((await stub.call(pb.CallRequest(skill="show"))).result.structured)
        assert without["left"] < 4.5


async def test_what_cannot_be_called_is_refused_with_a_reason(process: ScriptedProcess) -> None:
    async with mesh(process) as (core, stub, _):
        unknown = await refused(stub, pb.CallRequest(skill="ech"))
        assert (unknown.kind, unknown.message) == (
            ErrorKind.UNKNOWN_SKILL,
            "There is no skill 'ech' now. Did you mean echo?",
        )
        assert "Did you mean" not in (await refused(stub, pb.CallRequest(skill="zzzzzz"))).message
        deep = await refused(stub, pb.CallRequest(skill="echo", depth=conventions.MAX_DEPTH + 1))
        assert deep.kind is ErrorKind.DEPTH_EXCEEDED
        damaged = await refused(stub, pb.CallRequest(skill="echo", arguments=b"{}", arguments_digest=b"x"))
        assert damaged.kind is ErrorKind.CORRUPTED_REQUEST
        invalid = await refused(stub, pb.CallRequest(skill="echo", arguments=b"{"))
        assert invalid.kind is ErrorKind.INVALID_ARGUMENTS
        nested = await refused(stub, pb.CallRequest(skill="abort", arguments=b'{"kind":"prerequisite_unmet"}'))
        assert nested.kind is ErrorKind.PREREQUISITE_UNMET
        assert not [one for one in core.of(CallFinished) if one.status == "success"]


async def test_a_call_without_a_run_gets_one_by_which_its_trace_is_found(process: ScriptedProcess) -> None:
    async with mesh(process) as (core, stub, _):
        with recorded_spans() as spans:
            seen = orjson.loads((await stub.call(pb.CallRequest(skill="show"))).result.structured)
        assert seen["run_id"].startswith("run-")
        assert attribute(spans.one("execute_tool show"), conventions.ATTR_RUN_ID) == seen["run_id"]
        assert {one.run_id for one in core.of(CallFinished)} == {seen["run_id"]}


async def test_what_a_caller_says_of_itself_is_bounded_and_printable(process: ScriptedProcess) -> None:
    long, token = "x" * (MAX_ID_CHARS + 1), "t" * (MAX_TOKEN_CHARS + 1)
    texts = ("call_id", "run_id", "session_id", "idempotency_key", "time_zone", "locale")
    async with mesh(process) as (_, stub, _channel):
        everything = pb.CallRequest(
            skill="echo",
            principal=Principal(subject="a\nb", roles=["r"] * (MAX_ROLES + 1)),
            principal_token=token,
            approval_token=token,
        )
        for name in texts:
            setattr(everything, name, long)
        refusal = await refused(stub, everything)
        assert refusal.kind is ErrorKind.INVALID_ARGUMENTS
        named = {one.path for one in refusal.violations}
        assert named == {*texts, "principal.subject", "principal.roles", "principal_token", "approval_token"}
        for roles in ([long], ["a\x1b[2J"]):
            one = await refused(stub, pb.CallRequest(skill="echo", principal=Principal(roles=roles)))
            assert [violation.path for violation in one.violations] == ["principal.roles"]


async def test_a_full_core_says_when_to_come_back_and_stays_healthy() -> None:
    held, entered = asyncio.Event(), asyncio.Event()

    async def hold(_call: SkillCall, _context: CallContext) -> SkillResult:
        entered.set()
        await held.wait()
        return SkillResult(ResultStatus.SUCCESS, b"1")

    server = MeshServer(MeshServicer(hold, FixedCatalogue(scripted("echo")), most=1))
    port = await server.start("127.0.0.1", 0)
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        stub = MeshServiceStub(channel)
        first = asyncio.ensure_future(stub.call(pb.CallRequest(skill="echo"), timeout=10.0))
        await entered.wait()
        full = await refused(stub, pb.CallRequest(skill="echo"))
        assert (full.kind, full.retry_after) == (ErrorKind.OVERLOADED, 0.2)
        health: Any = health_pb2_grpc.HealthStub(channel)
        reply = await health.Check(health_pb2.HealthCheckRequest(service=conventions.MESH_SERVICE))
        assert reply.status == health_pb2.HealthCheckResponse.SERVING
        held.set()
        assert (await first).result.structured == b"1"
        assert (await stub.call(pb.CallRequest(skill="echo"), timeout=5.0)).result.structured == b"1"
    await server.stop(0)


async def test_a_passed_deadline_comes_back_before_the_callers_own(process: ScriptedProcess) -> None:
    async with mesh(process) as (_, stub, _channel):
        started = time.monotonic()
        error = await refused(stub, pb.CallRequest(skill="hang"), timeout=1.0)
        assert time.monotonic() - started < 1.5
        assert error.kind is ErrorKind.DEADLINE_EXCEEDED


async def test_a_caller_that_leaves_stops_the_work(process: ScriptedProcess) -> None:
    async with mesh(process) as (core, stub, _):
        call = stub.call(pb.CallRequest(skill="hang"), timeout=10.0)
        line = core.channels.line(core.source.catalogue.skills["hang"].instances[0])
        await eventually(lambda: line.in_flight == 2)
        call.cancel()
        await eventually(lambda: line.in_flight == 1, 1.0)
        line.release()


async def test_it_serves_health_and_reflection_and_refuses_after_a_stop(process: ScriptedProcess) -> None:
    async with mesh(process) as (_, _stub, channel):
        health: Any = health_pb2_grpc.HealthStub(channel)
        for name in ("", conventions.MESH_SERVICE):
            reply = await health.Check(health_pb2.HealthCheckRequest(service=name))
            assert reply.status == health_pb2.HealthCheckResponse.SERVING
        reflection: Any = reflection_pb2_grpc.ServerReflectionStub
        listed = reflection(channel).ServerReflectionInfo(
            iter([reflection_pb2.ServerReflectionRequest(list_services="")])
        )
        async for answer in listed:
            names = {one.name for one in answer.list_services_response.service}
            assert names >= {conventions.MESH_SERVICE, "grpc.health.v1.Health"}
            break


async def _never(_call: SkillCall, _context: CallContext) -> SkillResult:
    raise RegistryError("Consul does not answer")


async def test_errors_of_the_core_travel_with_their_details() -> None:
    failures = {
        "later": TryLaterError(ErrorKind.BREAKER_OPEN, "open", retry_after=1.5),
        "bad": InvalidArgumentsError("bad", (Violation("a[0]", "is wrong"),)),
        "registry": RegistryError("Consul does not answer"),
    }

    async def fail(call: SkillCall, _context: CallContext) -> SkillResult:
        raise failures[call.skill.name]

    source = FixedCatalogue(*(scripted(name) for name in failures))
    server = MeshServer(MeshServicer(fail, source))
    port = await server.start("127.0.0.1", 0)
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        stub = MeshServiceStub(channel)
        later = await refused(stub, pb.CallRequest(skill="later"))
        assert (later.kind, later.retry_after) == (ErrorKind.BREAKER_OPEN, 1.5)
        bad = await refused(stub, pb.CallRequest(skill="bad"))
        assert list(bad.violations) == [status.Violation("a[0]", "is wrong")]
        assert (await refused(stub, pb.CallRequest(skill="registry"))).kind is ErrorKind.UNAVAILABLE
        stopping = asyncio.create_task(server.stop(1.0))
        await stopping
        assert (await refused(stub, pb.CallRequest(skill="bad"), 1.0)).kind is ErrorKind.CONNECT_FAILED
    await server.stop(0)


async def test_a_port_that_is_taken_is_a_setting_to_change() -> None:
    first, second = (MeshServer(MeshServicer(_never, FixedCatalogue())) for _ in range(2))
    port = await first.start("127.0.0.1", 0)
    try:
        with pytest.raises(ConfigError, match=f"cannot listen on 127.0.0.1:{port}"):
            await second.start("127.0.0.1", port)
        third = await second.start("::1", 0)
        assert third > 0
        await second.stop(0)
    finally:
        await first.stop(0)
