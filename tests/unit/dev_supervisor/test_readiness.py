import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
from aiohttp import web

from agent_core.dev.readiness import when_answering, when_passing
from agent_core.dev.registry.server import RegistryServer
from tests.support.dev_registry import dev_registry


@dataclass
class Page:
    """Answers in turn, the last one for ever."""

    answers: list[web.Response] = field(default_factory=list)
    asked: int = 0
    url: str = ""

    async def get(self, _request: web.Request) -> web.Response:
        answer = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        return web.Response(status=answer.status, body=answer.body)


@pytest.fixture
async def page() -> AsyncIterator[Page]:
    page = Page()
    app = web.Application()
    app.router.add_get("/", page.get)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    page.url = f"http://127.0.0.1:{runner.addresses[0][1]}/"
    yield page
    await runner.cleanup()


async def test_a_page_is_asked_until_it_answers_with_something(page: Page) -> None:
    page.answers = [
        web.Response(status=500),
        web.Response(body=b"not JSON"),
        web.Response(body=b'""'),
        web.Response(body=b"[]"),
        web.Response(body=b'"127.0.0.1:8300"'),
    ]
    await asyncio.wait_for(when_answering(page.url)(1), 10)
    assert page.asked == 5


async def test_a_page_that_nobody_serves_is_asked_on() -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(when_answering("http://127.0.0.1:9/")(1), 0.2)


@pytest.fixture
async def registry() -> AsyncIterator[RegistryServer]:
    async with dev_registry() as server:
        yield server


def register(registry: RegistryServer, meta: dict[str, str]) -> None:
    from agent_core.dev.registry.entries import ServiceDefinition

    service = ServiceDefinition(id="clock-1", name="clock", meta=meta)
    registry.registry.state.register(service, (), replace_checks=True)


async def test_a_service_is_ready_once_the_process_itself_passes(registry: RegistryServer) -> None:
    register(registry, {"skillmesh_pid": "41"})  # an earlier process, not yet found out
    waiting = asyncio.ensure_future(when_passing(f"127.0.0.1:{registry.port}", "clock")(42))
    done, _ = await asyncio.wait([waiting], timeout=0.2)
    assert not done
    register(registry, {"skillmesh_pid": "42"})
    await asyncio.wait_for(waiting, 5)


async def test_an_instance_that_does_not_tell_its_process_counts(registry: RegistryServer) -> None:
    register(registry, {})
    await asyncio.wait_for(when_passing(f"127.0.0.1:{registry.port}", "clock")(42), 5)


async def test_a_registry_that_is_not_there_yet_is_asked_on() -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(when_passing("127.0.0.1:9", "clock")(42), 0.2)
