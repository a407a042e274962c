"""Asks a collector in another process for a trace."""

from typing import Any, Final
from urllib.parse import quote

import aiohttp
import orjson

from agent_core.dev.collector.record import SpanRecord
from agent_core.dev.collector.server import DEFAULT_WAIT_SECONDS, LATEST
from agent_core.dev.collector.tree import TraceTree, build_tree

_MARGIN_SECONDS: Final = 3.0
_TRACE_ID_CHARS: Final = 32


class CollectorGoneError(Exception):
    """The collector does not answer, or answers with something else."""


async def fetch_tree(collector_url: str, key: str = LATEST, timeout: float = DEFAULT_WAIT_SECONDS) -> TraceTree | None:
    """The tree of a run id, a trace id (32 hex digits) or the latest run; None where no span of it is known.

    Waits up to `timeout` seconds for it to be complete. `collector_url` is the collector's, with or without its
    `/v1/traces`. Raises CollectorGoneError.
    """
    base = collector_url.removesuffix("/v1/traces").rstrip("/")
    kind = "traces" if _is_trace_id(key) else "runs"
    limit = aiohttp.ClientTimeout(total=timeout + _MARGIN_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=limit) as session,
            session.get(f"{base}/{kind}/{quote(key, safe='')}", params={"wait": str(timeout)}) as reply,
        ):
            if reply.status == 404:
                return None
            reply.raise_for_status()
            answer: Any = orjson.loads(await reply.read())
            spans = [SpanRecord.from_dict(span) for span in answer["spans"]]
            tree = build_tree(answer["trace_id"], spans, answer["dropped"])
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        reason = str(error) or "timed out"
        raise CollectorGoneError(f"The span collector at {base} does not answer: {reason}.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise CollectorGoneError(f"What answers at {base} is no span collector of this version.") from error
    return tree if tree.span_count else None


def _is_trace_id(key: str) -> bool:
    return len(key) == _TRACE_ID_CHARS and all(char in "0123456789abcdef" for char in key)
