"""Arguments: checked before anything is sent, passed on byte for byte, checked anew where the skill has moved."""

import asyncio
import time
from dataclasses import replace

from agent_core.domain.call import CallContext, Invoke, Layer, SkillCall, SkillResult
from agent_core.domain.errors import CallError, SkillmeshError
from agent_core.domain.ports import CatalogueSource, Clock
from agent_core.domain.skill import Skill
from agent_core.invocation.arguments import check_arguments
from agent_core.invocation.hidden import hidden_arguments
from skillmesh.errors import ErrorKind


def prepared(source: CatalogueSource, *, clock: Clock = time.monotonic) -> Layer:
    """A call that an instance answers with `schema moved` is resolved in a fresh catalogue and made once more.

    The skill may be another one then, or the same served by fewer instances, as during a rolling deploy.
    """

    def layer(inner: Invoke) -> Invoke:
        async def invoke(call: SkillCall, context: CallContext) -> SkillResult:
            try:
                return await inner(_prepare(call, context), context)
            except CallError as error:
                if error.kind is not ErrorKind.SCHEMA_MOVED:
                    raise
                skill = await _resolve_again(source, call.skill, context.deadline - clock())
                if skill is None or skill == call.skill:
                    raise
                moved = error
            try:
                return await inner(_prepare(replace(call, skill=skill), context), context)
            except CallError as error:
                raise error from moved

        return invoke

    return layer


def _prepare(call: SkillCall, context: CallContext) -> SkillCall:
    skill = call.skill
    if skill.unmet and not skill.instances:
        reasons = "; ".join(one.reason or one.name for one in skill.unmet)
        sentence = f"{skill.label} is not available: {reasons.rstrip('.')}."
        raise CallError(ErrorKind.PREREQUISITE_UNMET, sentence, for_model=f"{sentence} Answer without it and say so.")
    if not call.arguments:
        call = replace(call, arguments=b"{}")
    check_arguments(skill, call.arguments)
    if skill.descriptor.hidden:
        call = replace(call, hidden=hidden_arguments(skill.descriptor, context))
    return call


async def _resolve_again(source: CatalogueSource, skill: Skill, seconds: float) -> Skill | None:
    """The skill as the service offers it now; None where that cannot be told in time."""
    try:
        async with asyncio.timeout(seconds):
            await source.refresh(skill.service)
    except (SkillmeshError, TimeoutError):
        return None
    return source.catalogue.skills.get(skill.name)
