"""The whole core, real processes, and a model that insists: every fault of a skill is one clear sentence."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from agent_core.agent.session import Session
from agent_core.app.asking import RunSummary, ask
from agent_core.app.settings import CoreSettings
from agent_core.app.wiring import open_core
from agent_core.domain.events import Event, FinishReason
from skillmesh.errors import ErrorKind
from tests.support.dev_registry import dev_registry
from tests.support.eventually import eventually
from tests.support.scripted_endpoint import Asked, Reply, ScriptedEndpoint, calls, says, scripted_endpoint

ANSWER = "I could not do that."


@dataclass
class Outcome:
    summary: RunSummary
    endpoint: ScriptedEndpoint

    @property
    def told(self) -> str:
        """What the model read in place of a result."""
        (reply,) = self.endpoint.asked[-1].tool_replies
        return str(reply["content"])


@asynccontextmanager
async def faulty_service(consul: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.support.faulty_service",
        env={**os.environ, "CONSUL_HTTP_ADDR": consul, "SKILLMESH_DRAIN_SECONDS": "0", "SKILLMESH_GRACE_SECONDS": "1"},
        stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def run_with(skill: str, *script: Reply, arguments: str = "{}") -> Outcome:
    """One run in which the model asks for the skill, reads what came of it, and answers."""

    def ignore(_event: Event) -> None:
        pass

    def asks(_asked: Asked) -> Reply:
        return calls(("call_1", skill, arguments))

    async with (
        dev_registry() as registry,
        scripted_endpoint(asks, *script) as endpoint,
        faulty_service(f"127.0.0.1:{registry.port}"),
    ):
        settings = CoreSettings.model_validate(
            {"consul_addr": f"127.0.0.1:{registry.port}", "openai_base_url": endpoint.url, "model": "scripted"}
        )
        async with open_core(settings, with_model=True) as core:
            await eventually(lambda: "hangs" in core.catalogue.catalogue.skills, 15)
            assert core.loop is not None
            return Outcome(await ask(core.loop, "Do it.", Session(), ignore), endpoint)


@pytest.mark.parametrize(
    ("skill", "kind", "words"),
    [
        ("hangs", ErrorKind.DEADLINE_EXCEEDED, ("faulty.hangs", "0.5 s")),
        ("raises", ErrorKind.CRASHED, ("faulty.raises", "RuntimeError")),
        ("huge", ErrorKind.REPLY_TOO_LARGE, ("faulty.huge", "limit")),
        ("not_a_number", ErrorKind.BAD_REPLY, ("faulty.not_a_number", "cannot be read")),
        ("dies", ErrorKind.OUTCOME_UNKNOWN, ("faulty.dies", "may")),
        ("guarded", ErrorKind.APPROVAL_REQUIRED, ("approval",)),
    ],
)
async def test_a_skill_that_fails_gives_the_model_one_clear_sentence(
    skill: str, kind: ErrorKind, words: tuple[str, ...]
) -> None:
    outcome = await run_with(skill, says(ANSWER))
    finished = outcome.summary.finished
    assert finished is not None
    assert (finished.reason, finished.answer) == (FinishReason.ANSWERED, ANSWER)
    (call,) = outcome.summary.calls
    assert call.error is kind
    assert all(word in outcome.told for word in words), outcome.told
    assert len(outcome.told) < 400
    assert "Traceback" not in outcome.told
    assert "s3cret" not in outcome.told


async def test_a_skill_that_says_no_is_heard() -> None:
    outcome = await run_with("refuses", says(ANSWER))
    assert outcome.summary.calls[0].status == "failed"
    assert "The library is closed." in outcome.told


async def test_arguments_that_are_no_json_are_answered_with_what_to_mend() -> None:
    outcome = await run_with("hangs", says(ANSWER), arguments='{"a": ')
    assert outcome.summary.finished is not None
    assert outcome.summary.finished.answer == ANSWER
    assert "JSON" in outcome.told
