"""A run's events reach their reader in order and in bounds."""

import asyncio

from agent_core.agent.channel import Channel
from agent_core.domain.events import CallProgressed, FinishReason, RunFinished, TextDelta, Usage

PROGRESS = CallProgressed(call_id="a", fraction=None, message="m")
END = RunFinished(answer="a", reason=FinishReason.ANSWERED, detail="", turns=1, usage=Usage(), seconds=0, trace_id="")


async def test_nothing_follows_the_end() -> None:
    channel = Channel()
    for event in (PROGRESS, END, PROGRESS):
        channel.emit(event)
    assert [await channel.next(), await channel.next()] == [PROGRESS, END]
    channel.emit(PROGRESS)
    reading = asyncio.create_task(channel.next())
    await asyncio.wait([reading], timeout=0.01)
    assert not reading.done()
    reading.cancel()


async def test_the_writer_waits_for_a_reader_that_is_behind_and_progress_is_dropped_in_the_end() -> None:
    channel = Channel()
    await channel.room()
    for _ in range(10_000):
        channel.emit(PROGRESS)
    channel.emit(TextDelta(text="kept"))
    waiting = asyncio.create_task(channel.room())
    read = 0
    while not waiting.done():
        await channel.next()
        read += 1
        await asyncio.sleep(0)
    assert 2_900 < read < 3_100
    while not isinstance(await channel.next(), TextDelta):
        read += 1
    assert read < 4_100
