import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.discovery.targets import grpc_target, host_port


@pytest.mark.parametrize(
    ("host", "target"),
    [
        ("127.0.0.1", "ipv4:127.0.0.1:7000"),
        ("::1", "ipv6:[::1]:7000"),
        ("[::1]", "ipv6:[::1]:7000"),
        ("fe80::1%eth0", "ipv6:[fe80::1%25eth0]:7000"),
        ("localhost", "dns:///localhost:7000"),
        ("skill_1.example.com", "dns:///skill_1.example.com:7000"),
    ],
)
def test_addresses_become_targets_that_need_no_guessing(host: str, target: str) -> None:
    assert grpc_target(host, 7000) == target


@pytest.mark.parametrize("host", ["", "0.0.0.0", "::", "a b", "a/b", "host:80", "256.1.1.1", "-a", "a..b", "x" * 300])
def test_an_address_that_cannot_be_dialled_is_refused(host: str) -> None:
    with pytest.raises(ValueError, match="address"):
        grpc_target(host, 7000)


@pytest.mark.parametrize("port", [0, -1, 65_536])
def test_a_port_out_of_range_is_refused(port: int) -> None:
    with pytest.raises(ValueError, match="port"):
        grpc_target("127.0.0.1", port)


@given(st.text(max_size=300), st.integers(-10, 70_000))
def test_any_text_is_a_target_or_a_value_error(host: str, port: int) -> None:
    try:
        target = grpc_target(host, port)
    except ValueError:
        return
    assert target.startswith(("ipv4:", "ipv6:[", "dns:///"))
    assert target.isascii()
    assert " " not in target


def test_brackets_are_put_where_they_belong() -> None:
    assert host_port("::1", 1) == "[::1]:1"
    assert host_port("[::1]", 1) == "[::1]:1"
    assert host_port("a", 1) == "a:1"
