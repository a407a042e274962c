"""What psutil says of this node, as values. Sizes are bytes, times seconds, shares percent.

CPU shares are measured between two moments that the caller sets apart, so that nothing here waits.
"""

import os
import platform
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final, Literal

import psutil

from skill_services.system.failures import ReadingError

_PSEUDO: Final = frozenset(("squashfs", "tmpfs", "devtmpfs", "overlay", "proc", "sysfs", "cgroup2", "autofs"))


@dataclass(frozen=True, slots=True)
class Memory:
    total: int
    available: int
    used: int
    percent: float


@dataclass(frozen=True, slots=True)
class Overview:
    """`load` is the average number of runnable processes over 1, 5 and 15 minutes; None where the system has none."""

    host: str
    system: str
    cpu_percent: float
    cpu_count: int
    load: list[float] | None
    memory: Memory
    swap: Memory
    boot_time: str
    uptime_seconds: int
    uptime: str


@dataclass(frozen=True, slots=True)
class Disk:
    path: str
    file_system: str
    total: int
    used: int
    free: int
    percent: float


@dataclass(frozen=True, slots=True)
class Process:
    """`cpu_percent` is of one CPU, so it may exceed 100; `memory` is what is resident."""

    pid: int
    name: str
    cpu_percent: float
    memory: int
    memory_percent: float


@dataclass(frozen=True, slots=True)
class CpuSample:
    """Seconds that all CPUs together were busy, and existed."""

    busy: float
    total: float


@dataclass(frozen=True, slots=True)
class ProcessSample:
    """CPU seconds by pid and start time (a pid is used again), taken at `moment` (monotonic)."""

    moment: float
    seconds: dict[tuple[int, float], float]


def sample_cpu() -> CpuSample:
    times = psutil.cpu_times()
    total = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)  # guests count as user too
    return CpuSample(total - times.idle - getattr(times, "iowait", 0.0), total)


def overview(before: CpuSample) -> Overview:
    """`before` was taken a moment ago."""
    after = sample_cpu()
    elapsed = after.total - before.total
    memory, swap = psutil.virtual_memory(), psutil.swap_memory()
    booted = psutil.boot_time()
    uptime = max(0, int(time.time() - booted))
    busy = 100 * (after.busy - before.busy) / elapsed if elapsed > 0 else 0.0
    return Overview(
        host=platform.node(),
        system=f"{platform.system()} {platform.release()}",
        cpu_percent=round(min(100.0, max(0.0, busy)), 1),
        cpu_count=psutil.cpu_count() or 1,
        load=[round(value, 2) for value in psutil.getloadavg()] if hasattr(os, "getloadavg") else None,
        memory=Memory(memory.total, memory.available, memory.used, memory.percent),
        swap=Memory(swap.total, swap.free, swap.used, swap.percent),
        boot_time=datetime.fromtimestamp(booted, UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        uptime_seconds=uptime,
        uptime=duration(uptime),
    )


def disks(path: str) -> list[Disk]:
    """The disk that holds `path`, or where it is empty every disk that is mounted. Raises ReadingError."""
    if path:
        return [replace(_disk(path, ""), file_system=_file_system(path))]
    found = [_readable(part.mountpoint, part.fstype) for part in psutil.disk_partitions() if part.fstype not in _PSEUDO]
    known = {disk.path: disk for disk in found if disk and disk.total}
    return list(known.values()) or [_disk(os.sep, _file_system(os.sep))]


def sample_processes() -> ProcessSample:
    seconds: dict[tuple[int, float], float] = {}
    for process in psutil.process_iter():
        try:
            times = process.cpu_times()
            seconds[process.pid, process.create_time()] = times.user + times.system
        except psutil.Error:
            continue  # it ended, or is not ours to see
    return ProcessSample(time.monotonic(), seconds)


def top(before: ProcessSample, by: Literal["cpu", "memory"], limit: int) -> tuple[list[Process], int]:
    """The first `limit` and how many there are. Names only: a command line may hold a secret."""
    found: list[Process] = []
    total = psutil.virtual_memory().total
    for process in psutil.process_iter():
        try:
            with process.oneshot():
                times = process.cpu_times()
                used = times.user + times.system
                earlier = before.seconds.get((process.pid, process.create_time()), used)
                resident = process.memory_info().rss
                name = process.name()
        except psutil.Error:
            continue
        elapsed = max(time.monotonic() - before.moment, 1e-3)
        share = round(max(0.0, 100 * (used - earlier) / elapsed), 1)
        found.append(Process(process.pid, name, share, resident, round(100 * resident / total, 1)))
    if by == "cpu":
        found.sort(key=lambda process: (-process.cpu_percent, -process.memory))
    else:
        found.sort(key=lambda process: (-process.memory, process.pid))
    return found[:limit], len(found)


def duration(seconds: int) -> str:
    """`3 d 4 h 5 min`."""
    minutes = seconds // 60
    days, hours, rest = minutes // 1_440, minutes // 60 % 24, minutes % 60
    return " ".join(f"{n} {unit}" for n, unit in ((days, "d"), (hours, "h"), (rest, "min")) if n) or f"{seconds} s"


def _readable(path: str, file_system: str) -> Disk | None:
    try:
        return _disk(path, file_system)
    except ReadingError:
        return None


def _disk(path: str, file_system: str) -> Disk:
    try:
        usage = psutil.disk_usage(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not a path"
        raise ReadingError(
            f"The disk at {path[:200]!r} cannot be read: {reason}. Leave the path out for all disks."
        ) from None
    return Disk(path, file_system, usage.total, usage.used, usage.free, usage.percent)


def _file_system(path: str) -> str:
    """That of the deepest mount point above `path`; empty where it is not known."""
    real = os.path.realpath(path)
    above = [p for p in psutil.disk_partitions(all=True) if os.path.commonpath((real, p.mountpoint)) == p.mountpoint]
    return max(above, key=lambda p: len(p.mountpoint)).fstype if above else ""
