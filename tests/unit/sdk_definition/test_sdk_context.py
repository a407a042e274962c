import asyncio
import contextvars
import logging
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.trace import NonRecordingSpan, SpanContext

from skill_services.sdk import SkillContext, Text, skill
from skill_services.sdk.runtime import Incoming, RuntimeOptions
from skill_services.sdk.testing import CallFailedError, SkillTester
from skillmesh.errors import ErrorKind
from skillmesh.v1.skill_service_pb2 import InvokeStreamResponse


@pytest.mark.parametrize("blocking", [False, True])
async def test_progress_and_parts_arrive_in_order_before_the_result(blocking: bool) -> None:
    def say(context: SkillContext) -> str:
        """Says."""
        context.progress(0.25, "reading")
        context.part(Text("first"))
        context.progress(message="x" * 2_000)
        context.progress(7)
        context.progress(float("nan"))
        return "done"

    async def say_async(context: SkillContext) -> str:
        """Says."""
        return say(context)

    saying: Any = skill(version="1.0.0", name="say")(say if blocking else say_async)
    async with SkillTester([saying]) as mesh:
        result = await mesh.call("say")

    assert result.progress == ((0.25, "reading"), (None, "x" * 1_000), (1.0, ""), (None, ""))
    assert result.streamed == (Text("first"),)


async def test_a_part_over_the_limit_or_of_no_kind_ends_the_call() -> None:
    @skill(version="1.0.0")
    async def stream(kind: str, context: SkillContext) -> None:
        """Streams."""
        context.part(Text("x" * 30_000) if kind == "large" else kind)  # type: ignore[arg-type]  # what is tested

    async with SkillTester([stream], options=RuntimeOptions(max_message_bytes=16_384)) as mesh:
        with pytest.raises(CallFailedError, match="'stream' has 30,0") as large:
            await mesh.call("stream", {"kind": "large"})
        with pytest.raises(CallFailedError, match="must be Text") as wrong:
            await mesh.call("stream", {"kind": "text"})
        runtime = mesh.runtime
        result = await runtime.invoke(Incoming(mesh.request("stream", {"kind": "large"})))

    assert large.value.error.kind is ErrorKind.REPLY_TOO_LARGE
    assert wrong.value.error.kind is ErrorKind.BAD_REPLY
    assert result.structured == b"null"


async def test_what_is_said_after_the_end_is_dropped() -> None:
    kept: list[SkillContext] = []
    heard: list[InvokeStreamResponse] = []

    @skill(version="1.0.0")
    async def keep(context: SkillContext) -> None:
        """Keeps its context."""
        kept.append(context)

    async with SkillTester([keep]) as mesh:
        await mesh.runtime.invoke(Incoming(mesh.request("keep"), None, heard.append))
        kept[0].progress(1)
        await asyncio.to_thread(kept[0].progress, 1)
        await asyncio.sleep(0)

    assert not heard


async def test_the_context_tells_about_the_call() -> None:
    @skill(version="1.0.0")
    async def tell(context: SkillContext) -> dict[str, object]:
        """Tells."""
        return {
            "principal": [context.principal.subject, context.principal.roles],
            "ids": [context.call_id, context.run_id, context.session_id, context.idempotency_key],
            "numbers": [context.depth, context.attempt],
            "place": [context.time_zone, context.locale],
            "cancelled": context.cancelled,
        }

    async with SkillTester([tell]) as mesh:
        request = mesh.request("tell")
        request.depth, request.attempt, request.idempotency_key, request.locale = 2, 3, "key", "de"
        result = await mesh.invoke(request)

    assert result.value == {
        "principal": ["tester", []],
        "ids": ["call-1", "test-run", "test-session", "key"],
        "numbers": [2, 3],
        "place": ["UTC", "de"],
        "cancelled": False,
    }


@pytest.mark.parametrize("blocking", [False, True])
async def test_log_records_carry_call_and_trace_in_threads_as_well(
    blocking: bool, caplog: pytest.LogCaptureFixture
) -> None:
    def log(context: SkillContext) -> None:
        """Logs."""
        context.logger.warning("looking", extra={"own": 1})
        context.logger.warning("again")

    async def log_async(context: SkillContext) -> None:
        """Logs."""
        log(context)

    logging_skill: Any = skill(version="1.0.0", name="log")(log if blocking else log_async)
    span = NonRecordingSpan(SpanContext(0xABC, 0xDEF, is_remote=False))
    async with SkillTester([logging_skill]) as mesh:
        with trace.use_span(span), caplog.at_level(logging.WARNING):
            await mesh.call("log")

    first = caplog.records[0]
    found = [getattr(first, name) for name in ("skill", "call_id", "run_id", "trace_id", "own")]
    assert found == ["log", "call-1", "test-run", f"{0xABC:032x}", 1]


async def test_context_variables_reach_a_sync_skill() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")

    @skill(version="1.0.0")
    def read() -> str:
        """Reads."""
        return variable.get()

    async with SkillTester([read]) as mesh:
        variable.set("set")
        assert (await mesh.call("read")).value == "set"


async def test_a_sync_function_that_returns_an_awaitable_is_awaited() -> None:
    async def inner() -> str:
        return "awaited"

    @skill(version="1.0.0")
    def outer() -> object:
        """Delegates."""
        return inner()

    async with SkillTester([outer]) as mesh:
        assert (await mesh.call("outer")).value == "awaited"
