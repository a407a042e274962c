"""The core on a real Consul and real service processes: what is killed is left, and its sibling serves meanwhile."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import orjson
import pytest

from agent_core.app.settings import CoreSettings
from agent_core.app.wiring import Core, open_core
from agent_core.domain.call import CallContext, ResultStatus, SkillCall, SkillResult
from tests.support.consul_agent import consul_agent, find_consul
from tests.support.eventually import eventually
from tests.support.service_process import ServiceProcess, demo_service

pytestmark = [
    pytest.mark.consul,
    pytest.mark.skipif(find_consul() is None, reason="no consul binary: set SKILLMESH_CONSUL_BIN"),
]


@asynccontextmanager
async def two_instances() -> AsyncIterator[tuple[Core, ServiceProcess, ServiceProcess]]:
    async with consul_agent() as agent:
        registering = {"SKILLMESH_REGISTER": "true", "CONSUL_HTTP_ADDR": agent.http_addr}
        settings = CoreSettings.model_validate({"consul_addr": agent.http_addr})
        async with (
            demo_service(**registering) as first,
            demo_service(**registering) as second,
            open_core(settings, with_model=False) as core,
        ):
            await eventually(lambda: len(instances(core)) == 2, 15)
            yield core, first, second


def instances(core: Core) -> set[str]:
    skill = core.catalogue.catalogue.skills.get("echo")
    return {one.id for one in skill.instances} if skill else set()


async def echo(core: Core, text: str) -> SkillResult:
    skill = core.catalogue.catalogue.skills["echo"]
    call = SkillCall(id=uuid4().hex, skill=skill, arguments=orjson.dumps({"text": text}))
    return await core.invoke(call, CallContext(run_id="run", deadline=time.monotonic() + 10))


async def test_while_one_instance_is_killed_no_call_fails_and_then_it_is_never_picked() -> None:
    async with two_instances() as (core, first, second):
        served = {(await echo(core, "warm")).instance for _ in range(20)}
        assert served == {first.instance, second.instance}

        first.send(signal.SIGKILL)
        meanwhile = []
        async with asyncio.timeout(15):
            while first.instance in instances(core):
                meanwhile.append(await echo(core, "meanwhile"))
        assert {result.status for result in meanwhile} == {ResultStatus.SUCCESS}

        after = [await echo(core, "after") for _ in range(20)]
        assert {(result.instance, result.attempts) for result in after} == {(second.instance, 1)}


async def test_an_instance_that_is_told_to_stop_leaves_without_a_failed_call() -> None:
    async with two_instances() as (core, first, second):
        first.send(signal.SIGTERM)
        results = []
        async with asyncio.timeout(15):
            while first.instance in instances(core):
                results.append(await echo(core, "leaving"))
        results += [await echo(core, "left") for _ in range(20)]
        assert {result.status for result in results} == {ResultStatus.SUCCESS}
        assert results[-1].instance == second.instance
        assert await first.ended() == 0
