import asyncio

import pytest

from agent_core.dev.registry.checks import CheckRunner
from agent_core.dev.registry.entries import CheckDefinition, ServiceDefinition, Status
from agent_core.dev.registry.kv import KeyValues
from agent_core.dev.registry.ledger import Ledger
from agent_core.dev.registry.refusals import RefusedError
from agent_core.dev.registry.registry import Registry
from agent_core.dev.registry.sessions import Sessions
from agent_core.dev.registry.state import Node, State


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Health:
    """A probe whose answers a test sets."""

    def __init__(self) -> None:
        self.answer: tuple[bool, str] | Exception | None = (True, "success")
        self.asked: list[tuple[str, str, float, bool]] = []
        self.told = asyncio.Event()

    async def __call__(self, target: str, service: str, *, timeout: float, tls: bool) -> tuple[bool, str]:
        self.asked.append((target, service, timeout, tls))
        self.told.set()
        if isinstance(self.answer, Exception):
            raise self.answer
        if self.answer is None:
            await asyncio.Event().wait()
            raise AssertionError
        return self.answer


class Bench:
    def __init__(self) -> None:
        self.clock, self.health = Clock(), Health()
        self.state = State(Ledger(), Node(id="n", name="node", address="127.0.0.1", port=1))
        self.keys = KeyValues(self.state.ledger, self.clock)
        self.sessions = Sessions(self.state, self.keys, self.clock)
        self.runner = CheckRunner(self.state, self.health, self.clock)

    def register(self, check: CheckDefinition) -> None:
        self.state.register(ServiceDefinition(id="a", name="skill"), (check,), replace_checks=False)
        self.runner.watch(check)

    def status(self) -> Status:
        return self.state.checks["c"].status

    def at(self, now: float) -> None:
        self.clock.now = now
        self.runner.enforce(now)
        self.sessions.enforce(now)


def ttl(seconds: float = 10.0, deregister_after: float = 0.0) -> CheckDefinition:
    return CheckDefinition(id="c", name="c", status=Status.PASSING, ttl=seconds, deregister_after=deregister_after)


def grpc(interval: float = 0.001, timeout: float = 1.0) -> CheckDefinition:
    return CheckDefinition(
        id="c", name="c", status=Status.CRITICAL, grpc="127.0.0.1:7/svc", interval=interval, timeout=timeout, tls=True
    )


def test_a_ttl_runs_out_when_no_heartbeat_comes() -> None:
    bench = Bench()
    bench.register(ttl())
    bench.at(9.9)
    bench.runner.heartbeat("c", Status.PASSING, "well")
    bench.at(19.8)
    assert bench.status() is Status.PASSING
    bench.at(19.9)
    assert bench.status() is Status.CRITICAL
    assert bench.state.checks["c"].output == "TTL expired (last output before timeout follows): well"


def test_registering_the_same_check_again_is_no_heartbeat() -> None:
    bench = Bench()
    bench.register(ttl())
    bench.clock.now = 9.0
    bench.register(ttl())
    bench.at(10.0)
    assert bench.status() is Status.CRITICAL


def test_a_service_that_is_critical_for_too_long_is_removed() -> None:
    bench = Bench()
    bench.register(ttl(deregister_after=60.0))
    bench.at(10.0)
    bench.at(69.9)
    assert "a" in bench.state.services
    bench.at(70.0)
    assert "a" not in bench.state.services
    assert "c" not in bench.state.checks


def test_a_service_that_recovers_in_time_stays() -> None:
    bench = Bench()
    bench.register(ttl(deregister_after=60.0))
    bench.at(10.0)
    bench.clock.now = 50.0
    bench.runner.heartbeat("c", Status.PASSING, "")
    bench.at(59.0)
    bench.at(71.0)  # expired at 60, so critical since then
    assert "a" in bench.state.services
    bench.at(131.0)
    assert "a" not in bench.state.services


def test_a_heartbeat_is_for_ttl_checks_alone() -> None:
    bench = Bench()
    with pytest.raises(RefusedError) as caught:
        bench.runner.heartbeat("c", Status.PASSING, "")
    assert caught.value.status == 404


async def test_a_grpc_check_is_asked_with_its_timeout_and_told() -> None:
    bench = Bench()
    bench.register(grpc(timeout=2.5))
    await asyncio.wait_for(bench.health.told.wait(), 5)
    assert bench.health.asked[0] == ("127.0.0.1:7", "svc", 2.5, True)
    await until_status(bench, Status.PASSING)
    bench.health.answer = (False, "NOT_SERVING")
    await until_status(bench, Status.CRITICAL)
    assert bench.state.checks["c"].output == "gRPC check 127.0.0.1:7/svc: NOT_SERVING"
    with pytest.raises(RefusedError) as caught:
        bench.runner.heartbeat("c", Status.PASSING, "")
    assert caught.value.status == 500
    await bench.runner.stop()


async def test_a_probe_that_breaks_or_hangs_is_a_critical_check() -> None:
    bench = Bench()
    bench.register(grpc())
    await until_status(bench, Status.PASSING)
    bench.health.answer = ValueError("bad target")
    await until_status(bench, Status.CRITICAL)
    assert "ValueError: bad target" in bench.state.checks["c"].output
    bench.health.answer = (True, "success")
    await until_status(bench, Status.PASSING)
    bench.health.answer = None
    bench.register(grpc(timeout=-0.999))
    await until_status(bench, Status.CRITICAL)
    assert "no answer within" in bench.state.checks["c"].output
    await bench.runner.stop()


async def test_a_check_that_is_gone_is_asked_no_more() -> None:
    bench = Bench()
    bench.register(grpc())
    await asyncio.wait_for(bench.health.told.wait(), 5)
    bench.state.deregister("a")
    await asyncio.sleep(0)
    asked = len(bench.health.asked)
    await asyncio.wait_for(asyncio.sleep(0.02), 5)
    assert len(bench.health.asked) == asked
    await bench.runner.stop()


async def test_a_check_that_becomes_a_ttl_is_asked_no_more() -> None:
    bench = Bench()
    bench.register(grpc())
    await until_status(bench, Status.PASSING)
    bench.register(ttl())
    assert bench.runner._probes == {}
    bench.at(20.0)
    assert bench.status() is Status.CRITICAL
    await bench.runner.stop()


async def until_status(bench: Bench, status: Status) -> None:
    async with asyncio.timeout(5):
        while bench.status() is not status:  # noqa: ASYNC110 - the state tells of no change
            await asyncio.sleep(0.002)


def test_a_session_lives_for_twice_its_ttl_unless_renewed() -> None:
    bench = Bench()
    session = bench.sessions.create({"TTL": "10s", "LockDelay": 0})
    bench.keys.acquire("k", b"", 0, session.id)
    bench.at(19.0)
    bench.sessions.renew(session.id)
    bench.at(38.9)
    assert bench.sessions.get(session.id) == session
    bench.at(39.0)
    assert bench.sessions.get(session.id) is None
    entry = bench.keys.get("k")
    assert entry is not None
    assert entry.session == ""


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ([], 400),
        ({"Node": "other"}, 500),
        ({"Behavior": "keep"}, 500),
        ({"TTL": "9s"}, 500),
        ({"TTL": "25h"}, 500),
        ({"TTL": "soon"}, 400),
        ({"LockDelay": "soon"}, 400),
        ({"Checks": "c"}, 400),
        ({"Checks": ["c"]}, 500),
    ],
)
def test_a_session_that_makes_no_sense_is_refused(body: object, status: int) -> None:
    with pytest.raises(RefusedError) as caught:
        Bench().sessions.create(body)
    assert caught.value.status == status


def test_a_session_is_not_made_on_a_critical_check_and_ends_with_its_check() -> None:
    bench = Bench()
    bench.register(ttl())
    session = bench.sessions.create({"Checks": ["serfHealth", "c"]})
    bench.state.deregister("a")
    assert bench.sessions.get(session.id) is None
    bench.register(ttl())
    bench.at(10.0)
    with pytest.raises(RefusedError, match="critical state"):
        bench.sessions.create({"Checks": ["c"]})


def test_lock_delays_are_seconds_or_durations_and_bounded() -> None:
    bench = Bench()
    for wanted, seconds in ((None, 15.0), (5, 5.0), ("2s", 2.0), (3_000_000_000, 3.0), ("5m", 60.0)):
        assert bench.sessions.create({"LockDelay": wanted}).lock_delay == seconds


async def test_the_registry_keeps_time_by_itself() -> None:
    registry = Registry(Health())
    keeper = asyncio.create_task(registry.run())
    check = CheckDefinition(id="c", name="c", status=Status.PASSING, ttl=0.05)
    registry.state.register(ServiceDefinition(id="a", name="skill"), (check,), replace_checks=False)
    index = registry.state.service_index("skill")
    registry.checks.watch(check)
    await asyncio.wait_for(registry.waiters.wait(lambda: registry.state.service_index("skill"), index, 60.0), 5)
    assert registry.state.checks["c"].status is Status.CRITICAL
    keeper.cancel()
    await asyncio.gather(keeper, return_exceptions=True)
    await registry.stop()
