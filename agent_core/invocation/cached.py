"""Answers of reads, served again while they are fresh."""

import hashlib
import re
from dataclasses import replace
from typing import Final

import orjson
from opentelemetry import trace

from agent_core.domain.call import CallContext, Invoke, Layer, ResultStatus, SkillCall, SkillResult
from agent_core.domain.ports import ResultCache
from agent_core.domain.skill import Effect
from agent_core.telemetry import instruments
from skillmesh.conventions import ATTR_CACHE, ATTR_SERVICE, ATTR_SKILL

# A number this long may not survive a double unchanged, and two different ones could become equal.
_LONG_NUMBER: Final = re.compile(rb"[0-9.]{17}")


def cached(cache: ResultCache) -> Layer:
    """Keeps successes of reads whose descriptor gives a cache TTL; nothing else is looked up or kept."""

    def layer(inner: Invoke) -> Invoke:
        async def invoke(call: SkillCall, context: CallContext) -> SkillResult:
            descriptor = call.skill.descriptor
            if descriptor.cache_ttl <= 0 or descriptor.effect is not Effect.READ:
                return await inner(call, context)
            key = cache_key(call, context)
            hit = cache.get(key)
            _tell(call, "hit" if hit is not None else "miss")
            if hit is not None:
                return hit
            result = await inner(call, context)
            if result.status is ResultStatus.SUCCESS:
                cache.put(key, replace(result, cached=True, instance="", attempts=0), descriptor.cache_ttl)
            return result

        return invoke

    return layer


def cache_key(call: SkillCall, context: CallContext) -> bytes:
    """Hash over the skill, its arguments, and everything else that reaches the skill and may shape its answer.

    Principal and session always count, as an executor can read them whether or not its descriptor says so.
    """
    descriptor = call.skill.descriptor
    parts = (
        call.skill.label.encode(),
        descriptor.fingerprint.encode(),
        _canonical(call.arguments),
        call.hidden,
        context.principal.subject.encode(),
        orjson.dumps(sorted(context.principal.roles)),
        context.time_zone.encode(),
        context.locale.encode(),
        context.session_id.encode(),
    )
    state = hashlib.blake2b(digest_size=32)
    for part in parts:
        state.update(len(part).to_bytes(8, "big"))
        state.update(part)
    return state.digest()


def _canonical(arguments: bytes) -> bytes:
    if _LONG_NUMBER.search(arguments):
        return arguments
    return orjson.dumps(orjson.loads(arguments), option=orjson.OPT_SORT_KEYS)


def _tell(call: SkillCall, outcome: str) -> None:
    trace.get_current_span().set_attribute(ATTR_CACHE, outcome)
    labels = {ATTR_SKILL: call.skill.name, ATTR_SERVICE: call.skill.service, ATTR_CACHE: outcome}
    instruments.cache_requests.add(1, labels)
