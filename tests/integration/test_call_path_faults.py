"""Skill services that misbehave, as real processes; the figures are bounds, not measurements."""

import asyncio
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from agent_core.domain.call import BlobPart, JsonPart, LinkPart, Principal, ResultStatus, TextPart
from agent_core.domain.errors import CallError, InvalidArgumentsError
from agent_core.domain.events import AttemptFailed, CallFinished, InstanceEjected
from agent_core.domain.skill import Effect
from skillmesh.errors import ErrorKind
from tests.support.call_path import Core, running_core, scripted
from tests.support.eventually import eventually
from tests.support.scripted_process import ScriptedProcess, scripted_skill


@pytest.fixture(scope="module")
def process() -> Iterator[ScriptedProcess]:
    """One for all tests that neither count its calls nor harm it."""
    with scripted_skill() as started:
        yield started


async def error_of(
    core: Core, process: ScriptedProcess, name: str, arguments: bytes = b"{}", **fields: float
) -> CallError:
    timeout = fields.pop("timeout", 2.0)
    with pytest.raises(CallError) as caught:
        await core.call(scripted(name, process.instance(), timeout=timeout), arguments, **fields)
    return caught.value


async def stats(core: Core, process: ScriptedProcess) -> dict[str, dict[str, int]]:
    result = await core.call(scripted("stats", process.instance()))
    counted: dict[str, dict[str, int]] = orjson.loads(result.structured)
    return counted


async def test_every_misbehaviour_ends_in_one_clear_sentence(process: ScriptedProcess) -> None:
    async with running_core() as core:
        expected = {
            "raise": (ErrorKind.UNKNOWN, "scripted.raise failed without saying why. Answer without it and say so."),
            "nan": (
                ErrorKind.BAD_REPLY,
                "scripted.nan answered with something that cannot be read. Answer without it and say so.",
            ),
            "wrong_digest": (
                ErrorKind.CORRUPTED_REPLY,
                "The answer of scripted.wrong_digest was damaged on the way. Try again later or answer without it.",
            ),
            "no_result": (
                ErrorKind.BAD_REPLY,
                "scripted.no_result answered with something that cannot be read. Answer without it and say so.",
            ),
            "unheard_of": (ErrorKind.UNKNOWN_SKILL, "scripted.unheard_of: no skill unheard_of"),
        }
        for name, (kind, sentence) in expected.items():
            error = await error_of(core, process, name)
            assert (error.kind, error.for_model) == (kind, sentence)
            assert "secret" not in error.for_model
        alive = await core.call(scripted("echo", process.instance()), b'{"still": "there"}')
        assert alive.structured == b'{"still": "there"}'


async def test_a_hanging_skill_is_given_up_in_time_and_cancelled_at_its_end() -> None:
    async with scripted_skill() as process, running_core() as core:
        started = time.monotonic()
        error = await error_of(core, process, "hang", seconds=0.4)
        assert time.monotonic() - started < 1.5
        assert error.kind is ErrorKind.DEADLINE_EXCEEDED
        assert error.for_model.startswith("scripted.hang did not answer within 0.")

        async def cancelled() -> bool:
            return (await stats(core, process))["cancelled"].get("hang", 0) >= 1

        await eventually(cancelled)


async def test_cancelling_a_call_cancels_the_work_in_the_skill_process() -> None:
    async with scripted_skill() as process, running_core() as core:
        task = asyncio.create_task(core.call(scripted("hang", process.instance(), timeout=30.0), seconds=30.0))

        async def begun() -> bool:
            return (await stats(core, process))["calls"].get("hang", 0) == 1

        await eventually(begun)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

        async def cancelled() -> bool:
            return (await stats(core, process))["cancelled"].get("hang", 0) == 1

        await eventually(cancelled, 1.0)
        assert core.balancer.in_flight(process.instance()) == 0


async def test_a_reply_over_the_limit_names_size_and_limit_and_is_asked_for_once() -> None:
    async with scripted_skill("--max-message-bytes", "20000000") as process, running_core() as core:
        error = await error_of(core, process, "big", b'{"bytes":5242880}')
        assert error.kind is ErrorKind.REPLY_TOO_LARGE
        assert "The answer of scripted.big is too large (5242" in error.for_model
        assert "bytes, and the limit is 4194304). Ask for less at once." in error.for_model
        assert (await stats(core, process))["calls"]["big"] == 1
        assert core.breakers.state(scripted("big")) == "closed"


async def test_a_reply_over_the_skills_own_limit_is_told_the_same_way() -> None:
    async with scripted_skill() as process, running_core() as core:
        error = await error_of(core, process, "big")
        assert error.kind is ErrorKind.REPLY_TOO_LARGE
        assert (await stats(core, process))["calls"]["big"] == 1


async def test_a_request_over_the_limit_is_refused_before_it_is_sent() -> None:
    async with scripted_skill() as process, running_core(max_message_bytes=100_000) as core:
        error = await error_of(core, process, "echo", b'{"a":"' + b"x" * 200_000 + b'"}')
        assert error.kind is ErrorKind.MESSAGE_TOO_LARGE
        assert "and the limit is 100000" in error.for_model
        assert "echo" not in (await stats(core, process))["calls"]


async def test_a_request_over_the_limit_of_the_server_alone_is_told_as_too_large() -> None:
    async with scripted_skill("--max-message-bytes", "100000") as process, running_core() as core:
        error = await error_of(core, process, "echo", b'{"a":"' + b"x" * 200_000 + b'"}')
        assert error.kind is ErrorKind.MESSAGE_TOO_LARGE
        assert core.breakers.state(scripted("echo")) == "closed"


async def test_large_messages_work_where_both_sides_allow_them() -> None:
    limit = 16 * 1024 * 1024
    async with (
        scripted_skill("--max-message-bytes", str(limit)) as process,
        running_core(max_message_bytes=limit) as core,
    ):
        result = await core.call(scripted("big", process.instance(), timeout=20.0), b'{"bytes":5242880}', seconds=20.0)
        assert len(result.structured) == 5_242_880


@pytest.mark.parametrize("name", ["unknown_status", "unspecified"])
async def test_a_status_that_is_not_known_is_read_as_failed(process: ScriptedProcess, name: str) -> None:
    async with running_core() as core:
        result = await core.call(scripted(name, process.instance()))
        assert (result.status, result.structured) == (ResultStatus.FAILED, b'"odd"')


async def test_content_parts_and_flags_arrive(process: ScriptedProcess) -> None:
    async with running_core() as core:
        result = await core.call(scripted("parts", process.instance()))
        assert result.parts == (
            TextPart("text"),
            JsonPart(b"[1]"),
            BlobPart(b"123", "image/png"),
            LinkPart("file:///a", "a"),
        )
        assert result.truncated
        assert result.replayed


async def test_errors_of_the_contract_keep_their_kind_wait_and_violations(process: ScriptedProcess) -> None:
    async with running_core() as core:
        error = await error_of(core, process, "abort", b'{"kind":"invalid_arguments"}')
        assert isinstance(error, InvalidArgumentsError)
        assert error.for_model.endswith("- a: is wrong")
        error = await error_of(core, process, "abort", b'{"kind":"prerequisite_unmet"}')
        assert error.for_model == "scripted.abort: as asked"
        await error_of(core, process, "abort", b'{"kind":"overloaded","retry_after":0.15}')
        failures = core.of(AttemptFailed)[-3:]
        assert [one.kind for one in failures] == [ErrorKind.OVERLOADED] * 3
        assert failures[0].retry_in >= 0.15
        error = await error_of(core, process, "bare", b'{"status":"NOT_FOUND"}')
        assert error.kind is ErrorKind.UNKNOWN_SKILL


async def test_a_port_that_speaks_no_grpc_is_an_unavailable_skill() -> None:
    async with scripted_skill("--mode", "garbage") as process, running_core() as core:
        error = await error_of(core, process, "echo", seconds=1.0)
        assert error.kind in {ErrorKind.UNAVAILABLE, ErrorKind.CONNECT_FAILED}


async def test_a_port_that_never_answers_costs_no_more_than_the_deadline() -> None:
    async with scripted_skill("--mode", "silent") as process, running_core() as core:
        started = time.monotonic()
        error = await error_of(core, process, "echo", seconds=0.5)
        assert time.monotonic() - started < 1.5
        assert error.kind in {ErrorKind.DEADLINE_EXCEEDED, ErrorKind.CONNECT_FAILED}


async def test_a_write_whose_answer_is_lost_is_unknown_and_done_once(tmp_path: Path) -> None:
    commits = tmp_path / "commits"
    arguments = ("--commits", str(commits))
    async with scripted_skill(*arguments) as one, scripted_skill(*arguments) as two, running_core() as core:
        skill = scripted("commit_then_die", one.instance("a"), two.instance("b"), effect=Effect.WRITE)
        with pytest.raises(CallError) as caught:
            await core.call(skill)
        assert caught.value.kind is ErrorKind.OUTCOME_UNKNOWN
        assert "may or may not have happened" in caught.value.for_model
        assert commits.read_text().splitlines() == ["c1"]


async def test_a_write_that_could_not_be_sent_goes_to_the_other_instance(tmp_path: Path) -> None:
    commits = tmp_path / "commits"
    async with scripted_skill() as dead, scripted_skill("--commits", str(commits)) as alive, running_core() as core:
        dead.kill()
        skill = scripted("commit", dead.instance("a"), alive.instance("b"), effect=Effect.WRITE)
        for _ in range(4):
            assert (await core.call(skill)).status is ResultStatus.SUCCESS
        assert len(commits.read_text().splitlines()) == 4
        assert core.of(CallFinished)[-1].instance == "b"


async def test_what_a_skill_sees_of_a_call(process: ScriptedProcess) -> None:
    async with running_core() as core:
        core.transport.mesh_endpoint = "127.0.0.1:9"
        result = await core.call(
            scripted("show", process.instance()),
            b'{ "a": 1 }',
            principal=Principal("ann", ("dev",)),
            session_id="s1",
            depth=2,
            time_zone="Asia/Tokyo",
            locale="ja",
        )
        seen = orjson.loads(result.structured)
        assert 0 < seen.pop("left") <= 2.0
        assert seen.pop("metadata").keys() >= {"user-agent"}
        assert len(seen.pop("digest")) == 32
        assert seen == {
            "call_id": "c1",
            "run_id": "r1",
            "session_id": "s1",
            "fingerprint": "scripted-show",
            "arguments": '{ "a": 1 }',
            "subject": "ann",
            "roles": ["dev"],
            "idempotency_key": "",
            "attempt": 1,
            "depth": 2,
            "mesh_endpoint": "127.0.0.1:9",
            "time_zone": "Asia/Tokyo",
            "locale": "ja",
            "hidden": "",
        }


async def test_a_frozen_instance_is_left_after_five_timeouts_and_the_other_serves() -> None:
    async with scripted_skill() as frozen, scripted_skill() as well, running_core() as core:
        skill = scripted("echo", frozen.instance("frozen"), well.instance("well"), timeout=0.15)
        for _ in range(4):
            await core.call(skill)
        frozen.signal(signal.SIGSTOP)
        for _ in range(40):
            assert (await core.call(skill)).instance == "well"
        assert [one.instance for one in core.of(InstanceEjected)] == ["frozen"]
        assert len([one for one in core.of(AttemptFailed) if one.instance == "frozen"]) == 5
        assert core.breakers.state(skill) == "closed"
