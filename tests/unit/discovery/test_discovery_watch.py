import logging
import time
from random import Random

import pytest

from agent_core.discovery.client import ConsulClient
from agent_core.discovery.link import Link
from agent_core.discovery.settings import DiscoverySettings
from agent_core.discovery.watch import MeshWatch
from agent_core.domain.errors import RegistryError
from tests.support.eventually import eventually
from tests.support.scripted_consul import SERVICES, Reply, scripted_consul, skill_services


class ClumsyListener:
    """Breaks at the first answer."""

    def __init__(self) -> None:
        self.heard: list[frozenset[str]] = []
        self.breaks = 1

    def registry_found(self) -> None:
        if self.breaks:
            self.breaks -= 1
            raise ZeroDivisionError

    def registry_lost(self, error: RegistryError) -> None:
        raise AssertionError(error)

    def services_heard(self, names: frozenset[str], unusable: tuple[str, ...], *, fresh: bool) -> None:
        del unusable, fresh
        self.heard.append(names)

    def instances_heard(self, service: str, body: object, *, fresh: bool) -> None:
        raise AssertionError((service, body, fresh))

    def instances_failed(self, service: str, error: RegistryError) -> None:
        raise AssertionError((service, error))


async def test_a_watch_that_ends_by_a_mistake_is_logged_and_started_again(caplog: pytest.LogCaptureFixture) -> None:
    async with scripted_consul() as consul:
        consul.script_now(SERVICES, Reply(skill_services("s")))
        settings = DiscoverySettings(address=consul.address)
        client, listener = ConsulClient(settings), ClumsyListener()
        link = Link(lambda _event: None, time.monotonic)
        random = Random(1)  # noqa: S311  # a test's jitter
        watch = MeshWatch(client, settings, listener, link, time.monotonic, random)
        watch.start()
        with caplog.at_level(logging.ERROR):
            await eventually(lambda: listener.heard == [frozenset({"s"})])
        assert "watch services failed and is started again" in caplog.text
        assert "ZeroDivisionError" in caplog.text
        await watch.stop()
        await client.close()
