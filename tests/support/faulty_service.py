"""A skill service whose skills fail in every way an author can manage: `python -m tests.support.faulty_service`."""

import asyncio
import os
import signal

from skill_services.sdk import SkillError, serve, skill


@skill(version="1.0.0", access="observer", effect="read", timeout=0.5)
async def hangs() -> str:
    """Use when nothing else will do. Never answers."""
    await asyncio.Event().wait()
    return "never"


@skill(version="1.0.0", access="observer", effect="read")
async def raises() -> str:
    """Use when nothing else will do. Raises."""
    password = "s3cret"  # must not leak
    raise RuntimeError(f"cannot log in with {password}")


@skill(version="1.0.0", access="observer", effect="read")
async def huge() -> str:
    """Use when nothing else will do. Answers with 10 MB."""
    return "x" * 10_000_000


@skill(version="1.0.0", access="observer", effect="read")
async def not_a_number() -> dict[str, float]:
    """Use when nothing else will do. Answers with NaN."""
    return {"value": float("nan")}


@skill(version="1.0.0", access="observer", effect="read")
async def refuses() -> str:
    """Use when nothing else will do. Says no."""
    raise SkillError("The library is closed.")


@skill(version="1.0.0", access="observer", effect="write")
async def dies() -> str:
    """Use when nothing else will do. Is killed in the middle."""
    os.kill(os.getpid(), signal.SIGKILL)
    return "never"


@skill(version="1.0.0", access="operator", effect="write")
async def guarded() -> str:
    """Use when nothing else will do. Needs leave."""
    return "never"


if __name__ == "__main__":
    serve("faulty", [hangs, raises, huge, not_a_number, refuses, dies, guarded], version="1.0.0")
