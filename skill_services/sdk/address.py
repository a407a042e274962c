"""Where a service listens, and under which address the mesh reaches it."""

import errno
import socket
from dataclasses import dataclass

from skill_services.sdk.settings import split_host_port

_WILDCARDS = frozenset({"0.0.0.0", "::", "[::]"})  # noqa: S104  # recognised here, not bound
# Documentation addresses (RFC 5737, RFC 3849): connecting a UDP socket sends nothing, it only picks a route.
_ELSEWHERE = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))


class PortError(Exception):
    """The port cannot be opened; the message is a sentence that says why and what to set."""


@dataclass(frozen=True, slots=True)
class Address:
    """A host without brackets, and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        return join(self.host, self.port)

    @property
    def slug(self) -> str:
        """Fit for an instance id: `127-0-0-1-50051`."""
        return f"{self.host}-{self.port}".translate(str.maketrans(".:%", "---")).strip("-")


def join(host: str, port: int) -> str:
    """`host:port`; an IPv6 address in brackets."""
    bare = host.strip("[]")
    return f"[{bare}]:{port}" if ":" in bare else f"{bare}:{port}"


def advertised(bound_host: str, bound_port: int, advertise: str) -> Address:
    """The address that Consul and the core are told.

    `advertise` (SKILLMESH_ADVERTISE) wins, with the bound port where it names none. A service bound to one address
    advertises that. One bound to all (0.0.0.0 or ::) advertises the address that this host's default route uses,
    or loopback where there is no route.
    """
    if advertise:
        host, port = split_host_port(advertise)
        return Address(host, port or bound_port)
    host = bound_host.strip("[]")
    return Address(_outward() if bound_host in _WILDCARDS else host, bound_port)


def check_free(host: str, port: int) -> None:
    """Find out before gRPC does, which words it badly, whether the port can be opened.

    Raises:
        PortError: it is taken, forbidden, or no address of this host.
    """
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise PortError(f"SKILLMESH_HOST {host} is no known host: set an address of this machine.") from error
    errors = []
    for family, kind, protocol, _, target in found:
        try:
            with socket.socket(family, kind, protocol) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as gRPC does: TIME_WAIT is no hindrance
                probe.bind(target)
                probe.listen(1)
        except OSError as error:
            errors.append(error)
    # A name may stand for an IPv6 address that this machine does not have, beside an IPv4 one that it has.
    taken = [error for error in errors if error.errno == errno.EADDRINUSE]
    if taken or len(errors) == len(found):
        raise PortError(_why((taken or errors)[0], host, port))


def _why(error: OSError, host: str, port: int) -> str:
    where = join(host, port)
    if error.errno == errno.EADDRINUSE:
        return f"Port {where} is in use by another process: set SKILLMESH_PORT to another port, or to 0 for a free one."
    if error.errno == errno.EACCES:
        return f"Port {where} is not allowed for this user: set SKILLMESH_PORT to one above 1023."
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{host} is no address of this machine: set SKILLMESH_HOST to one that is."
    return f"Port {where} cannot be opened ({error.strerror}): set SKILLMESH_HOST and SKILLMESH_PORT."


def _outward() -> str:
    for family, elsewhere in _ELSEWHERE:
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((elsewhere, 9))
                return str(probe.getsockname()[0])
        except OSError:
            continue
    return "127.0.0.1"
