"""What a caller gets from a skill service, and what the trace says of it. The runtime is a fake, gRPC is real."""

import asyncio
import logging
import time
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from opentelemetry import trace
from opentelemetry.sdk.metrics.export import HistogramDataPoint
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind, StatusCode

from skill_services.sdk.errors import CallFailedError
from skill_services.sdk.runtime import Incoming
from skillmesh import conventions
from skillmesh.errors import ErrorKind
from skillmesh.status import Violation, WireError, from_rpc_error
from skillmesh.v1.result_pb2 import ContentPart, Result, ResultStatus
from skillmesh.v1.skill_service_pb2 import (
    DescribeRequest,
    InvokeRequest,
    InvokeStreamRequest,
    InvokeStreamResponse,
    Progress,
)
from tests.support.fake_runtime import served, success

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
PARENT_ID = "b7ad6b7169203331"
TRACEPARENT = (("traceparent", f"00-{TRACE_ID}-{PARENT_ID}-01"),)
REQUEST = InvokeRequest(skill="echo", call_id="call-1", run_id="run-1", attempt=2)


def attributes(span: ReadableSpan) -> dict[str, object]:
    return dict(span.attributes or {})


async def answer(_incoming: Incoming) -> Result:
    return success()


async def hang(_incoming: Incoming) -> Result:
    await asyncio.Event().wait()
    raise AssertionError


async def test_a_call_has_one_server_span_under_the_callers() -> None:
    async with served(answer) as mesh:
        reply = await mesh.stub.invoke(REQUEST, timeout=5, metadata=TRACEPARENT)
        (span,) = await mesh.spans()
    assert reply.result.structured == b'{"ok":true}'
    assert span.name == "skillmesh.v1.SkillService/Invoke"
    assert span.kind is SpanKind.SERVER
    assert span.parent is not None
    assert format(span.parent.span_id, "016x") == PARENT_ID
    assert format(span.context.trace_id, "032x") == TRACE_ID
    assert span.status.status_code is StatusCode.UNSET
    assert attributes(span) == {
        conventions.RPC_SYSTEM: "grpc",
        conventions.RPC_METHOD: "skillmesh.v1.SkillService/Invoke",
        conventions.RPC_STATUS: "OK",
        conventions.ATTR_SKILL: "echo",
        conventions.ATTR_SKILL_VERSION: "1.2.3",
        conventions.ATTR_INSTANCE: "echo-1",
        conventions.ATTR_ATTEMPT: 2,
        conventions.ATTR_CALL_ID: "call-1",
        conventions.ATTR_RUN_ID: "run-1",
        conventions.ATTR_STATUS: "success",
    }


async def test_the_authors_own_span_is_a_child_of_the_server_span() -> None:
    async def behaviour(_incoming: Incoming) -> Result:
        with mesh.provider.get_tracer("author").start_as_current_span("query"):
            return success()

    async with served(behaviour) as mesh:
        await mesh.stub.invoke(REQUEST, timeout=5)
        own, server = await mesh.spans(2)
    assert own.parent is not None
    assert own.parent.span_id == server.context.span_id


async def test_describe_is_traced_and_health_is_not() -> None:
    async with served(answer) as mesh:
        health: Any = health_pb2_grpc.HealthStub(mesh.channel)
        for name in ("", conventions.SKILL_SERVICE):
            checked = await health.Check(health_pb2.HealthCheckRequest(service=name), timeout=5)
            assert checked.status == health_pb2.HealthCheckResponse.SERVING
        described = await mesh.stub.describe(DescribeRequest(), timeout=5)
        (span,) = await mesh.spans()
    assert described.skills[0].name == "echo"
    assert span.name == "skillmesh.v1.SkillService/Describe"


@pytest.mark.parametrize(
    ("kind", "code", "status"),
    [
        (ErrorKind.INVALID_ARGUMENTS, grpc.StatusCode.INVALID_ARGUMENT, StatusCode.UNSET),
        (ErrorKind.OVERLOADED, grpc.StatusCode.RESOURCE_EXHAUSTED, StatusCode.UNSET),
        (ErrorKind.DRAINING, grpc.StatusCode.UNAVAILABLE, StatusCode.ERROR),
        (ErrorKind.CRASHED, grpc.StatusCode.INTERNAL, StatusCode.ERROR),
        (ErrorKind.CANCELLED, grpc.StatusCode.CANCELLED, StatusCode.ERROR),
    ],
)
async def test_a_failed_call_is_a_status_with_details(
    kind: ErrorKind, code: grpc.StatusCode, status: StatusCode
) -> None:
    sent = WireError(kind, "It did not work.", retry_after=0.25, violations=(Violation("a.b", "is odd"),))

    async def behaviour(_incoming: Incoming) -> Result:
        raise CallFailedError(sent)

    async with served(behaviour) as mesh:
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await mesh.stub.invoke(REQUEST, timeout=5)
        (span,) = await mesh.spans()
    read = from_rpc_error(raised.value)
    assert raised.value.code() is code
    assert (read.kind, read.message, read.retry_after) == (kind, "It did not work.", 0.25)
    assert list(read.violations) == [Violation("a.b", "is odd")]
    assert span.status.status_code is status
    assert attributes(span)[conventions.RPC_STATUS] == code.name
    assert attributes(span)[conventions.ATTR_ERROR_KIND] == kind.value
    assert attributes(span).get(conventions.ERROR_TYPE) == (kind.value if status is StatusCode.ERROR else None)
    assert not span.events


async def test_an_error_inside_the_sdk_is_a_crash_without_its_words(caplog: pytest.LogCaptureFixture) -> None:
    async def behaviour(_incoming: Incoming) -> Result:
        raise RuntimeError("secret words")

    async with served(behaviour) as mesh:
        with pytest.raises(grpc.aio.AioRpcError) as raised, caplog.at_level(logging.ERROR):
            await mesh.stub.invoke(REQUEST, timeout=5)
        (span,) = await mesh.spans()
    assert raised.value.code() is grpc.StatusCode.INTERNAL
    assert "secret words" not in str(raised.value)
    assert attributes(span)[conventions.ERROR_TYPE] == "crashed"
    assert "secret words" in caplog.text  # the operator's log has the traceback


async def test_a_caller_that_leaves_cancels_the_skill_and_the_span_says_so() -> None:
    async with served(hang) as mesh:
        call = mesh.stub.invoke(REQUEST, timeout=30)
        await asyncio.wait_for(mesh.runtime.started.wait(), 5)
        call.cancel()
        await asyncio.wait_for(mesh.runtime.cancelled.wait(), 5)
        (span,) = await mesh.spans()
    assert attributes(span)[conventions.ERROR_TYPE] == "cancelled"
    assert attributes(span)[conventions.RPC_STATUS] == "CANCELLED"
    assert span.status.status_code is StatusCode.ERROR


async def test_a_passed_deadline_cancels_the_skill_and_the_span_says_so() -> None:
    async with served(hang) as mesh:
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await mesh.stub.invoke(REQUEST, timeout=0.2)
        await asyncio.wait_for(mesh.runtime.cancelled.wait(), 5)
        (span,) = await mesh.spans()
    assert raised.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert attributes(span)[conventions.ERROR_TYPE] == "deadline_exceeded"
    assert attributes(span)[conventions.RPC_STATUS] == "DEADLINE_EXCEEDED"


async def test_the_skill_learns_its_deadline_and_whether_there_is_one() -> None:
    seen: list[float | None] = []

    async def behaviour(incoming: Incoming) -> Result:
        seen.append(incoming.deadline)
        return success()

    async with served(behaviour) as mesh:
        await mesh.stub.invoke(REQUEST, timeout=30)
        await mesh.stub.invoke(REQUEST)
    assert seen[0] is not None
    assert 28 < seen[0] - time.monotonic() <= 30
    assert seen[1] is None


async def test_a_stream_says_progress_and_parts_and_then_the_result() -> None:
    async def behaviour(incoming: Incoming) -> Result:
        assert incoming.emit is not None
        incoming.emit(InvokeStreamResponse(progress=Progress(fraction=0.5, message="half")))
        await asyncio.sleep(0)
        incoming.emit(InvokeStreamResponse(part=ContentPart(text="piece")))
        return success()

    async with served(behaviour) as mesh:
        events = [event async for event in mesh.stub.invoke_stream(InvokeStreamRequest(request=REQUEST), timeout=5)]
        (span,) = await mesh.spans()
    assert [event.WhichOneof("event") for event in events] == ["progress", "part", "result"]
    assert span.name == "skillmesh.v1.SkillService/InvokeStream"
    assert attributes(span)[conventions.ATTR_STATUS] == "success"


async def test_the_span_of_a_stream_covers_all_of_it_and_nested_work_is_within_its_trace() -> None:
    async def behaviour(incoming: Incoming) -> Result:
        assert incoming.emit is not None
        for _ in range(5):
            with mesh.provider.get_tracer("author").start_as_current_span("nested"):
                incoming.emit(InvokeStreamResponse(progress=Progress(message="step")))
                await asyncio.sleep(0.02)
        return success()

    async with served(behaviour) as mesh:
        stream = mesh.stub.invoke_stream(InvokeStreamRequest(request=REQUEST), timeout=5, metadata=TRACEPARENT)
        assert len([event async for event in stream]) == 6
        *nested, server = await mesh.spans(6)
    assert {span.parent.span_id for span in nested if span.parent} == {server.context.span_id}
    assert {format(span.context.trace_id, "032x") for span in (*nested, server)} == {TRACE_ID}
    assert server.end_time is not None
    assert all(span.end_time is not None and span.end_time <= server.end_time for span in nested)


async def test_a_failed_stream_ends_with_a_status() -> None:
    async def behaviour(incoming: Incoming) -> Result:
        assert incoming.emit is not None
        incoming.emit(InvokeStreamResponse(progress=Progress(message="begun")))
        raise CallFailedError(WireError(ErrorKind.CRASHED, "It broke."))

    async with served(behaviour) as mesh:
        stream = mesh.stub.invoke_stream(InvokeStreamRequest(request=REQUEST), timeout=5)
        with pytest.raises(grpc.aio.AioRpcError, match="It broke"):
            assert [event.WhichOneof("event") async for event in stream] == ["progress"]
        (span,) = await mesh.spans()
    assert attributes(span)[conventions.ERROR_TYPE] == "crashed"


async def test_an_abandoned_stream_cancels_the_skill_and_ends_its_span() -> None:
    async def behaviour(incoming: Incoming) -> Result:
        assert incoming.emit is not None
        incoming.emit(InvokeStreamResponse(progress=Progress(message="begun")))
        return await hang(incoming)

    async with served(behaviour) as mesh:
        stream = mesh.stub.invoke_stream(InvokeStreamRequest(request=REQUEST), timeout=30)
        async for _ in stream:
            break
        stream.cancel()
        await asyncio.wait_for(mesh.runtime.cancelled.wait(), 5)
        (span,) = await mesh.spans()
    assert attributes(span)[conventions.ERROR_TYPE] == "cancelled"


async def test_a_stream_whose_reader_has_stopped_reading_is_cancelled_all_the_same() -> None:
    async def behaviour(incoming: Incoming) -> Result:
        assert incoming.emit is not None
        for _ in range(40):
            incoming.emit(InvokeStreamResponse(part=ContentPart(blob=b"x" * 1_200_000)))
            await asyncio.sleep(0.001)
        return success(b"x" * 4_000_000)

    async with served(behaviour) as mesh:
        stream = mesh.stub.invoke_stream(InvokeStreamRequest(request=REQUEST), timeout=30)
        await asyncio.wait_for(mesh.runtime.started.wait(), 5)
        ended = asyncio.create_task(mesh.spans())
        _, held_up = await asyncio.wait((ended,), timeout=0.3)
        assert held_up, "more than a flow-control window was taken by a caller that does not read"
        stream.cancel()
        (span,) = await ended
    assert attributes(span)[conventions.ERROR_TYPE] == "cancelled"


async def test_a_skills_own_failure_is_an_answer_and_no_failed_rpc() -> None:
    async def behaviour(_incoming: Incoming) -> Result:
        return Result(status=ResultStatus.RESULT_STATUS_RETRYABLE, structured=b'"down"')

    async with served(behaviour) as mesh:
        reply = await mesh.stub.invoke(REQUEST, timeout=5)
        (span,) = await mesh.spans()
    assert reply.result.status == ResultStatus.RESULT_STATUS_RETRYABLE
    assert attributes(span)[conventions.ATTR_STATUS] == "retryable"
    assert span.status.status_code is StatusCode.UNSET


async def test_every_rpc_counts_in_the_duration_metric() -> None:
    async def behaviour(incoming: Incoming) -> Result:
        if incoming.request.skill == "other":
            raise CallFailedError(WireError(ErrorKind.CRASHED, "It broke."))
        return success()

    async with served(behaviour) as mesh:
        await mesh.stub.invoke(REQUEST, timeout=5)
        with pytest.raises(grpc.aio.AioRpcError):
            await mesh.stub.invoke(InvokeRequest(skill="other"), timeout=5)
        await mesh.spans(2)
        data = mesh.reader.get_metrics_data()
    assert data is not None
    (metric,) = data.resource_metrics[0].scope_metrics[0].metrics
    assert metric.name == "rpc.server.call.duration"
    assert metric.unit == "s"
    points = [point for point in metric.data.data_points if isinstance(point, HistogramDataPoint)]
    assert {(str((p.attributes or {})[conventions.RPC_STATUS]), p.count) for p in points} == {
        ("OK", 1),
        ("INTERNAL", 1),
    }


async def test_an_unexpected_error_outside_a_call_is_in_the_trace_as_well() -> None:
    async with served(answer) as mesh:
        mesh.runtime.description = None
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await mesh.stub.describe(DescribeRequest(), timeout=5)
        (span,) = await mesh.spans()
    assert raised.value.code() is grpc.StatusCode.INTERNAL
    assert "LookupError" not in str(raised.value)
    assert attributes(span)[conventions.ERROR_TYPE] == "crashed"


async def test_a_malformed_trace_context_starts_a_trace_of_its_own() -> None:
    async with served(answer) as mesh:
        await mesh.stub.invoke(REQUEST, timeout=5, metadata=(("traceparent", "rubbish"),))
        (span,) = await mesh.spans()
    assert span.parent is None
    assert not trace.get_current_span().get_span_context().is_valid


async def test_not_serving_is_said_while_calls_are_still_answered() -> None:
    async with served(answer) as mesh:
        health: Any = health_pb2_grpc.HealthStub(mesh.channel)
        watch = health.Watch(health_pb2.HealthCheckRequest(service=conventions.SKILL_SERVICE), timeout=5)
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.SERVING
        await mesh.server.leave()
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.NOT_SERVING
        for name in ("", conventions.SKILL_SERVICE):
            checked = await health.Check(health_pb2.HealthCheckRequest(service=name), timeout=5)
            assert checked.status == health_pb2.HealthCheckResponse.NOT_SERVING
        await mesh.stub.invoke(REQUEST, timeout=5)
        watch.cancel()
