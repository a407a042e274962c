import asyncio
from dataclasses import replace

import pytest

from agent_core.cache.memory import MemoryCache
from agent_core.domain.call import ResultStatus
from agent_core.domain.events import AttemptFailed, AttemptStarted, CallFinished, CallStarted, Event
from agent_core.domain.skill import Catalogue, Instance
from agent_core.invocation.pipeline import CallPath, compose
from agent_core.invocation.retried import RetryRules
from agent_core.invocation.routed import Routing
from agent_core.invocation.upkeep import Upkeep, follow
from agent_core.policy.access import AccessPolicy
from agent_core.resilience.balancer import TwoChoices
from agent_core.resilience.breaker import SkillBreakers
from agent_core.resilience.budget import SlidingBudget
from agent_core.resilience.ejector import Ejector
from skillmesh.errors import ErrorKind
from tests.support.call_path_values import FixedCatalogue, call_of, catalogue_of, context, instance, skill
from tests.support.eventually import eventually
from tests.support.fake_transport import FakeTransport
from tests.support.recorded_spans import attribute, parent_of, recorded_spans

TWO = (instance(1), instance(2))


def path(transport: FakeTransport) -> CallPath:
    def ignore(_event: Event) -> None:
        pass

    return CallPath(
        source=FixedCatalogue(),
        policy=AccessPolicy(),
        cache=MemoryCache(),
        retries=RetryRules(SlidingBudget(), lambda _attempt: 0.0),
        routing=Routing(SkillBreakers(ignore), TwoChoices(Ejector(ignore)), transport),
    )


async def test_a_call_that_breaks_at_one_instance_succeeds_at_the_other_under_one_span() -> None:
    events: list[Event] = []
    transport = FakeTransport([ErrorKind.UNAVAILABLE])
    one = skill(instances=TWO, cache_ttl=60.0)
    invoke = compose(path(transport), {})
    with recorded_spans() as spans:
        result = await invoke(call_of(one, b'{"a":1}'), context(emit=events.append))
        again = await invoke(call_of(one, b'{"a":1}', call_id="c2"), context())
    assert (result.status, result.attempts, result.structured) == (ResultStatus.SUCCESS, 2, b'{"a":1}')
    assert again.cached
    first, second = transport.sent
    assert first.instance != second.instance
    assert (first.call.id, first.call.attempt) == ("c1", 1)
    assert (second.call.id, second.call.attempt) == ("c1", 2)
    assert [type(one) for one in events] == [CallStarted, AttemptStarted, AttemptFailed, AttemptStarted, CallFinished]
    tool, cached = spans.named("execute_tool calculate")
    attempts = spans.named("skillmesh.v1.SkillService/Invoke")
    assert [parent_of(one, spans.all()) for one in attempts] == [tool, tool]
    assert attribute(tool, "skillmesh.cache") == "miss"
    assert attribute(tool, "skillmesh.policy.decision") == "allow"
    assert attribute(cached, "skillmesh.cache") == "hit"


class Changing:
    """A CatalogueSource whose catalogues come when they are put."""

    def __init__(self) -> None:
        self.catalogues: asyncio.Queue[Catalogue] = asyncio.Queue()
        self.catalogue = Catalogue()

    async def changed(self, since: int) -> Catalogue:
        self.catalogue = await self.catalogues.get()
        assert self.catalogue.version > since
        return self.catalogue

    async def refresh(self, service: str) -> None:
        raise NotImplementedError


async def test_what_the_call_path_remembers_follows_the_catalogue() -> None:
    source = Changing()
    arrived: list[Instance] = []
    kept: list[frozenset[str]] = []
    upkeep = Upkeep(
        retain_targets=(kept.append,),
        retain_skills=(kept.append,),
        arrived=(arrived.append,),
    )
    told = asyncio.create_task(follow(source, upkeep))
    await source.catalogues.put(catalogue_of(skill(instances=TWO), version=1))
    await source.catalogues.put(catalogue_of(skill(instances=TWO[:1]), version=2))
    await source.catalogues.put(catalogue_of(skill(instances=TWO), version=3))
    await eventually(lambda: len(kept) == 6)
    told.cancel()
    await asyncio.wait([told])
    assert arrived == [TWO[0], TWO[1], TWO[1]]
    assert kept[2:4] == [
        frozenset({"ipv4:127.0.0.1:7001"}),
        frozenset({"calculator.calculate"}),
    ]


@pytest.mark.parametrize("change", [{"target": "ipv4:127.0.0.1:7999"}, {"fingerprint": "f2"}])
async def test_another_process_under_an_old_id_has_arrived_and_another_weight_has_not(change: dict[str, str]) -> None:
    source = Changing()
    arrived: list[Instance] = []
    told = asyncio.create_task(follow(source, Upkeep(arrived=(arrived.append,))))
    before = instance(1)
    after = replace(before, **change)  # type: ignore[arg-type]  # both fields are texts
    for version, one in enumerate((before, replace(before, weight=9), after), 1):
        await source.catalogues.put(catalogue_of(skill(instances=(one,)), version=version))
    await eventually(lambda: source.catalogue.version == 3)
    told.cancel()
    await asyncio.wait([told])
    assert arrived == [before, after]


async def test_a_skill_that_another_instance_serves_from_now_on_may_be_tried_at_once() -> None:
    source = Changing()
    gained: list[str] = []
    told = asyncio.create_task(follow(source, Upkeep(gained=(gained.append,))))
    old, new = TWO
    everybody = catalogue_of(skill(instances=(new,), version="2.0.0")).skills
    steps = [
        (everybody, TWO),  # the higher version is offered, by the one that has it
        (everybody, TWO),
        (catalogue_of(skill(instances=(old,))).skills, (old,)),  # which left: the others' version is offered
        (catalogue_of(skill(instances=())).skills, (old,)),
        (catalogue_of(skill(instances=(old,))).skills, (old,)),
    ]
    for version, (skills, instances) in enumerate(steps, 1):
        await source.catalogues.put(Catalogue(skills, {"calculator": instances}, version=version, ready=True))
    await eventually(lambda: source.catalogue.version == len(steps))
    told.cancel()
    await asyncio.wait([told])
    assert gained == ["calculator.calculate"] * 3
