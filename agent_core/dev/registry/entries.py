"""What the registry keeps of a service and of a check, and what was asked for when they were registered."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Status(StrEnum):
    PASSING = "passing"
    WARNING = "warning"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckDefinition:
    """A check as asked for; times are seconds, 0 where not given. Either `ttl` or `grpc` is set.

    `grpc` is a target with an optional `/service` behind it. `deregister_after` has Consul's floor applied.
    """

    id: str
    name: str
    status: Status
    notes: str = ""
    ttl: float = 0.0
    grpc: str = ""
    tls: bool = False
    interval: float = 0.0
    timeout: float = 0.0
    deregister_after: float = 0.0

    @property
    def type(self) -> str:
        return "grpc" if self.grpc else "ttl"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceDefinition:
    """A service instance as asked for. `tagged_addresses` maps a name to (address, port)."""

    id: str
    name: str
    tags: tuple[str, ...] = ()
    address: str = ""
    port: int = 0
    meta: Mapping[str, str] = field(default_factory=dict)
    passing_weight: int = 1
    warning_weight: int = 1
    tagged_addresses: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    enable_tag_override: bool = False


@dataclass(frozen=True, slots=True)
class Service:
    definition: ServiceDefinition
    create_index: int
    modify_index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A check as it stands; `service_id` is empty for the node's own."""

    id: str
    name: str
    status: Status
    type: str
    notes: str = ""
    output: str = ""
    service_id: str = ""
    service_name: str = ""
    service_tags: tuple[str, ...] = ()
    create_index: int = 0
    modify_index: int = 0
