import asyncio
import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from skill_services.logs import report
from skill_services.logs.directory import LogDirectory
from skill_services.logs.failures import LogsError
from skill_services.logs.inspection import inspect
from skill_services.logs.levels import Level
from skill_services.logs.lines import Budget
from skill_services.logs.sample import main, write_sample
from skill_services.logs.search import Found, Query, search
from skill_services.logs.skill import check_log_file, search_logs
from skill_services.logs.timestamps import TimestampReader
from skill_services.sdk.testing import InvalidArguments, SkillTester

NOW = datetime(2025, 6, 11, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    write_sample(folder, NOW)
    return folder


def find(folder: Path, query: Query, lines: int = 100_000) -> Found:
    budget = Budget(bytes=2**24, lines=lines, deadline=time.monotonic() + 60)
    return search(LogDirectory(folder), query, TimestampReader(UTC, NOW), budget)


def test_the_incident_of_the_sample_is_found_by_level_and_time(sample: Path) -> None:
    found = find(sample, Query(start=NOW - timedelta(hours=1), level=Level.ERROR, limit=200))
    times = [entry.time for entry in found.entries]
    assert times == sorted(times, key=str)
    assert {entry.file for entry in found.entries} == {
        "gateway/access.log",
        "orders.log",
        "payments.log",
        "host/syslog",
    }
    assert all(entry.time and NOW - timedelta(minutes=38) <= entry.time for entry in found.entries)
    assert not found.truncated


def test_a_keyword_in_a_stack_trace_finds_the_entry(sample: Path) -> None:
    found = find(sample, Query(keyword="paymenttimeout", file="orders*", limit=3))
    assert found.matched > 3
    assert all("Traceback" in entry.text and entry.level is Level.ERROR for entry in found.entries)
    assert found.truncated
    assert "earlier entries that match are left out" in found.notes[0]


def test_the_latest_entries_are_kept_and_the_end_is_exclusive(sample: Path) -> None:
    every = find(sample, Query(file="inventory.log", limit=200_000))
    last = every.entries[-1]
    assert find(sample, Query(file="inventory.log", limit=1)).entries == (last,)
    assert last not in find(sample, Query(file="inventory.log", end=last.time, limit=200_000)).entries
    assert find(sample, Query(file="inventory.log", start=last.time)).entries == (last,)


def test_rotated_files_are_searched_too(sample: Path) -> None:
    found = find(sample, Query(end=NOW - timedelta(hours=20), keyword="refused"))
    assert {entry.file for entry in found.entries} == {"orders.log.1.gz"}


def test_files_not_changed_since_the_start_are_passed_over(tmp_path: Path) -> None:
    for name in ("old.log", "new.log"):
        (tmp_path / name).write_text("2025-06-11 11:59:00 INFO x\n")
    os.utime(tmp_path / "old.log", (1, 1))
    os.utime(tmp_path / "new.log", (NOW.timestamp(), NOW.timestamp()))
    found = find(tmp_path, Query(start=NOW - timedelta(hours=1)))
    assert found.files == ("new.log",)


def test_entries_without_a_time_are_left_out_of_a_range_and_counted(tmp_path: Path) -> None:
    (tmp_path / "plain.log").write_text("ERROR one\nERROR two\n")
    assert find(tmp_path, Query(level=Level.ERROR)).matched == 2
    found = find(tmp_path, Query(start=datetime(1970, 1, 2, tzinfo=UTC)))
    assert (found.matched, found.notes) == (
        0,
        ("2 entries without a time are left out, as they may lie outside the range.",),
    )


def test_a_binary_file_among_others_is_noted_and_alone_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("x\n")
    (tmp_path / "b.bin").write_bytes(b"\0")
    found = find(tmp_path, Query())
    assert (found.matched, found.notes) == (1, ("b.bin is a binary file, not a log.",))
    with pytest.raises(LogsError, match="binary"):
        find(tmp_path, Query(file="b.bin"))


def test_a_search_that_hits_a_limit_says_so(sample: Path) -> None:
    found = find(sample, Query(), lines=10)
    assert found.truncated
    assert "stopped at the limit on lines" in found.notes[-1]


def test_a_range_that_ends_before_it_starts_is_refused() -> None:
    with pytest.raises(LogsError, match="ends before it starts"):
        Query(start=NOW, end=NOW)


def test_one_file_is_summed_up(sample: Path) -> None:
    budget = Budget(bytes=2**24, lines=100_000, deadline=time.monotonic() + 60)
    seen = inspect(LogDirectory(sample).file("orders.log"), TimestampReader(UTC, NOW), budget)
    assert seen.lines > seen.entries > 100
    assert list(seen.levels) == ["error", "warning", "info"]
    assert seen.first is not None
    assert seen.last is not None
    assert NOW - timedelta(hours=3) <= seen.first < seen.last <= NOW
    assert len(seen.errors) == 5
    assert not seen.truncated


def test_a_file_without_times_or_levels_is_summed_up_too(tmp_path: Path) -> None:
    (tmp_path / "plain.log").write_text("one\ntwo\n")
    budget = Budget(bytes=2**24, lines=1, deadline=time.monotonic() + 60)
    seen = inspect(LogDirectory(tmp_path).file("plain.log"), TimestampReader(UTC, NOW), budget)
    assert "Time: none to none." in report.inspection_text(seen)
    assert "Reading stopped at the limit on lines" in seen.notes[0]


def test_the_text_for_the_model_is_bounded_and_keeps_the_latest(sample: Path, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("".join(f"2025-06-11 10:00:{n % 60:02} {n} {'x' * 1900}\n" for n in range(60)))
    found = find(tmp_path, Query(limit=200))
    text, cut = report.found_text(found)
    assert cut
    assert len(text) < report.MAX_TEXT + 1_000
    assert "left out for length" in text
    assert " 59 " in text
    nothing, cut = report.found_text(find(sample, Query(keyword="no such words")))
    assert (nothing.startswith("No entry matches."), cut) == (True, False)


def test_the_sample_is_the_same_for_the_same_seed_and_time(sample: Path, tmp_path: Path) -> None:
    write_sample(tmp_path, NOW)
    for path in write_sample(tmp_path, NOW):
        assert path.read_bytes() == (sample / path.relative_to(tmp_path)).read_bytes()
    write_sample(tmp_path, NOW, seed=8)
    assert (tmp_path / "orders.log").read_bytes() != (sample / "orders.log").read_bytes()


def test_the_sample_is_written_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "new")]) == 0
    assert (tmp_path / "new" / "payments.log").exists()
    assert "payments.log" in capsys.readouterr().out


async def test_the_skills_answer_as_the_mesh_calls_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_sample(tmp_path, datetime.now(UTC))
    monkeypatch.setenv("LOGS_DIRECTORY", str(tmp_path))
    async with SkillTester([search_logs, check_log_file]) as mesh:
        found = await mesh.call("search_logs", {"start": "1h", "level": "error", "limit": 2})
        assert (found.status, found.truncated) == ("success", True)
        assert "2 shown, oldest first." in found.text
        assert isinstance(found.value, dict)
        assert len(found.value["entries"]) == 2
        checked = await mesh.call("check_log_file", {"file": "orders.log"})
        assert (checked.status, checked.truncated) == ("success", False)
        assert "Latest errors:" in checked.text
        for name, arguments in (
            ("search_logs", {"file": "../x"}),
            ("search_logs", {"start": "yesterday"}),
            ("check_log_file", {"file": "/etc/passwd"}),
        ):
            assert (await mesh.call(name, arguments)).status == "failed"
        with pytest.raises(InvalidArguments):
            await mesh.call("search_logs", {"limit": 10_000})


async def test_a_cancelled_search_stops_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = "2025-06-11 10:00:00 INFO nothing of interest happens in this line\n"
    (tmp_path / "big.log").write_text(line * 300_000)
    monkeypatch.setenv("LOGS_DIRECTORY", str(tmp_path))
    task = asyncio.ensure_future(search_logs(keyword="absent"))
    await asyncio.sleep(0)
    task.cancel()
    started = time.monotonic()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.get_running_loop().shutdown_default_executor()
    assert time.monotonic() - started < 2


async def test_without_a_directory_the_skills_are_unavailable_and_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOGS_DIRECTORY", raising=False)
    async with SkillTester([search_logs]) as mesh:
        unmet = {p.name: p.reason for p in mesh.describe("search_logs").prerequisites if not p.met}
        assert unmet["env:LOGS_DIRECTORY"] == "Set the environment variable LOGS_DIRECTORY."
        assert "logs directory" in unmet
