"""Free loopback ports for processes that cannot choose one themselves."""

import random
import socket
from typing import Final

_FIRST: Final = 21_000
_LAST: Final = 31_999
_ATTEMPTS: Final = 200

_given: set[int] = set()


def free_ports(count: int, attempts: int = _ATTEMPTS) -> tuple[int, ...]:
    """Ports that nobody listens on, none given twice by this process.

    Below the range from which the kernel takes ports of outgoing connections, so that none of those comes between
    the choice and the use. Raises OSError where there are none.
    """
    ports: list[int] = []
    for _ in range(attempts * count):
        if len(ports) == count:
            break
        port = random.randint(_FIRST, _LAST)  # noqa: S311 - no secret; two meshes should not try the same ones
        if port not in _given and is_free(port):
            _given.add(port)
            ports.append(port)
    if len(ports) < count:
        raise OSError(f"there are no {count} free ports from {_FIRST} to {_LAST}")
    return tuple(ports)


def is_free(port: int) -> bool:
    """Whether nobody on loopback has this port, for TCP or UDP."""
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):  # Consul's gossip wants both
        with socket.socket(socket.AF_INET, kind) as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                return False
    return True
