"""The skills for the node that this process runs on. What psutil reads may block, so it is read in threads."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import Field

from skill_services.sdk import SkillError, skill
from skill_services.system import readings
from skill_services.system.failures import ReadingError
from skill_services.system.readings import Disk, Overview, Process

VERSION: Final = "1.0.0"
_OWNER: Final = "skillmesh"
_SAMPLE_SECONDS: Final = 0.25
_MAX_PROCESSES: Final = 50


@dataclass(frozen=True, slots=True)
class Disks:
    disks: list[Disk]


@dataclass(frozen=True, slots=True)
class Processes:
    """`running` is how many processes there are in all."""

    by: str
    running: int
    processes: list[Process]


@skill(
    version=VERSION,
    access="observer",
    effect="read",
    timeout=5.0,
    owner=_OWNER,
    change_note="First version.",
    tags=["system", "cpu", "memory", "uptime", "系统", "内存"],
    scenarios=[
        "How busy is this machine?",
        "How much memory is free?",
        "What is the load and uptime of the node?",
        "这台机器的 CPU 和内存使用情况",
        "系统运行多久了？",
        "服务器负载高吗？",
    ],
    examples=[("How busy is the server?", {}), ("内存还剩多少？", {})],
)
async def system_overview() -> Overview:
    """Use when the state of this node as a whole is asked for: CPU, memory, load, uptime.

    Measures the share of CPU in use over a quarter of a second and reads memory, swap, load averages and boot time;
    sizes are bytes. For single processes use top_processes, for disks disk_usage.
    """
    before = await asyncio.to_thread(readings.sample_cpu)
    await asyncio.sleep(_SAMPLE_SECONDS)
    return await asyncio.to_thread(readings.overview, before)


@skill(
    version=VERSION,
    access="observer",
    effect="read",
    timeout=5.0,
    owner=_OWNER,
    change_note="First version.",
    tags=["system", "disk", "storage", "磁盘"],
    scenarios=[
        "How much disk space is left?",
        "Is the disk that holds /var full?",
        "Show the usage of all disks",
        "磁盘还剩多少空间？",
        "/var 所在的磁盘满了吗？",
        "查看所有磁盘的使用率",
    ],
    examples=[("Is /var full?", {"path": "/var"}), ("磁盘还剩多少空间？", {})],
)
def disk_usage(
    path: Annotated[
        str,
        Field(
            description="A path on the disk in question, such as /var. Empty: every disk.",
            examples=["/", "/var"],
            max_length=1_024,
        ),
    ] = "",
) -> Disks:
    """Use when free or used disk space of this node is asked for.

    Returns total, used and free bytes and the share in use of the disk that holds a path, or of every disk. Unlike
    system_overview it is about disks alone.
    """
    try:
        return Disks(readings.disks(path))
    except ReadingError as error:
        raise SkillError(str(error)) from None


@skill(
    version=VERSION,
    access="observer",
    effect="read",
    timeout=8.0,
    owner=_OWNER,
    change_note="First version.",
    tags=["system", "processes", "进程"],
    scenarios=[
        "Which processes use the most CPU?",
        "What is eating the memory of this machine?",
        "Top 5 processes by memory",
        "哪个进程占用 CPU 最高？",
        "内存占用最多的 5 个进程",
        "是什么程序让服务器变慢的？",
    ],
    examples=[
        ("Top 5 processes by memory", {"by": "memory", "limit": 5}),
        ("哪些进程最占 CPU？", {"by": "cpu"}),
    ],
)
async def top_processes(
    by: Annotated[
        Literal["cpu", "memory"], Field(description="What to rank by: cpu or memory.", examples=["memory"])
    ] = "cpu",
    limit: Annotated[int, Field(description="How many processes to return, such as 5.", ge=1, le=_MAX_PROCESSES)] = 10,
) -> Processes:
    """Use when the processes that use the most CPU or memory on this node are asked for.

    Measures every process over a quarter of a second and returns name, pid, CPU share (100 is one CPU) and resident
    memory; command lines are never shown. Unlike system_overview it tells processes apart.
    """
    before = await asyncio.to_thread(readings.sample_processes)
    await asyncio.sleep(_SAMPLE_SECONDS)
    processes, running = await asyncio.to_thread(readings.top, before, by, limit)
    return Processes(by, running, processes)
