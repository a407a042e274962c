import gzip
import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_services.logs.directory import MAX_FILES, LogDirectory, LogFile, directory_ready, open_file
from skill_services.logs.entries import MAX_ENTRY_CHARS, read_entries
from skill_services.logs.failures import LogsError
from skill_services.logs.levels import Level, level_of
from skill_services.logs.lines import MAX_LINE_BYTES, Budget, read_lines
from skill_services.logs.times import log_zone, read_time
from skill_services.logs.timestamps import TimestampReader

NOW = datetime(2025, 6, 11, 12, 0, tzinfo=UTC)


def budget(size: int = 2**20, lines: int = 10_000, seconds: float = 60) -> Budget:
    return Budget(bytes=size, lines=lines, deadline=time.monotonic() + seconds)


def log_file(path: Path) -> LogFile:
    return LogFile(path.name, path, path.stat().st_size, path.stat().st_mtime)


@pytest.mark.parametrize(
    ("line", "time"),
    [
        ("2025-06-01T10:00:00Z started", "2025-06-01T10:00:00+00:00"),
        ("2025-06-01 10:00:00,123 INFO started", "2025-06-01T10:00:00.123000+00:00"),
        ("[2025-06-01 10:00:00.5 +0900] started", "2025-06-01T01:00:00.500000+00:00"),
        ("2025-06-01T10:00:00.123456789+02:00 started", "2025-06-01T08:00:00.123456+00:00"),
        ("2025/06/01 10:00:00 [error] 7#7: upstream", "2025-06-01T10:00:00+00:00"),
        ("2025-06-01 10:00:60 leap", "2025-06-01T10:00:59+00:00"),
        ('time="2025-06-01T10:00:00Z" level=info', "2025-06-01T10:00:00+00:00"),
        ("<34>1 2025-06-01T10:00:00Z host app - - - up", "2025-06-01T10:00:00+00:00"),
        ("Jun  1 10:00:00 host app[7]: up", "2025-06-01T10:00:00+00:00"),
        ("<13>Jun 10 10:00:00 host app: up", "2025-06-10T10:00:00+00:00"),
        ("Dec 31 23:59:59 host app: up", "2024-12-31T23:59:59+00:00"),
        ("Feb 29 10:00:00 host app: up", "2024-02-29T10:00:00+00:00"),
        ("Sun Jun  1 10:00:00 2025 up", "2025-06-01T10:00:00+00:00"),
        ('10.0.0.1 - - [01/Jun/2025:10:00:00 +0200] "GET / HTTP/1.1" 200 1', "2025-06-01T08:00:00+00:00"),
        ("I0601 10:00:00.000123 7 main.go:1] up", "2025-06-01T10:00:00.000123+00:00"),
        ("1748772000 up", "2025-06-01T10:00:00+00:00"),
        ("1748772000123 up", "2025-06-01T10:00:00.123000+00:00"),
        ("1748772000.25 up", "2025-06-01T10:00:00.250000+00:00"),
        ('{"level":"info","ts":"2025-06-01T10:00:00Z"}', "2025-06-01T10:00:00+00:00"),
        ('{"@timestamp": 1748772000.5, "level": "info"}', "2025-06-01T10:00:00.500000+00:00"),
        ('{"level":"info"}', None),
        ("2025-02-31 10:00:00 no such day", None),
        ("  File 'x.py', line 3", None),
        ("", None),
    ],
)
def test_the_time_of_a_line_is_read_in_the_formats_that_logs_have(line: str, time: str | None) -> None:
    found = TimestampReader(UTC, NOW).read(line)
    assert (found.isoformat() if found else None) == time


def test_a_time_without_a_zone_is_read_in_the_configured_one() -> None:
    found = TimestampReader(ZoneInfo("Asia/Tokyo"), NOW).read("2025-06-01 10:00:00 up")
    assert found == datetime(2025, 6, 1, 1, 0, tzinfo=UTC)


@settings(deadline=None)
@given(st.text(max_size=80))
def test_any_line_has_a_time_or_none(line: str) -> None:
    found = TimestampReader(UTC, NOW).read(line)
    assert found is None or found.tzinfo is UTC


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("2025-06-01 ERROR boom", Level.ERROR),
        ("2025-06-01 WARN slow", Level.WARNING),
        ("2025-06-01 [error] 7#7", Level.ERROR),
        ("error: boom", Level.ERROR),
        ('{"level":"fatal"}', Level.CRITICAL),
        ("severity=warning x", Level.WARNING),
        ("level=weird INFO x", Level.INFO),
        ("E0601 10:00:00.000123 boom", Level.ERROR),
        ('[01/Jun/2025:10:00:00 +0000] "GET /ERROR HTTP/1.1" 200 1', Level.INFO),
        ('[01/Jun/2025:10:00:00 +0000] "GET / HTTP/1.1" 503 1', Level.ERROR),
        ('[01/Jun/2025:10:00:00 +0000] "GET / HTTP/1.1" 404 1', Level.WARNING),
        ("an errand was run", None),
    ],
)
def test_the_level_of_a_line_is_read_from_its_words(line: str, level: Level | None) -> None:
    assert level_of(line) == level


def test_a_stack_trace_belongs_to_its_entry() -> None:
    lines = [
        "2025-06-01 10:00:00 ERROR boom",
        "Traceback (most recent call last):",
        "",
        '  File "x.py", line 3',
        "ValueError: no",
        "2025-06-01 10:00:01 INFO on",
    ]
    entries = list(read_entries("x", enumerate(lines, 1), TimestampReader(UTC, NOW)))
    assert [(entry.line, entry.text.count("\n")) for entry in entries] == [(1, 4), (6, 0)]
    assert entries[0].level is Level.ERROR


def test_lines_without_any_time_are_entries_of_their_own_unless_they_continue_one() -> None:
    lines = ["", "first", "second", "  more of second", "", "java.lang.Error: x", "\tat a.B(c)", "third"]
    entries = list(read_entries("x", enumerate(lines, 1), TimestampReader(UTC, NOW)))
    assert [entry.text for entry in entries] == [
        "first",
        "second\n  more of second\n\njava.lang.Error: x\n\tat a.B(c)",
        "third",
    ]


def test_a_huge_entry_is_cut() -> None:
    lines = ["2025-06-01 10:00:00 ERROR boom", *["  at x" * 100] * 100]
    [entry] = read_entries("x", enumerate(lines, 1), TimestampReader(UTC, NOW))
    assert len(entry.text) < MAX_ENTRY_CHARS + 50
    assert entry.text.endswith("(entry cut)")


@settings(deadline=None)
@given(st.lists(st.sampled_from(["2025-06-01 10:00:00 x", "  at y", "", "Caused by: z", "plain"]), max_size=20))
def test_no_line_with_words_is_lost_in_grouping(lines: list[str]) -> None:
    entries = list(read_entries("x", enumerate(lines, 1), TimestampReader(UTC, NOW)))
    kept = [line for entry in entries for line in entry.text.split("\n") if line.strip()]
    assert kept == [line for line in lines if line.strip()]


def test_what_is_no_utf8_is_replaced_and_line_ends_are_dropped(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntw\xff\nthree")
    assert list(read_lines(log_file(path), budget())) == [(1, "one"), (2, "tw\ufffd"), (3, "three")]


def test_a_line_without_an_end_costs_no_more_than_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"x" * (2 * 2**20) + b"\nnext\n" + b"y" * 300_000)
    lines = list(read_lines(log_file(path), budget(8 * 2**20)))
    assert [number for number, _ in lines] == [1, 2, 3]
    assert lines[0][1].endswith("...(line cut)")
    assert len(lines[0][1]) < MAX_LINE_BYTES + 50
    assert lines[1][1] == "next"


def test_gzip_is_unpacked_and_a_damaged_end_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.log.1.gz"
    path.write_bytes(gzip.compress(b"one\ntwo\n"))
    assert [text for _, text in read_lines(log_file(path), budget())] == ["one", "two"]
    path.write_bytes(gzip.compress(os.urandom(5_000).hex().encode() + b"\n")[:-4_000])
    spent = budget()
    list(read_lines(log_file(path), spent))
    assert spent.notes == ["a.log.1.gz is damaged; it was read up to the damage."]


@pytest.mark.parametrize("content", [b"\x7fELF\0\0", gzip.compress(b"\0\1\2", mtime=0)])
def test_a_binary_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(content)
    with pytest.raises(LogsError, match="binary"):
        list(read_lines(log_file(path), budget()))


def test_reading_stops_at_each_limit_and_says_which(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("line\n" * 5_000)
    for limited, reason in (
        (budget(lines=10), "lines"),
        (budget(seconds=-1), "time"),
    ):
        assert len(list(read_lines(log_file(path), limited))) < 5_000
        assert reason in limited.stopped
    cancelled = budget()
    cancelled.cancel()
    assert len(list(read_lines(log_file(path), cancelled))) < 1_000


def test_of_a_file_larger_than_the_budget_the_end_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("".join(f"line {number}\n" for number in range(5_000)))
    limited = budget(size=1_000)
    texts = [text for _, text in read_lines(log_file(path), limited)]
    assert texts[-1] == "line 4999"
    assert len(texts) < 200
    assert "only the last" in limited.notes[0]


def test_a_gzip_bomb_is_read_up_to_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"0123456789\n" * 500_000))
    limited = budget(size=100_000, lines=10**9)
    assert len(list(read_lines(log_file(path), limited))) <= 10_000
    assert "bytes" in limited.stopped


@pytest.fixture
def directory(tmp_path: Path) -> LogDirectory:
    inside = tmp_path / "logs"
    (inside / "gateway").mkdir(parents=True)
    (inside / "a.log").write_text("a\n")
    (inside / ".hidden").write_text("h\n")
    (inside / "gateway" / "access.log").write_text("b\n")
    (tmp_path / "secret.txt").write_text("secret\n")
    (inside / "link.log").symlink_to(tmp_path / "secret.txt")
    (inside / "inner.log").symlink_to(inside / "a.log")
    (inside / "out").symlink_to(tmp_path)
    os.mkfifo(inside / "pipe.log")
    os.utime(inside / "a.log", (1, 1))
    return LogDirectory(inside)


def test_regular_files_are_listed_the_last_changed_first(directory: LogDirectory) -> None:
    found, more = directory.files()
    assert ([file.name for file in found], more) == (["gateway/access.log", "a.log"], False)


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("", ["gateway/access.log", "a.log"]),
        ("a.log", ["a.log"]),
        ("access*", ["gateway/access.log"]),
        ("gateway/*", ["gateway/access.log"]),
        ("inner.log", ["inner.log"]),
    ],
)
def test_files_are_chosen_by_name_or_pattern(directory: LogDirectory, pattern: str, names: list[str]) -> None:
    assert [file.name for file in directory.matching(pattern)[0]] == names


@pytest.mark.parametrize(
    "name",
    [
        "../secret.txt",
        "gateway/../../secret.txt",
        "/etc/passwd",
        "~/x",
        "..",
        "..\\secret.txt",
        "C:/x",
        "\\x",
        "a\0b",
        " ",
        "link.log",
        "out/secret.txt",
        "pipe.log",
        "gateway",
        "absent.log",
        "a" * 300,
    ],
)
def test_nothing_outside_the_directory_and_nothing_irregular_can_be_named(directory: LogDirectory, name: str) -> None:
    with pytest.raises(LogsError) as refused:
        directory.file(name)
    assert "secret\n" not in str(refused.value)


def test_a_pattern_that_matches_nothing_names_what_there_is(directory: LogDirectory) -> None:
    with pytest.raises(LogsError, match=r"there are gateway/access\.log, a\.log"):
        directory.matching("orders*")
    with pytest.raises(LogsError):
        directory.matching("../*")


def test_a_file_that_became_a_link_or_a_pipe_meanwhile_is_not_opened(directory: LogDirectory, tmp_path: Path) -> None:
    file = directory.file("a.log")
    file.path.unlink()
    with pytest.raises(LogsError, match="cannot be read"):
        open_file(file)
    file.path.symlink_to(tmp_path / "secret.txt")
    with pytest.raises(LogsError, match="cannot be read"):
        open_file(file)
    file.path.unlink()
    os.mkfifo(file.path)
    with pytest.raises(LogsError, match="not a regular file"):
        open_file(file)


def test_files_beyond_the_limit_are_said_to_be_there(tmp_path: Path) -> None:
    for number in range(MAX_FILES + 1):
        (tmp_path / f"{number}.log").touch()
    found, more = LogDirectory(tmp_path).files()
    assert (len(found), more) == (MAX_FILES, True)
    with pytest.raises(LogsError, match="and 980 more"):
        LogDirectory(tmp_path).file("absent")


def test_a_directory_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LogsError, match="does not exist"):
        LogDirectory(tmp_path / "absent")


def test_the_prerequisite_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOGS_DIRECTORY", raising=False)
    assert "Set LOGS_DIRECTORY" in str(directory_ready())
    monkeypatch.setenv("LOGS_DIRECTORY", str(tmp_path / "absent"))
    assert "names no directory" in str(directory_ready())
    monkeypatch.setenv("LOGS_DIRECTORY", str(tmp_path))
    assert directory_ready() is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        ("now", NOW),
        ("现在", NOW),
        ("30m", NOW - timedelta(minutes=30)),
        ("-30m", NOW - timedelta(minutes=30)),
        ("2h ago", NOW - timedelta(hours=2)),
        ("15 minutes ago", NOW - timedelta(minutes=15)),
        ("1d", NOW - timedelta(days=1)),
        ("30分钟前", NOW - timedelta(minutes=30)),
        ("2小时前", NOW - timedelta(hours=2)),
        ("2025-06-11T10:00:00Z", NOW - timedelta(hours=2)),
        ("2025-06-11T19:00:00+09:00", NOW - timedelta(hours=2)),
        ("2025-06-11 19:00", NOW - timedelta(hours=2)),
    ],
)
def test_a_bound_is_iso_or_how_long_ago(text: str, expected: datetime | None) -> None:
    assert read_time(text, ZoneInfo("Asia/Tokyo"), NOW) == expected


@pytest.mark.parametrize("text", ["yesterday", "2025-13-01", "999999d", "0001-01-01T00:00:00+09:00"])
def test_a_bound_that_is_no_time_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(LogsError, match="ISO 8601"):
        read_time(text, UTC, NOW.replace(year=1000))


def test_the_logs_zone_is_configured_and_else_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOGS_TIME_ZONE", raising=False)
    assert log_zone() is UTC
    monkeypatch.setenv("LOGS_TIME_ZONE", "Asia/Tokyo")
    assert log_zone() == ZoneInfo("Asia/Tokyo")
    for wrong in ("Nowhere/City", "../etc/passwd"):
        monkeypatch.setenv("LOGS_TIME_ZONE", wrong)
        with pytest.raises(LogsError, match="LOGS_TIME_ZONE"):
            log_zone()
