"""Channels over the life of instances and event loops, with real processes."""

import asyncio
import logging
import threading
import time
from typing import Any

import grpc
import pytest

from agent_core.domain.call import ResultStatus
from agent_core.domain.errors import CallError
from agent_core.domain.events import AttemptStarted
from agent_core.domain.skill import Instance
from agent_core.transport.channels import Line
from agent_core.transport.plain_grpc import make_server, open_channel
from skillmesh.errors import ErrorKind
from tests.support.call_path import make_core, running_core, scripted
from tests.support.eventually import eventually
from tests.support.scripted_process import scripted_skill

SHUTDOWN = grpc.ChannelConnectivity.SHUTDOWN


def closing(line: Line) -> asyncio.Task[None] | None:
    return line.closing


async def test_one_channel_an_instance_is_kept_open() -> None:
    async with scripted_skill() as process, running_core() as core:
        skill = scripted("echo", process.instance())
        await core.call(skill)
        line = core.channels.line(process.instance())
        line.release()
        await asyncio.gather(*(core.call(skill) for _ in range(20)))
        again = core.channels.line(process.instance())
        again.release()
        assert again is line
        assert line.in_flight == 0


async def test_the_channel_of_an_instance_that_left_closes_once_its_calls_have_ended() -> None:
    async with scripted_skill() as process, running_core() as core:
        slow = asyncio.create_task(core.call(scripted("slow", process.instance()), b'{"seconds":0.3}'))
        await eventually(lambda: bool(core.of(AttemptStarted)))
        line = core.channels.line(process.instance())
        line.release()
        core.channels.retain(frozenset())
        assert closing(line) is None
        assert (await slow).status is ResultStatus.SUCCESS
        await eventually(lambda: closing(line) is not None and line.channel.get_state() is SHUTDOWN)
        assert (await core.call(scripted("echo", process.instance()))).status is ResultStatus.SUCCESS
        core.channels.retain(frozenset({process.target}))
        assert core.channels.reachable(process.instance())
        core.channels.retain(frozenset())


async def test_closing_all_channels_closes_one_that_waits_for_its_calls_as_well() -> None:
    async with scripted_skill() as process, running_core() as core:
        call = asyncio.create_task(core.call(scripted("hang", process.instance()), seconds=5.0))
        line = core.channels.line(process.instance())
        await eventually(lambda: line.in_flight == 2)
        core.channels.retain(frozenset())
        await core.channels.close()
        assert line.channel.get_state() is SHUTDOWN
        call.cancel()
        await asyncio.wait([call])
        line.release()


async def test_a_channel_closed_under_a_call_is_an_unavailable_skill_and_no_cancellation() -> None:
    async with scripted_skill() as process, running_core() as core:
        call = asyncio.create_task(core.call(scripted("hang", process.instance()), seconds=0.5))
        line = core.channels.line(process.instance())
        await eventually(lambda: line.in_flight == 2)
        await core.channels.close()
        with pytest.raises(CallError) as caught:
            await call
        assert caught.value.kind is ErrorKind.UNAVAILABLE


async def test_a_restarted_skill_is_reached_soon_after_it_is_back() -> None:
    async with running_core() as core:
        async with scripted_skill() as first:
            port = first.port
            skill = scripted("echo", first.instance())
            await core.call(skill)
            first.kill()
            for _ in range(3):
                with pytest.raises(CallError) as caught:
                    await core.call(skill, seconds=0.3)
                assert caught.value.kind in {ErrorKind.CONNECT_FAILED, ErrorKind.UNAVAILABLE, ErrorKind.BREAKER_OPEN}
        async with scripted_skill("--port", str(port)) as second:
            assert second.port == port
            core.breakers.retry_now("scripted.echo")
            back = time.monotonic()
            while True:
                try:
                    await core.call(skill, seconds=1.0)
                    break
                except CallError:
                    core.breakers.retry_now("scripted.echo")
                    assert time.monotonic() - back < 3.0
                    await asyncio.sleep(0.05)


async def test_while_one_of_two_instances_is_dead_no_call_fails() -> None:
    async with scripted_skill() as dead, scripted_skill() as alive, running_core() as core:
        skill = scripted("echo", dead.instance("dead"), alive.instance("alive"))
        for _ in range(10):
            await core.call(skill)
        dead.kill()
        for _ in range(40):
            assert (await core.call(skill)).instance == "alive"
        to_the_dead = [one for one in core.of(AttemptStarted)[10:] if one.instance == "dead"]
        assert len(to_the_dead) <= 3
        assert not core.channels.reachable(dead.instance())


@pytest.mark.parametrize(
    ("host", "target"),
    [("127.0.0.1", "ipv4:127.0.0.1:{}"), ("[::1]", "ipv6:[::1]:{}"), ("127.0.0.1", "dns:///localhost:{}")],
)
async def test_every_form_of_loopback_address_is_reached(host: str, target: str) -> None:
    async with scripted_skill(host=host) as process, running_core() as core:
        instance = Instance("i", "scripted", target.format(process.port))
        started = time.monotonic()
        assert (await core.call(scripted("echo", instance))).status is ResultStatus.SUCCESS
        assert time.monotonic() - started < 1.0


def test_one_core_serves_several_event_loops_in_turn_and_in_threads(caplog: pytest.LogCaptureFixture) -> None:
    core = make_core()
    failures: list[BaseException] = []

    async def use(process_target: str, calls: int) -> None:
        skill = scripted("echo", Instance("i", "scripted", process_target))
        for _ in range(calls):
            await core.call(skill)
        await core.channels.close()

    def in_thread(process_target: str) -> None:
        try:
            asyncio.run(use(process_target, 100))
        except BaseException as error:  # noqa: BLE001  # told by the main thread
            failures.append(error)

    async def serve(done: threading.Event, ready: list[str], up: threading.Event) -> None:
        async with scripted_skill() as process:
            ready.append(process.target)
            up.set()
            await asyncio.to_thread(done.wait, 60)

    done, up = threading.Event(), threading.Event()
    ready: list[str] = []
    server = threading.Thread(target=lambda: asyncio.run(serve(done, ready, up)))
    server.start()
    try:
        assert up.wait(20)
        with caplog.at_level(logging.WARNING):
            asyncio.run(use(ready[0], 5))
            asyncio.run(use(ready[0], 5))
            threads = [threading.Thread(target=in_thread, args=(ready[0],)) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
    finally:
        done.set()
        server.join(20)
    assert not failures
    assert "BlockingIOError" not in caplog.text


async def test_global_instrumentation_of_grpc_adds_nothing_to_our_channels_and_servers() -> None:
    seen: list[str] = []
    insecure, server = grpc.aio.insecure_channel, grpc.aio.server

    class Interceptor(grpc.aio.UnaryUnaryClientInterceptor):
        async def intercept_unary_unary(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
            seen.append(client_call_details.method)
            return await continuation(client_call_details, request)

    def instrumented(*arguments: object, **options: object) -> grpc.aio.Channel:
        return insecure(*arguments, **{**options, "interceptors": [Interceptor()]})  # type: ignore[arg-type]

    def forbidden(*_arguments: object, **_options: object) -> grpc.aio.Server:
        raise AssertionError("the instrumented server was made")

    async with scripted_skill() as process:
        grpc.aio.insecure_channel, grpc.aio.server = instrumented, forbidden
        try:
            async with running_core() as core:
                await core.call(scripted("echo", process.instance()))
            make_server((), 1)
            await open_channel(process.target, ()).close()
        finally:
            grpc.aio.insecure_channel, grpc.aio.server = insecure, server
    assert seen == []


async def test_an_instance_that_was_never_called_counts_as_reachable() -> None:
    core = make_core()
    assert core.channels.reachable(Instance("i", "scripted", "ipv4:127.0.0.1:1"))
    await core.channels.close()
