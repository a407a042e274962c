"""The JSON that Consul shows of services, checks, keys and sessions."""

import base64
import hashlib

import orjson

from agent_core.dev.registry.durations import nanoseconds
from agent_core.dev.registry.entries import Check, Service, Status
from agent_core.dev.registry.kv import Entry
from agent_core.dev.registry.sessions import Session
from agent_core.dev.registry.state import State

Json = dict[str, object]


def node(state: State) -> Json:
    known = state.node
    return {
        "ID": known.id,
        "Node": known.name,
        "Address": known.address,
        "Datacenter": known.datacenter,
        "TaggedAddresses": {"lan": known.address, "wan": known.address},
        "Meta": {},
        "CreateIndex": state.node_index,
        "ModifyIndex": state.node_index,
    }


def agent_service(service: Service) -> Json:
    """As the agent shows it."""
    known = service.definition
    return {
        "ID": known.id,
        "Service": known.name,
        "Tags": list(known.tags),
        "Meta": dict(known.meta),
        "Port": known.port,
        "Address": known.address,
        "TaggedAddresses": _tagged(service),
        "Weights": {"Passing": known.passing_weight, "Warning": known.warning_weight},
        "EnableTagOverride": known.enable_tag_override,
        "Datacenter": "dc1",
    }


def content_hash(view: Json) -> str:
    return hashlib.sha256(orjson.dumps(view)).hexdigest()[:16]


def health_service(service: Service) -> Json:
    """As `health/service` and `catalog/node` show it."""
    return {
        **agent_service(service),
        "Proxy": {"MeshGateway": {}, "Expose": {}},
        "Connect": {},
        "CreateIndex": service.create_index,
        "ModifyIndex": service.modify_index,
    }


def catalog_service(state: State, service: Service) -> Json:
    known = service.definition
    return {
        "ID": state.node.id,
        "Node": state.node.name,
        "Address": state.node.address,
        "Datacenter": state.node.datacenter,
        "TaggedAddresses": {"lan": state.node.address, "wan": state.node.address},
        "NodeMeta": {},
        "ServiceKind": "",
        "ServiceID": known.id,
        "ServiceName": known.name,
        "ServiceTags": list(known.tags),
        "ServiceAddress": known.address,
        "ServiceTaggedAddresses": _tagged(service),
        "ServiceWeights": {"Passing": known.passing_weight, "Warning": known.warning_weight},
        "ServiceMeta": dict(known.meta),
        "ServicePort": known.port,
        "ServiceEnableTagOverride": known.enable_tag_override,
        "CreateIndex": service.create_index,
        "ModifyIndex": service.modify_index,
    }


def check(state: State, known: Check) -> Json:
    return {
        "Node": state.node.name,
        "CheckID": known.id,
        "Name": known.name,
        "Status": known.status.value,
        "Notes": known.notes,
        "Output": known.output,
        "ServiceID": known.service_id,
        "ServiceName": known.service_name,
        "ServiceTags": list(known.service_tags),
        "Type": known.type,
        "Definition": {},
        "CreateIndex": known.create_index,
        "ModifyIndex": known.modify_index,
    }


def aggregated(checks: list[Check]) -> str:
    """Consul's one word on an instance, from all its checks: maintenance, critical, warning or passing."""
    if any(known.type == "maintenance" for known in checks):
        return "maintenance"
    worst = {known.status for known in checks}
    return next((status.value for status in (Status.CRITICAL, Status.WARNING) if status in worst), "passing")


def key(entry: Entry) -> Json:
    view: Json = {
        "LockIndex": entry.lock_index,
        "Key": entry.key,
        "Flags": entry.flags,
        "Value": base64.b64encode(entry.value).decode() if entry.value else None,
    }
    if entry.session:
        view["Session"] = entry.session
    return {**view, "CreateIndex": entry.create_index, "ModifyIndex": entry.modify_index}


def session(state: State, known: Session) -> Json:
    return {
        "ID": known.id,
        "Name": known.name,
        "Node": state.node.name,
        "LockDelay": nanoseconds(known.lock_delay),
        "Behavior": "delete" if known.delete else "release",
        "TTL": known.ttl,
        "NodeChecks": list(known.checks),
        "ServiceChecks": None,
        "CreateIndex": known.index,
        "ModifyIndex": known.index,
    }


def _tagged(service: Service) -> Json:
    known = service.definition
    return {
        name: {"Address": address, "Port": port}
        for name, (address, port) in (known.tagged_addresses or _default_addresses(service)).items()
    }


def _default_addresses(service: Service) -> dict[str, tuple[str, int]]:
    known = service.definition
    if not known.address:
        return {}
    family = "ipv6" if ":" in known.address else "ipv4"
    return {f"{side}_{family}": (known.address, known.port) for side in ("lan", "wan")}
