import pytest

from agent_core.cache.memory import MemoryCache
from agent_core.domain.call import CallContext, Principal, ResultStatus, SkillCall, SkillResult
from agent_core.domain.errors import CallError
from agent_core.domain.ports import Decision, Verdict
from agent_core.domain.skill import AccessLevel, Effect, Skill
from agent_core.invocation.authorized import authorized
from agent_core.invocation.cached import cache_key, cached
from agent_core.policy.access import AccessPolicy
from skillmesh.errors import ErrorKind
from tests.support.call_path_values import call_of, context, skill

CACHEABLE = skill(cache_ttl=60.0)


class Inner:
    def __init__(self, status: ResultStatus = ResultStatus.SUCCESS) -> None:
        self.runs = 0
        self._status = status

    async def __call__(self, _call: SkillCall, _context: CallContext) -> SkillResult:
        self.runs += 1
        return SkillResult(self._status, b"%d" % self.runs, instance="i", attempts=2)


class DenyAll:
    def visible(self, skill: Skill, principal: Principal) -> bool:
        raise NotImplementedError

    def decide(self, call: SkillCall, context: CallContext) -> Decision:
        return Decision(Verdict.DENY, f"{context.principal.subject or 'nobody'} may not run {call.skill.name}")


async def test_an_allowed_call_runs() -> None:
    inner = Inner()
    await authorized(AccessPolicy())(inner)(call_of(), context())
    assert inner.runs == 1


async def test_a_call_that_needs_approval_does_not_run_and_says_what_to_set() -> None:
    inner = Inner()
    with pytest.raises(CallError) as refused:
        await authorized(AccessPolicy())(inner)(call_of(skill(access=AccessLevel.OPERATOR)), context())
    assert inner.runs == 0
    assert refused.value.kind is ErrorKind.APPROVAL_REQUIRED
    assert "SKILLMESH_ALLOW=operator" in str(refused.value)
    assert "needs an approval" in refused.value.for_model


async def test_a_denied_call_does_not_run() -> None:
    inner = Inner()
    with pytest.raises(CallError) as refused:
        await authorized(DenyAll())(inner)(call_of(), context())
    assert inner.runs == 0
    assert refused.value.kind is ErrorKind.PERMISSION_DENIED
    assert str(refused.value) == "calculator.calculate is not allowed: nobody may not run calculate."


async def test_the_same_question_again_is_answered_from_the_cache() -> None:
    inner = Inner()
    invoke = cached(MemoryCache())(inner)
    first = await invoke(call_of(CACHEABLE, b'{"a":1,"b":[1]}'), context())
    second = await invoke(call_of(CACHEABLE, b'{ "b": [1], "a": 1 }'), context())
    assert (first.cached, first.attempts) == (False, 2)
    assert second == SkillResult(ResultStatus.SUCCESS, b"1", cached=True)
    assert inner.runs == 1


@pytest.mark.parametrize("status", [ResultStatus.FAILED, ResultStatus.RETRYABLE])
async def test_what_is_no_success_is_never_kept(status: ResultStatus) -> None:
    inner = Inner(status)
    invoke = cached(MemoryCache())(inner)
    for _ in range(2):
        await invoke(call_of(CACHEABLE), context())
    assert inner.runs == 2


@pytest.mark.parametrize("one", [skill(), skill(effect=Effect.IDEMPOTENT, cache_ttl=60.0)])
async def test_only_reads_that_allow_it_are_kept(one: Skill) -> None:
    inner = Inner()
    invoke = cached(MemoryCache())(inner)
    for _ in range(2):
        await invoke(call_of(one), context())
    assert inner.runs == 2


def key(one: Skill = CACHEABLE, arguments: bytes = b"{}", **fields: object) -> bytes:
    return cache_key(call_of(one, arguments), context(**fields))  # type: ignore[arg-type]  # passed on as they come


def test_whatever_may_shape_the_answer_is_in_the_key() -> None:
    keys = [
        key(),
        key(arguments=b'{"a":1}'),
        key(arguments=b'{"a":"1"}'),
        key(skill("other", cache_ttl=60.0)),
        key(skill(cache_ttl=60.0, fingerprint="f2")),
        key(principal=Principal("ann")),
        key(principal=Principal("ann", ("dev",))),
        key(time_zone="Asia/Tokyo"),
        key(locale="de"),
        key(session_id="s1"),
        key(session_id="s2"),
    ]
    assert len(set(keys)) == len(keys)
    assert key(principal=Principal("a", ("x", "y"))) == key(principal=Principal("a", ("y", "x")))


def test_numbers_that_a_double_cannot_tell_apart_are_different_questions() -> None:
    assert key(arguments=b'{"n":18446744073709551617}') != key(arguments=b'{"n":18446744073709551616}')
    assert key(arguments=b'{"n":0.12345678901234567}') != key(arguments=b'{"n":0.123456789012345671}')
