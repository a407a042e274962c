import socket

import pytest

from skill_services.sdk.address import Address, PortError, advertised, check_free, join


@pytest.mark.parametrize(
    ("host", "advertise", "told"),
    [
        ("127.0.0.1", "", "127.0.0.1:7000"),
        ("::1", "", "[::1]:7000"),
        ("[::1]", "", "[::1]:7000"),
        ("0.0.0.0", "calc.internal", "calc.internal:7000"),
        ("0.0.0.0", "calc.internal:80", "calc.internal:80"),
        ("::", "[2001:db8::7]:80", "[2001:db8::7]:80"),
    ],
)
def test_the_address_that_is_told(host: str, advertise: str, told: str) -> None:
    assert str(advertised(host, 7000, advertise)) == told


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "[::]"])
def test_a_service_bound_to_all_addresses_tells_one_that_can_be_dialled(host: str) -> None:
    told = advertised(host, 7000, "")
    assert told.host not in {"0.0.0.0", "::", ""}
    assert socket.getaddrinfo(told.host, told.port, flags=socket.AI_NUMERICHOST)


def test_an_instance_id_has_no_dots_and_colons() -> None:
    assert Address("10.0.0.1", 7000).slug == "10-0-0-1-7000"
    assert Address("::1", 7000).slug == "1-7000"
    assert join("::1", 0) == "[::1]:0"


def test_a_taken_port_is_a_sentence_and_a_free_one_is_nothing() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(PortError, match=f"Port 127.0.0.1:{port} is in use by another process: set SKILLMESH_PORT"):
            check_free("127.0.0.1", port)
    check_free("127.0.0.1", port)
    check_free("127.0.0.1", 0)


@pytest.mark.parametrize(
    ("host", "words"), [("192.0.2.1", "no address of this machine"), ("no.such.host.invalid", "no known host")]
)
def test_a_host_that_is_not_here_is_a_sentence(host: str, words: str) -> None:
    with pytest.raises(PortError, match=words):
        check_free(host, 0)
