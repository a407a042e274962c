import asyncio
from pathlib import Path

from agent_core.dev.process_log import LAST_LINES, MAX_LINE_BYTES, ProcessLog


async def follow(log: ProcessLog, *pieces: bytes) -> None:
    stream = asyncio.StreamReader(limit=1024 * 1024)
    for piece in pieces:
        stream.feed_data(piece)
    stream.feed_eof()
    await log.follow(stream)
    log.close()


async def test_the_last_lines_are_kept_also_one_without_an_end(tmp_path: Path) -> None:
    log = ProcessLog("a", tmp_path / "a.log")
    await follow(log, *(b"line %d\r\n" % number for number in range(50)), b"end")
    assert len(log.last_lines) == LAST_LINES
    assert list(log.last_lines)[-2:] == ["line 49", "end"]


async def test_a_line_without_end_is_told_in_pieces(tmp_path: Path) -> None:
    lines: list[str] = []
    log = ProcessLog("a", tmp_path / "a.log", lambda _name, line: lines.append(line))
    await follow(log, b"x" * (3 * MAX_LINE_BYTES))
    assert all(len(line) <= MAX_LINE_BYTES for line in lines)
    assert (tmp_path / "a.log").stat().st_size == 3 * MAX_LINE_BYTES


async def test_bytes_that_are_no_text_do_no_harm(tmp_path: Path) -> None:
    log = ProcessLog("a", tmp_path / "a.log")
    await follow(log, b"\xff\xfe\n")
    assert list(log.last_lines) == ["\ufffd\ufffd"]


async def test_a_full_file_makes_room_for_a_new_one(tmp_path: Path) -> None:
    log = ProcessLog("a", tmp_path / "a.log", max_bytes=100)
    stream = asyncio.StreamReader()
    following = asyncio.create_task(log.follow(stream))
    for number in range(9):
        stream.feed_data(b"%d" % number * 29 + b"\n")
        while not log.last_lines or log.last_lines[-1][0] != str(number):  # noqa: ASYNC110 - the log tells of no change
            await asyncio.sleep(0)
    stream.feed_eof()
    await following
    log.close()
    assert (tmp_path / "a.log").read_bytes().startswith(b"6")
    assert (tmp_path / "a.log.1").read_bytes().startswith(b"3")
    assert not (tmp_path / "a.log.2").exists()
