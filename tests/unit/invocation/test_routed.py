import asyncio
import random

import pytest
from opentelemetry.trace import StatusCode

from agent_core.domain.call import ResultStatus, SkillResult
from agent_core.domain.errors import CallError, NotSentError, TryLaterError
from agent_core.domain.events import AttemptStarted, Event
from agent_core.domain.skill import Instance
from agent_core.invocation.routed import Routing, routed
from agent_core.resilience.balancer import TwoChoices
from agent_core.resilience.breaker import SkillBreakers
from agent_core.resilience.ejector import Ejector, Standing
from skillmesh import conventions
from skillmesh.errors import ErrorKind
from tests.support.call_path_values import FakeClock, call_of, context, instance, skill
from tests.support.fake_transport import FakeTransport
from tests.support.recorded_spans import attribute, recorded_spans

SPAN = "skillmesh.v1.SkillService/Invoke"


class Bench:
    def __init__(self, transport: FakeTransport | None = None, fail_max: int = 5) -> None:
        self.clock = FakeClock()
        self.events: list[Event] = []
        self.transport = transport or FakeTransport()
        self.ejector = Ejector(self.events.append, clock=self.clock)
        self.balancer = TwoChoices(self.ejector, rng=random.Random(1))  # noqa: S311  # a fixed seed
        self.breakers = SkillBreakers(self.events.append, fail_max=fail_max, clock=self.clock)
        self.invoke = routed(Routing(self.breakers, self.balancer, self.transport, self.clock))

    async def call(self, seconds: float = 30.0, **fields: object) -> SkillResult:
        one = skill(**fields)  # type: ignore[arg-type]  # passed on as they come
        return await self.invoke(call_of(one), context(seconds=seconds, now=self.clock, emit=self.events.append))

    async def fail(self, kind: ErrorKind, times: int = 1) -> CallError:
        self.transport.script += [kind] * times
        for _ in range(times):
            with pytest.raises(CallError) as caught:
                await self.call()
        return caught.value


async def test_an_attempt_goes_to_an_instance_with_the_skills_own_timeout() -> None:
    bench = Bench()
    result = await bench.call()
    assert result.instance == "calculator-1"
    assert bench.transport.sent[0].timeout == 2.0
    assert bench.events == [
        AttemptStarted(run_id="r1", call_id="c1", attempt=1, instance="calculator-1", reason="only one")
    ]


async def test_a_run_with_less_time_left_bounds_the_attempt() -> None:
    bench = Bench()
    await bench.call(seconds=0.5)
    assert bench.transport.sent[0].timeout == pytest.approx(0.5)


async def test_without_time_nothing_is_sent_and_nobody_is_blamed() -> None:
    bench = Bench()
    for _ in range(10):
        with pytest.raises(NotSentError) as refused:
            await bench.call(seconds=0.0)
    assert refused.value.kind is ErrorKind.DEADLINE_EXCEEDED
    assert "no time left to call calculator.calculate" in refused.value.for_model
    assert not bench.transport.sent
    assert bench.breakers.state(skill()) == "closed"


async def test_a_caller_in_a_hurry_blames_nobody_and_one_with_time_blames_both() -> None:
    bench = Bench()
    for _ in range(10):
        bench.transport.script.append(ErrorKind.DEADLINE_EXCEEDED)
        with pytest.raises(CallError) as caught:
            await bench.call(seconds=0.1)
        assert (caught.value.kind, caught.value.instance) == (ErrorKind.DEADLINE_EXCEEDED, "calculator-1")
    assert bench.breakers.state(skill()) == "closed"
    assert bench.ejector.standing(instance()) is Standing.IN
    assert bench.balancer.in_flight(instance()) == 0
    await bench.fail(ErrorKind.DEADLINE_EXCEEDED, 5)
    assert bench.breakers.state(skill()) == "open"
    assert bench.ejector.standing(instance()) is Standing.OUT


async def test_caller_mistakes_harm_neither_breaker_nor_instance() -> None:
    bench = Bench()
    await bench.fail(ErrorKind.INVALID_ARGUMENTS, 20)
    await bench.fail(ErrorKind.UNKNOWN_SKILL, 5)
    assert bench.breakers.state(skill()) == "closed"
    await bench.fail(ErrorKind.UNAVAILABLE, 5)
    assert bench.breakers.state(skill()) == "open"
    assert bench.ejector.standing(instance()) is Standing.OUT


async def test_a_crashing_skill_opens_its_breaker_and_keeps_its_instance() -> None:
    bench = Bench()
    await bench.fail(ErrorKind.CRASHED, 5)
    assert bench.breakers.state(skill()) == "open"
    assert bench.ejector.standing(instance()) is Standing.IN


async def test_a_damaged_reply_blames_the_instance_alone() -> None:
    bench = Bench()
    await bench.fail(ErrorKind.CORRUPTED_REPLY, 5)
    assert bench.breakers.state(skill()) == "closed"
    assert bench.ejector.standing(instance()) is Standing.OUT


async def test_a_dependency_that_is_down_counts_for_the_skill_and_not_for_the_instance() -> None:
    bench = Bench(FakeTransport(answer=lambda *_: SkillResult(ResultStatus.RETRYABLE, instance="i")))
    for _ in range(5):
        await bench.call()
    assert bench.breakers.state(skill()) == "open"
    assert bench.ejector.standing(instance()) is Standing.IN


async def test_a_skill_that_says_no_is_well() -> None:
    bench = Bench(FakeTransport(answer=lambda *_: SkillResult(ResultStatus.FAILED, instance="i")))
    await bench.fail(ErrorKind.UNAVAILABLE, 4)
    await bench.call()
    await bench.fail(ErrorKind.UNAVAILABLE, 4)
    assert bench.breakers.state(skill()) == "closed"


async def test_the_call_that_trips_the_breaker_keeps_its_own_error() -> None:
    bench = Bench(fail_max=1)
    first = await bench.fail(ErrorKind.DEADLINE_EXCEEDED)
    assert (first.kind, first.instance) == (ErrorKind.DEADLINE_EXCEEDED, "calculator-1")
    with pytest.raises(TryLaterError) as second:
        await bench.call()
    assert second.value.kind is ErrorKind.BREAKER_OPEN
    assert second.value.instance == ""
    assert "was not called" in second.value.for_model
    assert len(bench.transport.sent) == 1


async def test_a_cancelled_call_counts_for_nothing_and_frees_its_place() -> None:
    bench = Bench(FakeTransport(hold=asyncio.Event()))
    for _ in range(10):
        task = asyncio.create_task(bench.call())
        await bench.transport.arrived.acquire()
        assert bench.balancer.in_flight(instance()) == 1
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert bench.breakers.state(skill()) == "closed"
    assert bench.ejector.standing(instance()) is Standing.IN
    assert bench.balancer.in_flight(instance()) == 0


async def test_a_cancelled_probe_frees_the_half_open_slot() -> None:
    bench = Bench()
    await bench.fail(ErrorKind.CRASHED, 5)
    bench.clock.now += 10.0
    bench.transport.hold = asyncio.Event()
    probe = asyncio.create_task(bench.call())
    await asyncio.sleep(0)
    with pytest.raises(TryLaterError):
        await bench.call()
    probe.cancel()
    await asyncio.wait([probe])
    bench.transport.hold = None
    await bench.call()
    assert bench.breakers.state(skill()) == "closed"


async def test_a_probe_that_finds_no_instance_frees_the_half_open_slot() -> None:
    bench = Bench()
    await bench.fail(ErrorKind.CRASHED, 5)
    bench.clock.now += 10.0
    with pytest.raises(CallError) as refused:
        await bench.call(instances=())
    assert refused.value.kind is ErrorKind.NO_INSTANCE
    assert (await bench.call()).status is ResultStatus.SUCCESS


async def test_the_client_span_shows_where_the_attempt_went_and_why() -> None:
    bench = Bench()
    with recorded_spans() as spans:
        await bench.call()
        await bench.fail(ErrorKind.UNAVAILABLE)
    good, bad = spans.named(SPAN)
    assert dict(good.attributes or {}) == {
        "rpc.system.name": "grpc",
        "rpc.method": SPAN,
        "rpc.response.status_code": "OK",
        "server.address": "127.0.0.1",
        "server.port": 7001,
        "skillmesh.skill.name": "calculate",
        "skillmesh.service": "calculator",
        "skillmesh.instance.id": "calculator-1",
        "skillmesh.attempt": 1,
        "skillmesh.pick.reason": "only one",
        "skillmesh.breaker.state": "closed",
        "skillmesh.result.status": "success",
    }
    assert attribute(bad, conventions.RPC_STATUS) == "UNAVAILABLE"
    assert attribute(bad, "error.type") == "unavailable"
    assert bad.status.status_code is StatusCode.ERROR


@pytest.mark.parametrize(
    ("target", "address", "port"),
    [
        ("ipv4:10.0.0.1:7001", "10.0.0.1", 7001),
        ("ipv6:[::1]:7001", "::1", 7001),
        ("dns:///skills.internal:7001", "skills.internal", 7001),
        ("localhost:7001", "localhost", 7001),
        ("unix:/run/skills.sock", "/run/skills.sock", None),
    ],
)
async def test_the_span_names_the_server_whatever_the_target(target: str, address: str, port: int | None) -> None:
    bench = Bench()
    with recorded_spans() as spans:
        await bench.call(instances=(Instance("i", "calculator", target),))
    span = spans.one(SPAN)
    assert (attribute(span, "server.address"), attribute(span, "server.port")) == (address, port)
