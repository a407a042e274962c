"""What the suites of the registry contract share: a client, names of their own, and short ways to say things."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

import consul

PATIENCE = 8.0
_numbers = count(1)


@dataclass
class Registry:
    """The client, and names that no other test uses."""

    client: Any
    kind: str

    def name(self, word: str = "skill") -> str:
        return f"{word}-{next(_numbers)}"


async def register(registry: Registry, name: str, service_id: str = "", **more: Any) -> str:
    service_id = service_id or f"{name}-a"
    await registry.client.agent.service.register(
        name, service_id=service_id, address="127.0.0.1", port=7001, extra_checks=[], **more
    )
    return service_id


def ttl(seconds: str = "30s", status: str = "passing") -> dict[str, str]:
    return {"ttl": seconds, "status": status}


async def passing(registry: Registry, name: str) -> list[str]:
    _, entries = await registry.client.health.service(name, passing=True)
    return [entry["Service"]["ID"] for entry in entries]


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await condition():  # noqa: ASYNC110 - a registry offers no event to wait for
            await asyncio.sleep(0.02)


async def next_change(registry: Registry, name: str, index: str, wait: str = "5s") -> tuple[str, list[Any]]:
    async with asyncio.timeout(PATIENCE):
        answer: tuple[str, list[Any]] = await registry.client.health.service(name, index=index, wait=wait)
        return answer


async def refused(attempt: Awaitable[Any]) -> bool:
    """Consul says no with an error or, in other versions, with a 404, which the client makes False or None."""
    try:
        return not await attempt
    except consul.ConsulException:
        return True
