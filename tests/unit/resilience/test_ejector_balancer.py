import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.domain.errors import CallError
from agent_core.domain.events import Event, InstanceEjected, InstanceRestored
from agent_core.domain.ports import Outcome, Pick
from agent_core.domain.skill import Instance
from agent_core.resilience.balancer import TwoChoices
from agent_core.resilience.ejector import Ejector, Standing
from skillmesh.errors import ErrorKind
from tests.support.call_path_values import FakeClock, instance, skill

A, B, C = instance(1), instance(2), instance(3)
NOBODY: frozenset[str] = frozenset()


class Bench:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.events: list[Event] = []
        self.down: set[str] = set()
        self.ejector = Ejector(self.events.append, clock=self.clock)
        rng = random.Random(7)  # noqa: S311  # a fixed seed
        self.balancer = TwoChoices(self.ejector, reachable=lambda one: one.id not in self.down, rng=rng)

    def eject(self, one: Instance, times: int = 5) -> None:
        for _ in range(times):
            self.balancer.pick(skill(instances=(one,)), NOBODY).done(Outcome.FAILURE)


def test_five_failures_in_a_row_eject_an_instance_and_calls_go_to_the_other() -> None:
    bench = Bench()
    bench.eject(A)
    picks = {bench.balancer.pick(skill(instances=(A, B)), NOBODY).instance.id for _ in range(50)}
    assert picks == {B.id}
    assert bench.events == [InstanceEjected(instance=A.id, service="calculator", seconds=5.0)]


def test_a_success_in_between_starts_the_count_anew() -> None:
    bench = Bench()
    bench.eject(A, 4)
    bench.balancer.pick(skill(instances=(A,)), NOBODY).done(Outcome.SUCCESS)
    bench.eject(A, 4)
    assert bench.ejector.standing(A) is Standing.IN


def test_a_cancellation_counts_for_nothing() -> None:
    bench = Bench()
    bench.eject(A, 4)
    for _ in range(10):
        bench.balancer.pick(skill(instances=(A,)), NOBODY).done(Outcome.NOTHING)
    assert bench.ejector.standing(A) is Standing.IN
    assert not bench.events


def test_it_comes_back_by_one_probe_at_a_time() -> None:
    bench = Bench()
    both = skill(instances=(A, B))
    bench.eject(A)
    bench.clock.now += 5.0
    probe = bench.balancer.pick(both, NOBODY)
    assert (probe.instance, probe.reason) == (A, "probe")
    assert {bench.balancer.pick(both, NOBODY).instance for _ in range(20)} == {B}
    probe.done(Outcome.SUCCESS)
    assert bench.ejector.standing(A) is Standing.IN
    assert bench.events[-1] == InstanceRestored(instance=A.id, service="calculator")


def test_each_failed_probe_doubles_the_time_out_up_to_a_minute() -> None:
    bench = Bench()
    bench.eject(A)
    for _ in range(5):
        bench.clock.now += 60.0
        bench.balancer.pick(skill(instances=(A, B)), NOBODY).done(Outcome.FAILURE)
    seconds = [one.seconds for one in bench.events if isinstance(one, InstanceEjected)]
    assert seconds == [5.0, 10.0, 20.0, 40.0, 60.0, 60.0]


def test_a_cancelled_probe_leaves_it_due() -> None:
    bench = Bench()
    bench.eject(A)
    bench.clock.now += 5.0
    bench.balancer.pick(skill(instances=(A, B)), NOBODY).done(Outcome.NOTHING)
    assert bench.ejector.standing(A) is Standing.DUE


def late_probe(bench: Bench) -> Pick:
    """A probe of A that is still out when the next one has been let through."""
    bench.eject(A)
    bench.clock.now += 5.0
    late = bench.balancer.pick(skill(instances=(A, B)), NOBODY)
    assert bench.ejector.standing(A) is Standing.BUSY
    bench.clock.now += 10.0
    assert bench.balancer.pick(skill(instances=(A, B)), NOBODY).reason == "probe"
    return late


def test_a_lost_probe_makes_way_for_the_next() -> None:
    bench = Bench()
    late_probe(bench).done(Outcome.NOTHING)
    assert bench.ejector.standing(A) is Standing.BUSY
    assert len(bench.events) == 1


def test_an_instance_slower_than_a_probes_time_comes_back_by_its_late_success() -> None:
    bench = Bench()
    late_probe(bench).done(Outcome.SUCCESS)
    assert bench.ejector.standing(A) is Standing.IN


def test_a_late_failure_takes_it_out_again_and_a_trial_of_an_earlier_time_out_says_nothing() -> None:
    bench = Bench()
    late = late_probe(bench)
    bench.clock.now += 10.0
    later = bench.balancer.pick(skill(instances=(A, B)), NOBODY)
    late.done(Outcome.FAILURE)
    assert bench.events[-1] == InstanceEjected(instance=A.id, service="calculator", seconds=10.0)
    later.done(Outcome.SUCCESS)
    assert bench.ejector.standing(A) is Standing.OUT
    assert len(bench.events) == 2


def test_what_one_process_did_is_not_held_against_another_that_has_its_id() -> None:
    bench = Bench()
    bench.eject(A)
    moved = replace(A, target="ipv4:127.0.0.1:7999")
    elsewhere = replace(moved, service="clock")
    held = bench.balancer.pick(skill(instances=(moved,)), NOBODY)
    assert held.reason == "only one"
    assert bench.ejector.standing(elsewhere) is Standing.IN
    assert bench.balancer.in_flight(A) == 0


def test_a_probe_does_not_go_where_this_call_has_already_been() -> None:
    bench = Bench()
    bench.eject(A)
    bench.clock.now += 5.0
    assert bench.balancer.pick(skill(instances=(A, B)), frozenset({A.id})).instance == B


def test_calls_under_way_when_it_was_ejected_say_nothing_new() -> None:
    bench = Bench()
    early = [bench.balancer.pick(skill(instances=(A,)), NOBODY) for _ in range(3)]
    bench.eject(A)
    early[0].done(Outcome.SUCCESS)
    early[1].done(Outcome.FAILURE)
    assert bench.ejector.standing(A) is Standing.OUT
    assert len(bench.events) == 1


def test_when_all_are_out_the_least_bad_is_tried_one_call_at_a_time() -> None:
    bench = Bench()
    both = skill(instances=(A, B))
    bench.eject(A)
    bench.clock.now += 1.0
    bench.eject(B)
    first = bench.balancer.pick(both, NOBODY)
    second = bench.balancer.pick(both, NOBODY)
    assert [(one.instance, one.reason) for one in (first, second)] == [(A, "least bad"), (B, "least bad")]
    with pytest.raises(CallError) as refused:
        bench.balancer.pick(both, NOBODY)
    assert refused.value.kind is ErrorKind.NO_INSTANCE
    assert "keep failing" in refused.value.for_model
    first.done(Outcome.SUCCESS)
    assert bench.balancer.pick(both, NOBODY).instance == A


def test_an_instance_that_the_registry_finds_healthy_again_is_forgiven() -> None:
    bench = Bench()
    bench.eject(A)
    bench.ejector.forgive(A)
    bench.ejector.forgive(B)
    assert bench.ejector.standing(A) is Standing.IN
    assert isinstance(bench.events[-1], InstanceRestored)


def test_instances_that_left_are_forgotten() -> None:
    bench = Bench()
    bench.eject(A)
    bench.ejector.retain(frozenset({B.target}))
    assert bench.ejector.standing(A) is Standing.IN


def test_without_instances_there_is_no_pick() -> None:
    with pytest.raises(CallError) as refused:
        Bench().balancer.pick(skill(instances=()), NOBODY)
    assert refused.value.kind is ErrorKind.NO_INSTANCE
    assert refused.value.for_model == (
        "calculator.calculate has no healthy instance. Try again later or answer without it."
    )


def test_of_two_the_one_with_fewer_calls_in_flight_is_picked() -> None:
    bench = Bench()
    both = skill(instances=(A, B))
    held = bench.balancer.pick(skill(instances=(A,)), NOBODY)
    assert held.reason == "only one"
    pick = bench.balancer.pick(both, NOBODY)
    assert (pick.instance, pick.reason) == (B, "least of two (0<1)")
    held.done(Outcome.SUCCESS)
    held.done(Outcome.SUCCESS)
    assert bench.balancer.in_flight(A) == 0


def test_an_instance_that_this_call_has_tried_is_avoided_while_there_is_another() -> None:
    bench = Bench()
    both = skill(instances=(A, B))
    assert {bench.balancer.pick(both, frozenset({A.id})).instance for _ in range(20)} == {B}
    assert bench.balancer.pick(both, frozenset({A.id, B.id})).instance in {A, B}


def test_one_that_failed_this_call_once_is_preferred_to_one_that_is_out() -> None:
    bench = Bench()
    bench.eject(A)
    assert bench.balancer.pick(skill(instances=(A, B)), frozenset({B.id})).instance == B


def test_an_instance_whose_connection_is_down_is_passed_over() -> None:
    bench = Bench()
    bench.down.add(A.id)
    both = skill(instances=(A, B))
    picks = [bench.balancer.pick(both, NOBODY) for _ in range(20)]
    assert {one.instance for one in picks} == {B}
    assert {one.reason for one in picks} == {"the other is not connected"}
    bench.down |= {B.id}
    assert bench.balancer.pick(both, NOBODY).reason == "none is connected"
    three = skill(instances=(A, B, C))
    assert {bench.balancer.pick(three, NOBODY).instance for _ in range(30)} == {C}


def test_idle_instances_are_picked_in_proportion_to_their_weights() -> None:
    bench = Bench()
    heavy = instance(2, weight=3)
    picked: Counter[str] = Counter()
    for _ in range(400):
        pick = bench.balancer.pick(skill(instances=(A, heavy)), NOBODY)
        picked[pick.instance.id] += 1
        pick.done(Outcome.SUCCESS)
    assert 0.65 < picked[heavy.id] / 400 < 0.85


@given(
    weights=st.lists(st.integers(1, 10), min_size=1, max_size=6),
    steps=st.lists(st.sampled_from(list(Outcome)), max_size=80),
    seed=st.integers(0, 1_000),
)
def test_in_flight_counts_return_to_zero_whatever_happens(weights: list[int], steps: list[Outcome], seed: int) -> None:
    clock = FakeClock()
    rng = random.Random(seed)  # noqa: S311  # replayed from its seed
    balancer = TwoChoices(Ejector(lambda _event: None, clock=clock), rng=rng)
    instances = tuple(instance(number, weight=weight) for number, weight in enumerate(weights))
    picks = []
    for outcome in steps:
        clock.now += 1.0
        try:
            picks.append(balancer.pick(skill(instances=instances), NOBODY))
        except CallError:
            while picks:
                picks.pop().done(outcome)
        if len(picks) > 3:
            picks.pop(0).done(outcome)
    for pick in picks:
        pick.done(Outcome.SUCCESS)
    assert all(balancer.in_flight(one) == 0 for one in instances)
