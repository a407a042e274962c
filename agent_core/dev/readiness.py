"""When a process counts as ready: asked over HTTP until it is; who asks bounds the time."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import aiohttp

from agent_core.dev.process_spec import Ready
from skillmesh.conventions import META_PID

_POLL_SECONDS: Final = 0.03
_WAIT: Final = "5s"
_TIMEOUT: Final = aiohttp.ClientTimeout(total=10.0)


def when_answering(*urls: str) -> Ready:
    """Once each URL answers 200 with something other than an empty JSON value."""

    async def ready(_pid: int) -> None:
        async with aiohttp.ClientSession(timeout=_TIMEOUT) as session:
            for url in urls:
                while (answer := await _get(session, url)) is None or not answer[1]:  # noqa: ASYNC110 - there is no event
                    await asyncio.sleep(_POLL_SECONDS)

    return ready


def when_passing(registry: str, service: str) -> Ready:
    """Once the registry (`host:port`) says that an instance of the service that has this process id passes."""
    url = f"http://{registry}/v1/health/service/{service}"

    async def ready(pid: int) -> None:
        index = "0"
        async with aiohttp.ClientSession(timeout=_TIMEOUT) as session:
            while True:
                answer = await _get(session, url, passing="1", index=index, wait=_WAIT)
                if answer is None:
                    index = "0"
                    await asyncio.sleep(_POLL_SECONDS)
                    continue
                index, entries = answer
                if any(_is_of(entry, pid) for entry in entries):
                    return

    return ready


def _is_of(entry: Mapping[str, Any], pid: int) -> bool:
    """An instance that does not tell its process id may be anybody's, also this one's."""
    return str((entry["Service"].get("Meta") or {}).get(META_PID, pid)) == str(pid)


async def _get(session: aiohttp.ClientSession, url: str, **query: str) -> tuple[str, Any] | None:
    """X-Consul-Index and the JSON body; None where there is no such answer yet."""
    try:
        async with session.get(url, params=query) as reply:
            if reply.status != 200:
                return None
            body = await reply.json(content_type=None)
            return reply.headers.get("X-Consul-Index", "0"), body
    except (aiohttp.ClientError, OSError, ValueError):
        return None
