"""Asking real processes for their skills."""

import time

import pytest

from agent_core.domain.errors import CallError
from agent_core.domain.skill import Effect
from agent_core.transport.channels import Channels
from agent_core.transport.describe import GrpcDescribe
from skillmesh.errors import ErrorKind
from tests.support.scripted_process import scripted_skill


async def test_an_instance_tells_its_skills() -> None:
    channels = Channels()
    async with scripted_skill() as process:
        description = await GrpcDescribe(channels)(process.instance())
        await channels.close()
    by_name = {one.name: one for one in description.skills}
    assert by_name["echo"].timeout == 2.0
    assert by_name["commit"].effect is Effect.WRITE
    assert not description.problems


@pytest.mark.parametrize("mode", ["silent", "garbage"])
async def test_an_instance_that_does_not_answer_is_given_up_in_time(mode: str) -> None:
    channels = Channels()
    async with scripted_skill("--mode", mode) as process:
        started = time.monotonic()
        with pytest.raises(CallError) as caught:
            await GrpcDescribe(channels, timeout=0.5)(process.instance())
        assert time.monotonic() - started < 2.0
        await channels.close()
    assert caught.value.kind in {ErrorKind.UNAVAILABLE, ErrorKind.CONNECT_FAILED, ErrorKind.DEADLINE_EXCEEDED}
    assert "did not describe its skills" in str(caught.value)
