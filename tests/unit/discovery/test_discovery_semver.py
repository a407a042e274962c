from hypothesis import given
from hypothesis import strategies as st

from agent_core.discovery.semver import precedence

# The order of Semantic Versioning 2.0.0, section 11, with what is no version before all.
ORDERED = [
    "banana", "0.0.1", "0.9.0", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2",
    "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.2.0", "1.10.0", "2.0.0-x", "2.0.0", "2.1.0", "2.1.1", "10.0.0",
]  # fmt: skip


def test_versions_are_ordered_as_the_specification_orders_them() -> None:
    assert sorted(sorted(ORDERED), key=precedence) == ORDERED


def test_build_metadata_does_not_count() -> None:
    assert precedence("1.0.0+linux") == precedence("1.0.0+mac.5")


def test_what_is_no_version_is_lowest() -> None:
    for text in ("", "1", "1.2", "v1.2.3", "1.2.3-", "01.2.3", "1.2.3-" + "a" * 300, "9" * 40 + ".0.0", "١.0.0"):
        assert precedence(text) < precedence("0.0.0-0"), text


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_two_texts_compare(one: str, other: str) -> None:
    assert (precedence(one) <= precedence(other)) or (precedence(other) <= precedence(one))
