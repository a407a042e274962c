"""InvokeStream: progress on the way, one span over all of it, and services that do not offer it."""

import asyncio
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from agent_core.domain.call import CallContext, ResultStatus
from agent_core.domain.errors import CallError
from agent_core.domain.events import CallProgressed
from skillmesh.errors import ErrorKind
from tests.support.call_path import running_core, scripted
from tests.support.eventually import eventually
from tests.support.recorded_spans import attribute, recorded_spans
from tests.support.scripted_process import ScriptedProcess, scripted_skill

LONG = 10.0
SILENT = CallContext(run_id="", deadline=0.0).emit


@pytest.fixture(scope="module")
def process() -> Iterator[ScriptedProcess]:
    """One for all tests that neither count its calls nor harm it."""
    with scripted_skill() as started:
        yield started


async def test_progress_and_partial_text_arrive_before_the_result(process: ScriptedProcess) -> None:
    async with running_core() as core:
        result = await core.call(scripted("stream_steps", process.instance(), timeout=LONG), b'{"count":2}')
        assert result.structured == b'"streamed"'
        progress = core.of(CallProgressed)
        assert [(one.fraction, one.message) for one in progress] == [
            (0.5, "step 1"),
            (1.0, "step 2"),
            (None, "partial"),
            (None, "of unknown length"),
        ]
        assert {(one.run_id, one.call_id) for one in progress} == {("r1", "c1")}


async def test_the_client_span_covers_the_whole_stream(process: ScriptedProcess) -> None:
    async with running_core() as core:
        with recorded_spans() as spans:
            await core.call(scripted("stream_steps", process.instance(), timeout=LONG), b'{"count":3,"seconds":0.1}')
        span = spans.one("skillmesh.v1.SkillService/InvokeStream")
        assert attribute(span, "rpc.method") == "skillmesh.v1.SkillService/InvokeStream"
        assert span.start_time is not None
        assert span.end_time is not None
        assert span.end_time - span.start_time > 0.3e9


@pytest.mark.parametrize(("timeout", "emit"), [(2.0, None), (LONG, SILENT)])
async def test_a_short_skill_or_one_that_nobody_listens_to_is_called_unary(
    process: ScriptedProcess, timeout: float, emit: object
) -> None:
    async with running_core() as core:
        fields: dict[str, Any] = {} if emit is None else {"emit": emit}
        with pytest.raises(CallError) as caught:
            await core.call(scripted("stream_steps", process.instance(), timeout=timeout), **fields)
        assert caught.value.kind is ErrorKind.UNKNOWN_SKILL


async def test_an_instance_without_streams_is_called_unary_and_remembered() -> None:
    async with scripted_skill("--no-stream") as process, running_core() as core:
        skill = scripted("show", process.instance(), timeout=LONG)
        for _ in range(2):
            shown = orjson.loads((await core.call(skill, b'{"a":1}')).structured)
            assert shown["arguments"] == '{"a":1}'
        line = core.channels.line(process.instance())
        line.release()
        assert line.unary_only
        stats = orjson.loads((await core.call(scripted("stats", process.instance()))).structured)
        assert stats["calls"] == {"show": 2, "stats": 1}


async def test_a_stream_that_ends_without_a_result_is_a_bad_reply(process: ScriptedProcess) -> None:
    async with running_core() as core:
        with pytest.raises(CallError) as caught:
            await core.call(scripted("stream_cut", process.instance(), timeout=LONG))
        assert caught.value.kind is ErrorKind.BAD_REPLY


async def test_a_stream_with_too_many_events_is_given_up(process: ScriptedProcess) -> None:
    async with running_core() as core:
        skill = scripted("stream_steps", process.instance(), timeout=60.0)
        with pytest.raises(CallError) as caught:
            await core.call(skill, b'{"count":10001}', seconds=60.0)
        assert caught.value.kind is ErrorKind.BAD_REPLY


async def test_errors_of_a_stream_are_those_of_a_unary_call(process: ScriptedProcess) -> None:
    async with running_core() as core:
        with pytest.raises(CallError) as caught:
            await core.call(scripted("abort", process.instance(), timeout=LONG), b'{"kind":"prerequisite_unmet"}')
        assert caught.value.kind is ErrorKind.PREREQUISITE_UNMET


async def test_leaving_a_stream_cancels_the_work_in_the_skill_process() -> None:
    async with scripted_skill() as process, running_core() as core:
        task = asyncio.create_task(core.call(scripted("hang", process.instance(), timeout=LONG)))

        async def count(of: str) -> int:
            stats = orjson.loads((await core.call(scripted("stats", process.instance()))).structured)
            return int(stats[of].get("hang", 0))

        async def begun() -> bool:
            return await count("calls") == 1

        async def cancelled() -> bool:
            return await count("cancelled") == 1

        await eventually(begun)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await eventually(cancelled, 1.0)
        assert (await core.call(scripted("echo", process.instance()))).status is ResultStatus.SUCCESS
