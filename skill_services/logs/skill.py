"""The skills for log files."""

import asyncio
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final, TypeVar

from pydantic import Field

from skill_services.logs import report
from skill_services.logs.directory import VARIABLE, LogDirectory, directory_ready
from skill_services.logs.failures import LogsError
from skill_services.logs.inspection import inspect
from skill_services.logs.levels import Level
from skill_services.logs.lines import Budget
from skill_services.logs.search import Query, search
from skill_services.logs.times import log_zone, read_time
from skill_services.logs.timestamps import TimestampReader
from skill_services.sdk import Output, SkillError, Text, check, env_set, skill

VERSION: Final = "1.0.0"
_OWNER: Final = "skillmesh"
_TIMEOUT: Final = 10.0
_READING_SECONDS: Final = 8.0
_MAX_BYTES: Final = 64 * 1024 * 1024
_MAX_LINES: Final = 1_000_000
_MAX_LIMIT: Final = 200
_PREREQUISITES: Final = (env_set(VARIABLE), check("logs directory", directory_ready))

T = TypeVar("T")

When = Annotated[
    str,
    Field(
        examples=["2025-06-30T14:00:00Z", "30m", "2h ago"],
        max_length=64,
    ),
]


@skill(
    version=VERSION,
    access="observer",
    effect="read",
    timeout=_TIMEOUT,
    owner=_OWNER,
    change_note="First version.",
    prerequisites=_PREREQUISITES,
    tags=["logs", "errors", "incident", "日志", "错误"],
    scenarios=[
        "Are there errors in the logs of the last 30 minutes?",
        "Find log lines that mention timeout in orders.log",
        "Why did the gateway answer 502 between 14:00 and 14:20?",
        "Show the stack traces since this morning",
        "最近30分钟的日志里有错误吗？",
        "在 orders.log 里查找 timeout",
        "今天上午的告警日志",
    ],
    examples=[
        ("Errors of the last half hour?", {"start": "30m", "level": "error"}),
        ("最近一小时 payments 的超时日志", {"start": "1h", "keyword": "timeout", "file": "payments*"}),
    ],
    llm_hint=(
        "Times without an offset are read in the logs' own zone. For words such as 'yesterday 3pm' ask "
        "resolve_time first "
        "and pass its start and end. Begin with level=error over the range, then follow one keyword, such as "
        "an order's "
        "number, through all files without a level. The latest entries are kept where there are more than `limit`."
    ),
)
async def search_logs(
    start: Annotated[
        When, Field(description="The earliest time: ISO 8601, or how long ago such as 30m, 2h, 1d. Empty: no bound.")
    ] = "",
    end: Annotated[When, Field(description="The time before which entries count: as start. Empty: up to now.")] = "",
    level: Annotated[
        Level | None,
        Field(description="The least grave level that counts; error includes critical.", examples=["error"]),
    ] = None,
    keyword: Annotated[
        str,
        Field(
            description="Text that an entry must contain, in any case, stack trace included.",
            examples=["timeout", "ord-48213"],
            max_length=200,
        ),
    ] = "",
    file: Annotated[
        str,
        Field(
            description="One file, or a pattern with * and ?. Empty: all files.",
            examples=["orders.log", "payments*"],
            max_length=255,
        ),
    ] = "",
    limit: Annotated[
        int, Field(description="The most entries to return, the latest of those that match.", ge=1, le=_MAX_LIMIT)
    ] = 50,
) -> Output:
    """Use when log entries must be found by time, level or text, such as the errors of the last hour.

    Searches all log files of this deployment, rotated and compressed ones too, keeps stack traces with their entries,
    and says what it left out. Unlike check_log_file it finds entries across files instead of summing up one file.
    """
    now = datetime.now(UTC)
    budget = _budget()
    try:
        zone = log_zone()
        query = Query(
            start=read_time(start, zone, now),
            end=read_time(end, zone, now),
            level=level,
            keyword=keyword,
            file=file,
            limit=limit,
        )
        found = await _in_thread(budget, lambda: search(_directory(), query, TimestampReader(zone, now), budget))
    except LogsError as error:
        raise SkillError(str(error)) from None
    text, cut = report.found_text(found)
    return Output([Text(text)], structured=report.found_values(found), truncated=found.truncated or cut)


@skill(
    version=VERSION,
    access="observer",
    effect="read",
    timeout=_TIMEOUT,
    owner=_OWNER,
    change_note="First version.",
    prerequisites=_PREREQUISITES,
    tags=["logs", "日志"],
    scenarios=[
        "How large is orders.log and what period does it cover?",
        "How many errors are in payments.log?",
        "Check the file inventory.log",
        "检查 orders.log 文件",
        "payments.log 里有多少条错误？",
        "gateway 的日志文件有多大，时间范围是什么？",
    ],
    examples=[("Check orders.log", {"file": "orders.log"}), ("检查一下 payments.log", {"file": "payments.log"})],
)
async def check_log_file(
    file: Annotated[
        str,
        Field(
            description="The file's name inside the log directory, such as orders.log or gateway/access.log.",
            examples=["orders.log"],
            min_length=1,
            max_length=255,
        ),
    ],
) -> Output:
    """Use when one log file as a whole is asked about: its size, period, how many errors it holds.

    Counts lines, entries and levels, gives the first and last time and the latest errors. Unlike search_logs it takes
    exactly one file and no time range.
    """
    budget = _budget()
    try:
        times = TimestampReader(log_zone(), datetime.now(UTC))
        inspection = await _in_thread(budget, lambda: inspect(_directory().file(file), times, budget))
    except LogsError as error:
        raise SkillError(str(error)) from None
    return Output(
        [Text(report.inspection_text(inspection))],
        structured=report.inspection_values(inspection),
        truncated=inspection.truncated,
    )


def _directory() -> LogDirectory:
    return LogDirectory(Path(os.environ.get(VARIABLE) or os.devnull))


def _budget() -> Budget:
    return Budget(bytes=_MAX_BYTES, lines=_MAX_LINES, deadline=time.monotonic() + _READING_SECONDS)


async def _in_thread(budget: Budget, work: Callable[[], T]) -> T:
    """Reading blocks, and a thread cannot be cancelled: it is told to stop, and looks every few hundred lines."""
    try:
        return await asyncio.to_thread(work)
    except asyncio.CancelledError:
        budget.cancel()
        raise
