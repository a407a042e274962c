"""The calls of one turn, run together: each has its own outcome, and none takes the others down."""

import asyncio
from collections.abc import Iterator, Sequence
from itertools import groupby

from agent_core.domain.call import CallContext, Invoke, SkillCall, SkillResult
from agent_core.domain.errors import CallError
from agent_core.domain.ports import FanOut
from agent_core.invocation.traced import cancelled

Outcome = SkillResult | CallError


def fan_out(invoke: Invoke) -> FanOut:
    """Calls of `exclusive` skills run alone, between those before and after them; `max_parallel` is kept per skill."""

    async def run(calls: Sequence[SkillCall], context: CallContext) -> Sequence[Outcome]:
        outcomes: list[Outcome] = []
        for together in _batches(calls):
            if len(together) == 1:
                outcomes.append(await _one(invoke, together[0], context, None))
            else:
                outcomes += await _together(invoke, together, context)
        return outcomes

    return run


def _batches(calls: Sequence[SkillCall]) -> Iterator[list[SkillCall]]:
    for exclusive, group in groupby(calls, key=lambda call: call.skill.descriptor.exclusive):
        if exclusive:
            yield from ([call] for call in group)
        else:
            yield list(group)


async def _together(invoke: Invoke, calls: Sequence[SkillCall], context: CallContext) -> list[Outcome]:
    limits = {
        call.skill.label: asyncio.Semaphore(call.skill.descriptor.max_parallel)
        for call in calls
        if call.skill.descriptor.max_parallel
    }
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_one(invoke, call, context, limits.get(call.skill.label))) for call in calls]
    # A task that is cancelled here was so by something else than the run.
    return [cancelled(call) if task.cancelled() else task.result() for call, task in zip(calls, tasks, strict=True)]


async def _one(
    invoke: Invoke, call: SkillCall, context: CallContext, limit: asyncio.Semaphore | None
) -> SkillResult | CallError:
    try:
        if limit is None:
            return await invoke(call, context)
        async with limit:
            return await invoke(call, context)
    except CallError as error:
        return error
