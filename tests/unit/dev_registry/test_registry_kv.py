import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.dev.registry import kv
from agent_core.dev.registry.kv import KeyValues
from agent_core.dev.registry.ledger import Ledger
from agent_core.dev.registry.refusals import RefusedError


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_index_of_a_prefix_moves_with_what_is_under_it_alone() -> None:
    keys = KeyValues(Ledger(), Clock())
    assert keys.index_under("a/") == 1
    keys.put("a/1", b"x", 0)
    index = keys.index_under("a/")
    keys.put("b", b"x", 0)
    assert keys.index_under("a/") == index
    keys.delete("a/1")
    assert keys.index_under("a/") > index
    assert keys.index_of("a/1") == keys.index_under("a/")


def test_a_lock_is_not_given_away_before_its_delay_is_over() -> None:
    clock = Clock()
    keys = KeyValues(Ledger(), clock)
    assert keys.acquire("k", b"", 0, "one")
    keys.end_session("one", delete=False, delay=15.0)
    assert not keys.acquire("k", b"", 0, "two")
    clock.now = 15.0
    assert keys.acquire("k", b"", 0, "two")


def test_values_and_keys_are_bounded() -> None:
    keys = KeyValues(Ledger(), Clock())
    value = b"x" * kv.MAX_VALUE_BYTES
    for number in range(kv.MAX_TOTAL_BYTES // kv.MAX_VALUE_BYTES):
        keys.put(f"big/{number}", value, 0)
    with pytest.raises(RefusedError):
        keys.put("one-more", b"x", 0)
    keys.delete_under("big/")
    for number in range(kv.MAX_KEYS):
        keys.put(str(number), b"", 0)
    with pytest.raises(RefusedError):
        keys.put("one-more", b"", 0)
    keys.put("1", b"changed", 0)


def test_what_is_remembered_of_deleted_keys_is_bounded_and_no_index_goes_back() -> None:
    keys = KeyValues(Ledger(), Clock())
    keys.put("first", b"", 0)
    keys.delete("first")
    index = keys.index_of("first")
    for number in range(kv.MAX_TOMBSTONES + 1):
        keys.put(str(number), b"", 0)
        keys.delete(str(number))
    assert keys.index_of("first") >= index


KEYS = st.sampled_from(["a", "a/b", "a/c", "d"])
SESSIONS = st.sampled_from(["one", "two"])
OPERATIONS = st.one_of(
    st.tuples(st.just("put"), KEYS, st.binary(max_size=2)),
    st.tuples(st.just("put_if"), KEYS, st.integers(0, 40)),
    st.tuples(st.just("delete"), KEYS),
    st.tuples(st.just("delete_if"), KEYS, st.integers(0, 40)),
    st.tuples(st.just("delete_under"), KEYS),
    st.tuples(st.just("acquire"), KEYS, SESSIONS),
    st.tuples(st.just("release"), KEYS, SESSIONS),
    st.tuples(st.just("end"), SESSIONS, st.booleans()),
)


@given(st.lists(OPERATIONS, max_size=30))
def test_an_index_never_goes_back_and_moves_exactly_where_something_changed(
    operations: list[tuple[object, ...]],
) -> None:
    keys = KeyValues(Ledger(), Clock())
    for operation in operations:
        before = {key: (keys.index_of(key), keys.get(key)) for key in ("a", "a/b", "a/c", "d")}
        under = keys.index_under("a")
        perform(keys, operation)
        for key, (index, entry) in before.items():
            assert keys.index_of(key) >= index
            assert (keys.index_of(key) > index) == (keys.get(key) != entry)
            assert keys.index_under(key) >= keys.index_of(key)
        assert keys.index_under("a") >= under
        assert sum(len(entry.value) for entry in keys.under("")) == keys._bytes


def perform(keys: KeyValues, operation: tuple[object, ...]) -> None:
    match operation:
        case ("put", str(key), bytes(value)):
            keys.put(key, value, 0)
        case ("put_if", str(key), int(index)):
            keys.put_if(key, b"set", 0, index)
        case ("delete", str(key)):
            keys.delete(key)
        case ("delete_if", str(key), int(index)):
            keys.delete_if(key, index)
        case ("delete_under", str(key)):
            keys.delete_under(key)
        case ("acquire", str(key), str(session)):
            keys.acquire(key, b"held", 0, session)
        case ("release", str(key), str(session)):
            keys.release(key, b"free", 0, session)
        case ("end", str(session), bool(delete)):
            keys.end_session(session, delete=delete, delay=0.0)
        case _:
            raise AssertionError(operation)
