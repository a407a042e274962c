import asyncio
import threading
from collections.abc import Awaitable

import pytest

from skill_services.sdk import SkillDefinitionError, check, env_set, reachable, skill
from skill_services.sdk.prerequisites import Prerequisite, PrerequisiteWatch
from skill_services.sdk.runtime import RuntimeOptions
from skill_services.sdk.testing import CallFailedError, SkillTester
from skillmesh.errors import ErrorKind
from tests.support.eventually import eventually


async def reason_of(prerequisite: Prerequisite) -> str:
    watch = PrerequisiteWatch([prerequisite])
    await watch.evaluate()
    return watch.reason(prerequisite)


async def test_an_environment_variable_must_be_set_and_not_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILL_TEST_VARIABLE", "")
    assert "Set the environment variable SKILL_TEST_VARIABLE" in await reason_of(env_set("SKILL_TEST_VARIABLE"))

    monkeypatch.setenv("SKILL_TEST_VARIABLE", "x")
    assert await reason_of(env_set("SKILL_TEST_VARIABLE")) == ""
    assert env_set("SKILL_TEST_VARIABLE").name == "env:SKILL_TEST_VARIABLE"


async def test_a_dependency_must_accept_connections() -> None:
    server = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    open_reason = await reason_of(reachable("127.0.0.1", port))
    server.close()
    await server.wait_closed()

    assert open_reason == ""
    assert f"Nothing answers at 127.0.0.1:{port}" in await reason_of(reachable("127.0.0.1", port))


async def yes() -> None:
    return None


def later() -> Awaitable[None]:
    return yes()


async def broken() -> bool:
    raise ValueError("secret")


def stopping() -> bool:
    raise StopIteration


def leaving() -> bool:
    raise SystemExit(1)


async def leaving_async() -> bool:
    raise SystemExit(1)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (yes, ""),
        (lambda: True, ""),
        (lambda: "", ""),
        (later, ""),
        (lambda: False, "The check 'luck' says no."),
        (lambda: "Find luck.", "Find luck."),
        (broken, "The check 'luck' failed with ValueError; the service's log says more."),
        (stopping, "The check 'luck' failed with RuntimeError; the service's log says more."),
        (leaving, "The check 'luck' failed with RuntimeError; the service's log says more."),
        (leaving_async, "The check 'luck' failed with SystemExit; the service's log says more."),
    ],
)
async def test_a_check_function_says_what_it_found(function: object, expected: str) -> None:
    assert await reason_of(check("luck", function)) == expected  # type: ignore[arg-type]  # functions of every kind


async def test_a_check_that_hangs_is_bounded_and_not_started_twice() -> None:
    release = threading.Event()
    started = []

    def hanging() -> None:
        started.append(1)
        release.wait(10)

    prerequisite = check("slow", hanging, timeout=0.05)
    watch = PrerequisiteWatch([prerequisite])

    await watch.evaluate()
    assert watch.reason(prerequisite) == "The check 'slow' gave no answer within 0.05 s."
    await watch.evaluate()
    assert watch.reason(prerequisite) == "The check 'slow' has still not returned."
    release.set()

    async def met() -> bool:
        await watch.evaluate()
        return not watch.reason(prerequisite)

    await eventually(met)
    assert len(started) == 2


def test_a_check_needs_a_name_and_time() -> None:
    with pytest.raises(SkillDefinitionError):
        check("", yes)
    with pytest.raises(SkillDefinitionError):
        check("x", yes, timeout=0)


async def test_a_change_is_announced_and_decides_whether_calls_are_taken() -> None:
    state: list[bool | str] = ["The database is down."]

    async def database() -> bool | str:
        return state[0]

    shared = check("database", database)

    @skill(version="1.0.0", prerequisites=[shared])
    async def query() -> str:
        """Queries."""
        return "rows"

    @skill(version="1.0.0", prerequisites=[shared])
    async def insert() -> str:
        """Inserts."""
        return "done"

    async with SkillTester([query, insert], options=RuntimeOptions(prerequisite_interval=0.02)) as mesh:
        before = mesh.runtime.fingerprint
        with pytest.raises(CallFailedError, match="database is not met: The database is down") as caught:
            await mesh.call("query")
        assert caught.value.error.kind is ErrorKind.PREREQUISITE_UNMET

        state[0] = True
        await eventually(lambda: mesh.changes == 1)
        assert (await mesh.call("query")).value == "rows"
        assert mesh.describe("insert").prerequisites[0].met
        assert mesh.runtime.fingerprint != before


async def test_other_words_for_the_same_state_are_no_change() -> None:
    rounds = [0]

    async def disk() -> str:
        rounds[0] += 1
        return f"Disk is full, seen {rounds[0]} times."

    @skill(version="1.0.0", prerequisites=[check("disk", disk)])
    async def write() -> None:
        """Writes."""

    async with SkillTester([write], options=RuntimeOptions(prerequisite_interval=0.01)) as mesh:
        before = mesh.runtime.fingerprint
        await eventually(lambda: rounds[0] > 3)
        assert (mesh.changes, mesh.runtime.fingerprint) == (0, before)
        assert "seen" in mesh.describe("write").prerequisites[0].reason


async def test_an_announcement_that_fails_does_not_end_the_watch(caplog: pytest.LogCaptureFixture) -> None:
    state = [False]
    seen = []

    @skill(version="1.0.0", prerequisites=[check("flip", lambda: state[0])])
    async def flipping() -> None:
        """Flips."""

    def announce() -> None:
        seen.append(1)
        raise ConnectionError("registry")

    tester = SkillTester([flipping], options=RuntimeOptions(prerequisite_interval=0.01))
    await tester.runtime.start(announce)
    for _ in range(2):
        state[0] = not state[0]
        wanted = len(seen) + 1
        await eventually(lambda wanted=wanted: len(seen) >= wanted)  # type: ignore[misc]  # bound at once
    await tester.runtime.stop()

    assert "could not be announced" in caplog.text
