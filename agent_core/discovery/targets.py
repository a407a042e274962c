"""Addresses as gRPC targets, as https://github.com/grpc/grpc/blob/master/doc/naming.md spells them."""

import ipaddress
import re
from typing import Final

_HOST: Final = re.compile(
    r"(?=.{1,253}\Z)[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*\.?"
)


def grpc_target(host: str, port: int) -> str:
    """`ipv4:1.2.3.4:7000`, `ipv6:[::1]:7000` or `dns:///name:7000`. Raises ValueError.

    A literal address is passed as one, so that no resolver is asked and an IPv6 one keeps its brackets.
    """
    if not 1 <= port <= 65_535:
        message = f"port {port} is not between 1 and 65535"
        raise ValueError(message)
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    try:
        address = ipaddress.ip_address(bare)
    except ValueError:
        if not _HOST.fullmatch(bare) or bare.replace(".", "").isdigit():
            message = f"address {host[:80]!r} is neither an IP address nor a host name"
            raise ValueError(message) from None
        return f"dns:///{bare}:{port}"
    if address.is_unspecified:
        message = f"address {bare} means every interface and cannot be dialled: set SKILLMESH_ADVERTISE"
        raise ValueError(message)
    if address.version == 4:
        return f"ipv4:{bare}:{port}"
    return f"ipv6:[{bare.replace('%', '%25')}]:{port}"  # the zone's sign, escaped as in a URI


def host_port(host: str, port: int) -> str:
    """`host:port` with brackets where they belong."""
    return f"[{host}]:{port}" if ":" in host and not host.startswith("[") else f"{host}:{port}"
