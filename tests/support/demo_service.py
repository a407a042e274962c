"""A skill service of its own process for tests: `python -m tests.support.demo_service`."""

import asyncio
import os
import sys
import time
from pathlib import Path

from skill_services.sdk import SkillContext, check, serve, skill


def _flag() -> str:
    """Unmet while the file named by DEMO_FLAG exists."""
    return "the flag is up" if Path(os.environ.get("DEMO_FLAG", "/nonexistent")).exists() else ""


@skill(version="1.2.3", access="observer", effect="read")
async def echo(text: str) -> str:
    """Use when a text must come back. Returns the text as it is."""
    return text


@skill(version="1.0.0", access="observer", effect="read", timeout=60)
async def nap(seconds: float, context: SkillContext) -> float:
    """Use when somebody must wait. Waits without holding up anything."""
    context.logger.info("nap begins")
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        context.logger.info("nap cancelled")
        raise
    return seconds


@skill(version="1.0.0", access="observer", effect="read", timeout=60)
def block(seconds: float) -> float:
    """Use when a thread must be held. Cannot be cancelled."""
    sys.stderr.write("block begins\n")
    time.sleep(seconds)
    return seconds


@skill(version="1.0.0", access="observer", effect="read", timeout=60)
async def freeze(seconds: float) -> float:
    """Use when a mistake must be shown. Holds up the event loop."""
    sys.stderr.write("freeze begins\n")
    time.sleep(seconds)  # noqa: ASYNC251  # the mistake that is meant
    return seconds


@skill(version="1.0.0", access="observer", effect="read", prerequisites=[check("flag", _flag)])
async def flagged() -> str:
    """Use when a prerequisite matters. Works while the flag is down."""
    return "works"


if __name__ == "__main__":
    serve("demo", [echo, nap, block, freeze, flagged], version="1.2.3")
