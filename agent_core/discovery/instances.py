"""Instances out of Consul's health answer. One malformed entry never breaks the others."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from agent_core.discovery.targets import grpc_target
from agent_core.domain.skill import Instance
from skillmesh.conventions import META_FINGERPRINT, META_PROTOCOL, META_VERSION, PROTOCOL

MAX_INSTANCES: Final = 1_000
_MAX_WEIGHT: Final = 65_535
_MAX_TEXT: Final = 256
_MAINTENANCE: Final = ("_node_maintenance", "_service_maintenance")


@dataclass(frozen=True, slots=True)
class Reading:
    """What an answer says.

    `passing` by instance id; `failed`: ids of those known not to pass (a check that has not run yet says nothing);
    `failing`: how many do not pass, the unknown included; `problems`: a sentence for each entry that cannot be used.
    """

    passing: Mapping[str, Instance]
    failed: frozenset[str] = frozenset()
    failing: int = 0
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Entry:
    instance: Instance
    node: str
    created: int


def read_instances(service: str, body: object, *, include_warning: bool) -> Reading:
    """Read `/v1/health/service/<name>`.

    All checks decide, those of the node and maintenance included; `warning` passes only where `include_warning`.
    """
    if not isinstance(body, list):
        return Reading({}, problems=(f"Consul's answer about {service} is not a list of instances.",))
    entries: list[_Entry] = []
    failed: set[str] = set()
    problems: list[str] = []
    failing = 0
    if len(body) > MAX_INSTANCES:
        problems.append(f"{service} has {len(body)} instances; {MAX_INSTANCES} at most are used.")
    for raw in body[:MAX_INSTANCES]:
        try:
            entry = _entry(service, raw, include_warning=include_warning)
        except ValueError as error:
            problems.append(f"an instance of {service} is left out: {error}.")
            continue
        if _passes(raw, include_warning=include_warning):
            entries.append(entry)
        else:
            failing += 1
            if not _never_checked(raw):
                failed.add(entry.instance.id)
    return Reading(_distinct(entries), frozenset(failed), failing, tuple(problems))


def _entry(service: str, raw: object, *, include_warning: bool) -> _Entry:
    service_part, node = _mapping(raw, "Service"), _mapping(raw, "Node")
    host = _text(service_part, "Address") or _text(node, "Address")
    if not host:
        message = "it has no address"
        raise ValueError(message)
    port = service_part.get("Port")
    meta = _mapping(service_part, "Meta")
    protocol = _text(meta, META_PROTOCOL) or PROTOCOL
    if protocol != PROTOCOL:
        message = f"it speaks protocol {protocol[:20]!r} where this core speaks {PROTOCOL}: upgrade the older one"
        raise ValueError(message)
    target = grpc_target(host, port if isinstance(port, int) else 0)
    own_id = _text(service_part, "ID")
    if len(own_id) > _MAX_TEXT or not own_id.isprintable():
        message = f"its id {own_id[:40]!r} is not of at most {_MAX_TEXT} printable characters"
        raise ValueError(message)
    instance = Instance(
        id=own_id or f"{service}@{target}",
        service=service,
        target=target,
        fingerprint=_text(meta, META_FINGERPRINT)[:_MAX_TEXT],
        weight=_weight(raw, service_part, include_warning=include_warning),
        version=_text(meta, META_VERSION)[:_MAX_TEXT],
    )
    created = service_part.get("CreateIndex")
    return _Entry(instance, _text(node, "Node"), created if isinstance(created, int) else 0)


def _distinct(entries: Iterable[_Entry]) -> dict[str, Instance]:
    """By id, in id order.

    Two entries with one target are one process: the later registration counts. An id that two nodes use (it is
    unique to an agent only) gets the node's name.
    """
    by_target: dict[str, _Entry] = {}
    for entry in sorted(entries, key=lambda e: (e.created, e.instance.id, e.node)):
        by_target[entry.instance.target] = entry
    by_id: dict[str, list[_Entry]] = {}
    for entry in by_target.values():
        by_id.setdefault(entry.instance.id, []).append(entry)
    found: dict[str, Instance] = {}
    for same in by_id.values():
        for entry in same:
            instance = entry.instance if len(same) == 1 else _renamed(entry)
            found[instance.id] = instance
    return dict(sorted(found.items()))


def _renamed(entry: _Entry) -> Instance:
    one = entry.instance
    return Instance(
        f"{one.id}@{entry.node or one.target}", one.service, one.target, one.fingerprint, one.weight, one.version
    )


def _checks(raw: object) -> list[Mapping[str, object]]:
    checks = raw.get("Checks") if isinstance(raw, Mapping) else None
    return [check for check in checks if isinstance(check, Mapping)] if isinstance(checks, list) else []


def _passes(raw: object, *, include_warning: bool) -> bool:
    allowed = ("passing", "warning") if include_warning else ("passing",)
    return all(
        check.get("Status") in allowed and not _text(check, "CheckID").startswith(_MAINTENANCE)
        for check in _checks(raw)
    )


def _never_checked(raw: object) -> bool:
    """Whether every check that fails has yet to run, as after the agent's restart: it starts critical, silent."""
    return all(
        check.get("Status") == "critical"
        and not _text(check, "Output")
        and not _text(check, "CheckID").startswith(_MAINTENANCE)
        for check in _checks(raw)
        if check.get("Status") != "passing"
    )


def _weight(raw: object, service_part: Mapping[str, object], *, include_warning: bool) -> int:
    warned = include_warning and any(check.get("Status") == "warning" for check in _checks(raw))
    weight = _mapping(service_part, "Weights").get("Warning" if warned else "Passing")
    return min(max(weight, 1), _MAX_WEIGHT) if isinstance(weight, int) else 1


def _mapping(raw: object, key: str) -> Mapping[str, object]:
    value = raw.get(key) if isinstance(raw, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _text(raw: Mapping[str, object], key: str) -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else ""
