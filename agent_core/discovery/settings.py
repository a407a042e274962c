"""What discovery can be told, and the registry's address in its two spellings."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from agent_core.domain.errors import ConfigError
from skillmesh.conventions import CONSUL_TAG

DEFAULT_ADDRESS = "127.0.0.1:8500"
MAX_WAIT_SECONDS = 240.0
"""Consul adds up to a sixteenth; with it a long poll must stay below what proxies allow (often 300 s)."""


@dataclass(frozen=True, slots=True)
class ConsulAddress:
    """Where Consul's HTTP API is; `host` bears no brackets."""

    scheme: str
    host: str
    port: int

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def parse_address(text: str) -> ConsulAddress:
    """Read `host:port`, `http://host:port` or `https://host:port`, as CONSUL_HTTP_ADDR may be. Raises ConfigError."""
    parts = urlsplit(text if "://" in text else f"http://{text}")
    try:
        port = parts.port
    except ValueError:
        port = -1
    sound = parts.scheme in ("http", "https") and parts.hostname and not parts.username and not parts.password
    if not sound or port == -1 or parts.path not in ("", "/") or parts.query or parts.fragment:
        message = "CONSUL_HTTP_ADDR must be host:port, http://host:port or https://host:port"
        raise ConfigError(message)
    default = 443 if parts.scheme == "https" else 8500
    return ConsulAddress(parts.scheme, parts.hostname or "", default if port is None else port)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoverySettings:
    """Times are in seconds.

    `include_warning`: route to instances with a check in the state `warning`, too. `keep`: how long what was known
    stays after Consul came back without it (it may have lost its data; services register again by themselves).
    `wait` is that of the long polls, `heartbeat` that of the one that also notices a Consul gone silent. `timeout`
    bounds a query that does not wait. `max_watches`: services with a long poll of their own; Consul serves 200
    connections an address by default. `retry`: the first pause after a failure; it grows to four times as much.
    `settle`: how long the first catalogue waits for slow descriptions. `ca_file`: PEM file, for https.
    """

    address: str = DEFAULT_ADDRESS
    token: str = field(default="", repr=False)
    tag: str = CONSUL_TAG
    ca_file: str = ""
    include_warning: bool = False
    keep: float = 15.0
    wait: float = MAX_WAIT_SECONDS
    heartbeat: float = 10.0
    timeout: float = 5.0
    max_watches: int = 150
    retry: float = 1.0
    settle: float = 3.0

    def __post_init__(self) -> None:
        if not 1.0 <= self.wait <= MAX_WAIT_SECONDS or not 1.0 <= self.heartbeat <= MAX_WAIT_SECONDS:
            message = f"the waits of long polls must be 1 to {MAX_WAIT_SECONDS:.0f} seconds"
            raise ConfigError(message)
        if min(self.keep, self.settle) < 0 or min(self.timeout, self.retry) <= 0 or self.max_watches < 1:
            message = "keep and settle must be at least 0, timeout and retry above 0 and max_watches at least 1"
            raise ConfigError(message)
