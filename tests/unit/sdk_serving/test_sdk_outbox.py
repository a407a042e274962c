import asyncio

from skill_services.sdk.outbox import Outbox
from skillmesh.v1.result_pb2 import ContentPart
from skillmesh.v1.skill_service_pb2 import InvokeStreamResponse, Progress


def progress(message: str) -> InvokeStreamResponse:
    return InvokeStreamResponse(progress=Progress(message=message))


def part(text: str) -> InvokeStreamResponse:
    return InvokeStreamResponse(part=ContentPart(text=text))


async def drained(outbox: Outbox) -> list[InvokeStreamResponse]:
    outbox.close()
    events = []
    while (event := await outbox.get()) is not None:
        events.append(event)
    return events


async def test_events_come_out_in_order_and_then_the_end() -> None:
    outbox = Outbox()
    outbox.put(progress("1"))
    outbox.put(part("2"))
    assert await drained(outbox) == [progress("1"), part("2")]


async def test_a_reader_waits_for_the_next_event() -> None:
    outbox = Outbox()
    reading = asyncio.create_task(outbox.get())
    await asyncio.sleep(0)
    assert not reading.done()
    outbox.put(progress("late"))
    assert await asyncio.wait_for(reading, 1) == progress("late")


async def test_a_slow_reader_loses_progress_but_never_a_part_in_the_middle() -> None:
    outbox = Outbox()
    for number in range(300):
        outbox.put(progress(str(number)))
    outbox.put(part("lost"))
    assert await outbox.get() == progress("0")
    outbox.put(part("also left out"))
    outbox.put(progress("fits again"))
    events = await drained(outbox)
    assert len(events) == 256
    assert events[-1] == progress("fits again")
    assert not any(event.HasField("part") for event in events)


async def test_what_is_held_is_bounded_in_bytes() -> None:
    outbox = Outbox()
    for _ in range(10):
        outbox.put(part("x" * 1_000_000))
    assert len(await drained(outbox)) == 4


async def test_nothing_comes_after_the_end() -> None:
    outbox = Outbox()
    outbox.close()
    outbox.put(progress("too late"))
    assert await outbox.get() is None
