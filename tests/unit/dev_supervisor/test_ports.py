import socket

import pytest

from agent_core.dev import ports


def test_ports_are_free_and_none_is_given_twice() -> None:
    first, second = ports.free_ports(5), ports.free_ports(5)
    assert len({*first, *second}) == 10
    for port in first:
        with socket.socket() as sock:
            sock.bind(("127.0.0.1", port))


def test_a_port_in_use_is_not_given() -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        assert not ports.is_free(sock.getsockname()[1])


def test_where_there_are_not_enough_that_is_said() -> None:
    with pytest.raises(OSError, match="no 3 free ports"):
        ports.free_ports(3, attempts=0)
