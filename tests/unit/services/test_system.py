from dataclasses import asdict
from pathlib import Path

import psutil
import pytest

from skill_services.sdk.testing import InvalidArguments, SkillTester
from skill_services.system import readings
from skill_services.system.failures import ReadingError
from skill_services.system.readings import CpuSample, ProcessSample
from skill_services.system.skill import disk_usage, system_overview, top_processes


def test_the_overview_is_within_what_a_node_can_be() -> None:
    seen = readings.overview(readings.sample_cpu())
    assert 0 <= seen.cpu_percent <= 100
    assert seen.cpu_count >= 1
    assert 0 < seen.memory.available <= seen.memory.total
    assert seen.uptime_seconds >= 0
    assert seen.boot_time.endswith("Z")
    assert seen.load is None or len(seen.load) == 3


def test_the_share_of_cpu_is_of_the_time_since_the_sample() -> None:
    now = readings.sample_cpu()
    idle = readings.overview(CpuSample(now.busy, now.total - 1_000_000))
    busy = readings.overview(CpuSample(now.busy - 1_000_000, now.total - 1_000_000))
    assert (idle.cpu_percent < 1, busy.cpu_percent > 99) == (True, True)
    assert readings.overview(CpuSample(now.busy, now.total + 1_000_000)).cpu_percent == 0


def test_a_path_leads_to_its_disk() -> None:
    [disk] = readings.disks(str(Path.home()))
    assert 0 < disk.used + disk.free <= disk.total
    assert disk.file_system


def test_without_a_path_every_disk_is_read_once() -> None:
    paths = [disk.path for disk in readings.disks("")]
    assert paths
    assert len(paths) == len(set(paths))


@pytest.mark.parametrize("path", ["/no/such/path", "a\0b"])
def test_a_path_that_is_none_is_refused_in_a_sentence(path: str) -> None:
    with pytest.raises(ReadingError, match="cannot be read"):
        readings.disks(path)


def test_processes_are_ranked_and_limited() -> None:
    before = readings.sample_processes()
    by_memory, running = readings.top(before, "memory", 3)
    assert running >= len(by_memory) >= 1
    assert by_memory == sorted(by_memory, key=lambda process: -process.memory)
    by_cpu, _ = readings.top(before, "cpu", 2)
    assert len(by_cpu) <= 2


def test_a_process_that_worked_since_the_sample_is_first_by_cpu() -> None:
    mine = psutil.Process()
    before = readings.sample_processes()
    known = dict(before.seconds)
    known[mine.pid, mine.create_time()] -= 1_000
    ranked, _ = readings.top(ProcessSample(before.moment, known), "cpu", 1)
    assert ranked[0].pid == mine.pid


def test_command_lines_are_never_shown() -> None:
    processes, _ = readings.top(readings.sample_processes(), "memory", 50)
    assert {key for process in processes for key in asdict(process)} == {
        "pid",
        "name",
        "cpu_percent",
        "memory",
        "memory_percent",
    }


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (59, "59 s"), (60, "1 min"), (3_700, "1 h 1 min"), (90_061, "1 d 1 h 1 min")]
)
def test_a_duration_is_told_in_words(seconds: int, text: str) -> None:
    assert readings.duration(seconds) == text


async def test_the_skills_answer_as_the_mesh_calls_them() -> None:
    async with SkillTester([system_overview, disk_usage, top_processes]) as mesh:
        assert '"cpu_percent":' in (await mesh.call("system_overview")).text
        assert '"disks":[{' in (await mesh.call("disk_usage")).text
        assert (await mesh.call("disk_usage", {"path": "/no/such/path"})).status == "failed"
        top = await mesh.call("top_processes", {"by": "memory", "limit": 2})
        assert '"processes":[{"pid":' in top.text
        with pytest.raises(InvalidArguments):
            await mesh.call("top_processes", {"by": "disk"})
