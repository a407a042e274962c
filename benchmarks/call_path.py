"""One call through all layers against a raw grpc.aio unary echo of the same pair of processes.

    python benchmarks/call_path.py [--json] [--rounds 15] [--calls 400] [--bytes 200] [--asyncio]

Both go over loopback to one skill process; rounds are interleaved and the ratio is of medians, so that a busy machine
slows both alike. Both processes run on uvloop where it is installed, as in production. No exporter and no tracer
provider. Figures are ratios to the raw call, which is 1.0.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import grpc

from agent_core.domain.call import CallContext, SkillCall
from agent_core.domain.skill import Skill
from skillmesh.conventions import client_options
from skillmesh.digests import arguments_digest
from skillmesh.stubs import SkillServiceStub
from skillmesh.v1.skill_service_pb2 import InvokeRequest, InvokeStreamRequest
from tests.support.call_path import Core, make_core, scripted
from tests.support.fast_loop import fast_loop
from tests.support.scripted_process import ScriptedProcess, scripted_skill

Once = Callable[[], Awaitable[object]]


async def _round(once: Once, calls: int, concurrency: int) -> float:
    """Seconds per call."""

    async def worker(count: int) -> None:
        for _ in range(count):
            await once()

    started = time.perf_counter()
    await asyncio.gather(*(worker(calls // concurrency) for _ in range(concurrency)))
    return (time.perf_counter() - started) / (calls // concurrency * concurrency)


async def _compare(ways: dict[str, Once], options: argparse.Namespace, concurrency: int) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(options.rounds + 1):
        for name, once in ways.items():
            seconds = await _round(once, options.calls, concurrency)
            if number:  # the first round warms up
                times[name].append(seconds)
    raw = median(times["raw unary"])
    return {name: round(median(of) / raw, 3) for name, of in times.items()} | {"raw_microseconds": round(raw * 1e6)}


def _ways(process: ScriptedProcess, core: Core, channel: grpc.aio.Channel, size: int) -> dict[str, Once]:
    arguments = b'{"text":"' + b"x" * max(size - 11, 0) + b'"}'
    stub = SkillServiceStub(channel)
    request = InvokeRequest(skill="echo", arguments=arguments, arguments_digest=arguments_digest(arguments))
    short, long = scripted("echo", process.instance()), scripted("echo", process.instance(), timeout=30.0)

    async def raw() -> None:
        await stub.invoke(request, timeout=5.0)

    async def raw_stream() -> None:
        async for _ in stub.invoke_stream(InvokeStreamRequest(request=request), timeout=5.0):
            break

    async def whole(skill: Skill) -> None:
        context = CallContext(run_id="r", deadline=time.monotonic() + 30.0, emit=lambda _event: None)
        await core.invoke(SkillCall("c", skill, arguments), context)

    return {
        "raw unary": raw,
        "all layers": lambda: whole(short),
        "raw stream": raw_stream,
        "all layers, stream": lambda: whole(long),
    }


async def _main(options: argparse.Namespace) -> None:
    core = make_core()
    figures = {}
    flags = () if options.asyncio else ("--uvloop",)
    async with (
        scripted_skill(*flags) as process,
        grpc.aio.insecure_channel(process.target, client_options()) as channel,
    ):
        ways = _ways(process, core, channel, options.bytes)
        for concurrency in (1, 16):
            figures[f"concurrency {concurrency}"] = await _compare(ways, options, concurrency)
        await core.channels.close()
    if options.json:
        print(json.dumps({"bytes": options.bytes, "ratios": figures}))
        return
    for name, ratios in figures.items():
        print(name)
        for way, ratio in ratios.items():
            print(f"  {way:<22} {ratio}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--calls", type=int, default=400)
    parser.add_argument("--bytes", type=int, default=200)
    parser.add_argument("--asyncio", action="store_true", help="asyncio's own event loop on both sides")
    given = parser.parse_args()
    with asyncio.Runner(loop_factory=None if given.asyncio else fast_loop()) as runner:
        runner.run(_main(given))
