"""A finished span as the collector keeps it, and its JSON, which `skillmesh trace` reads in another process."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

AttributeValue = str | bool | int | float | tuple["AttributeValue", ...] | Mapping[str, "AttributeValue"] | None


class Kind(StrEnum):
    INTERNAL = "internal"
    SERVER = "server"
    CLIENT = "client"
    PRODUCER = "producer"
    CONSUMER = "consumer"


class SpanStatus(StrEnum):
    UNSET = "unset"
    OK = "ok"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """Something that happened in a span, such as an exception; time is Unix nanoseconds."""

    name: str
    time_ns: int
    attributes: Mapping[str, AttributeValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanRecord:
    """One finished span. Ids are lower-case hex, `parent_id` empty for a root; times are Unix nanoseconds.

    `service`, `instance` and `pid` are its process's; `pid` is 0 where it does not tell.
    """

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    kind: Kind
    start_ns: int
    end_ns: int
    status: SpanStatus = SpanStatus.UNSET
    status_message: str = ""
    attributes: Mapping[str, AttributeValue] = field(default_factory=dict)
    service: str = ""
    instance: str = ""
    pid: int = 0
    events: tuple[SpanEvent, ...] = ()

    @property
    def seconds(self) -> float:
        return max(0, self.end_ns - self.start_ns) / 1e9

    def to_dict(self) -> dict[str, object]:
        """JSON-able."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "SpanRecord":
        """The inverse of `to_dict`, also after JSON. Raises ValueError where it is none."""
        try:
            events = tuple(SpanEvent(event["name"], event["time_ns"], event["attributes"]) for event in data["events"])
            return cls(**{**data, "kind": Kind(data["kind"]), "status": SpanStatus(data["status"]), "events": events})
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a span: {error}") from error
