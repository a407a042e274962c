from hypothesis import given
from hypothesis import strategies as st

from agent_core.cache.memory import MemoryCache
from agent_core.domain.call import BlobPart, LinkPart, ResultStatus, SkillResult, TextPart
from tests.support.call_path_values import FakeClock


def result(size: int = 1) -> SkillResult:
    return SkillResult(ResultStatus.SUCCESS, b"1" * size)


def test_a_result_is_served_until_its_time_is_over() -> None:
    clock = FakeClock()
    cache = MemoryCache(clock=clock)
    kept = result()
    cache.put(b"k", kept, 60.0)
    clock.now += 59.9
    assert cache.get(b"k") is kept
    clock.now += 0.2
    assert cache.get(b"k") is None


def test_a_result_without_a_time_is_not_kept() -> None:
    cache = MemoryCache()
    cache.put(b"k", result(), 0.0)
    assert cache.get(b"k") is None


def test_the_least_recently_used_goes_first() -> None:
    cache = MemoryCache(max_entries=2)
    cache.put(b"a", result(), 60.0)
    cache.put(b"b", result(), 60.0)
    assert cache.get(b"a") is not None
    cache.put(b"a", result(2), 60.0)
    cache.put(b"c", result(), 60.0)
    assert [cache.get(key) is not None for key in (b"a", b"b", b"c")] == [True, False, True]


def test_parts_count_for_the_size_and_what_exceeds_it_all_is_not_kept() -> None:
    cache = MemoryCache(max_bytes=10_000)
    parts = (TextPart("x" * 100), BlobPart(b"x" * 9_000, "image/png"), LinkPart("file:///a", "a", "text/plain"))
    cache.put(b"big", SkillResult(ResultStatus.SUCCESS, parts=parts), 60.0)
    cache.put(b"huge", result(20_000), 60.0)
    assert cache.get(b"huge") is None
    assert cache.get(b"big") is not None
    cache.put(b"more", result(600), 60.0)
    assert cache.get(b"big") is None
    assert cache.get(b"more") is not None


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 3_000), st.floats(0, 5)), max_size=60))
def test_it_never_holds_more_than_its_bounds(puts: list[tuple[int, int, float]]) -> None:
    clock = FakeClock()
    cache = MemoryCache(max_entries=4, max_bytes=8_000, clock=clock)
    for key, size, wait in puts:
        clock.now += wait
        cache.put(bytes([key]), result(size), 10.0)
        held = [one for one in (cache.get(bytes([number])) for number in range(21)) if one is not None]
        assert len(held) <= 4
        assert sum(len(one.structured) for one in held) <= 8_000
