"""Reads registrations. Keys come in any case and with or without underscores, as Consul takes them."""

from collections.abc import Mapping
from typing import Final

from agent_core.dev.registry.durations import read_duration
from agent_core.dev.registry.entries import CheckDefinition, ServiceDefinition, Status
from agent_core.dev.registry.refusals import RefusedError

MAX_NAME_CHARS: Final = 512
MAX_CHECKS: Final = 16
MAX_META: Final = 64
MAX_META_VALUE_CHARS: Final = 512
MAX_TAGS: Final = 64
MIN_INTERVAL_SECONDS: Final = 1.0  # as Consul: lib/agent check types, MinInterval
DEFAULT_GRPC_TIMEOUT_SECONDS: Final = 10.0
DEREGISTER_FLOOR_SECONDS: Final = 60.0
_FOREIGN_CHECKS: Final = ("http", "tcp", "udp", "args", "scriptargs", "script", "dockercontainerid", "aliasservice")

Fields = Mapping[str, object]


def read_service(body: object) -> tuple[ServiceDefinition, tuple[CheckDefinition, ...]]:
    """What a body of `agent/service/register` asks for. Raises RefusedError."""
    fields = _fields(body, "service")
    name = _text(fields, "name")
    if not name:
        raise RefusedError(400, "Missing service name")
    service_id = _text(fields, "id") or name
    weights = _fields(fields.get("weights") or {}, "weights")
    service = ServiceDefinition(
        id=service_id,
        name=name,
        tags=_tags(fields.get("tags")),
        address=_text(fields, "address"),
        port=_whole(fields, "port", 0),
        meta=_meta(fields.get("meta")),
        passing_weight=_whole(weights, "passing", 1),
        warning_weight=_whole(weights, "warning", 1),
        tagged_addresses=_tagged_addresses(fields.get("taggedaddresses")),
        enable_tag_override=fields.get("enabletagoverride") is True,
    )
    wanted = [*_listed(fields.get("check")), *_listed(fields.get("checks"))]
    if len(wanted) > MAX_CHECKS:
        raise RefusedError(400, f"A service may have {MAX_CHECKS} checks, not {len(wanted)}.")
    checks = []
    for number, item in enumerate(wanted, 1):
        default_id = f"service:{service_id}" if len(wanted) == 1 else f"service:{service_id}:{number}"
        checks.append(_check(_fields(item, "check"), default_id, f"Service '{name}' check"))
    return service, tuple(checks)


def read_check(body: object) -> tuple[CheckDefinition, str]:
    """What a body of `agent/check/register` asks for, and the id of the service it is for. Raises RefusedError."""
    fields = _fields(body, "check")
    name = _text(fields, "name")
    if not name:
        raise RefusedError(400, "Missing check name")
    return _check(fields, name, name), _text(fields, "serviceid")


def read_status(text: object) -> Status:
    """Raises RefusedError."""
    try:
        return Status(str(text))
    except ValueError:
        raise RefusedError(400, f"Invalid check status: '{text}'") from None


def _check(fields: Fields, default_id: str, default_name: str) -> CheckDefinition:
    for foreign in _FOREIGN_CHECKS:
        if fields.get(foreign):
            raise RefusedError(400, f"Invalid check: the development registry runs TTL and GRPC checks, not {foreign}.")
    if fields.get("tlsskipverify"):
        raise RefusedError(400, "Invalid check: the development registry cannot skip TLS verification.")
    ttl, interval = _seconds(fields, "ttl"), _seconds(fields, "interval")
    timeout, deregister_after = _seconds(fields, "timeout"), _seconds(fields, "deregistercriticalserviceafter")
    grpc = _text(fields, "grpc")
    if interval > 0 and ttl > 0:
        raise RefusedError(400, "Invalid check: Interval and TTL cannot both be specified")
    if grpc and interval <= 0:
        raise RefusedError(400, "Invalid check: Interval must be > 0 for Script, HTTP, or TCP checks")
    if not grpc and ttl <= 0:
        raise RefusedError(400, "Invalid check: TTL must be > 0 for TTL checks")
    status = fields.get("status") or Status.CRITICAL
    if status not in tuple(Status):
        raise RefusedError(400, "Status for checks must 'passing', 'warning', 'critical'")
    return CheckDefinition(
        id=_text(fields, "checkid") or _text(fields, "id") or default_id,
        name=_text(fields, "name") or default_name,
        status=Status(str(status)),
        notes=_text(fields, "notes"),
        ttl=0.0 if grpc else ttl,
        grpc=grpc,
        tls=fields.get("grpcusetls") is True,
        interval=max(interval, MIN_INTERVAL_SECONDS) if grpc else 0.0,
        timeout=timeout or DEFAULT_GRPC_TIMEOUT_SECONDS,
        deregister_after=max(deregister_after, DEREGISTER_FLOOR_SECONDS) if deregister_after > 0 else 0.0,
    )


def _fields(body: object, what: str) -> Fields:
    if not isinstance(body, Mapping):
        raise RefusedError(400, f"Request decode failed: the {what} must be a JSON object")
    return {str(key).lower().replace("_", ""): value for key, value in body.items()}


def _listed(value: object) -> list[object]:
    if isinstance(value, list):
        return [item for item in value if item]
    return [value] if value else []


def _text(fields: Fields, key: str) -> str:
    value = fields.get(key)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > MAX_NAME_CHARS:
        raise RefusedError(400, f"Request decode failed: {key} must be text of at most {MAX_NAME_CHARS} characters")
    return value


def _whole(fields: Fields, key: str, default: int) -> int:
    value = fields.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 65_535:
        raise RefusedError(400, f"Request decode failed: {key} must be a number from 0 to 65535")
    return value


def _seconds(fields: Fields, key: str) -> float:
    try:
        return read_duration(fields.get(key))
    except ValueError as error:
        raise RefusedError(400, f"Request decode failed: {error}") from None


def _tags(value: object) -> tuple[str, ...]:
    tags = value or []
    if not isinstance(tags, list) or len(tags) > MAX_TAGS or not all(isinstance(tag, str) for tag in tags):
        raise RefusedError(400, f"Request decode failed: tags must be a list of at most {MAX_TAGS} texts")
    return tuple(tag[:MAX_NAME_CHARS] for tag in tags)


def _meta(value: object) -> Mapping[str, str]:
    """Limits as Consul's: 64 pairs, keys of 128 characters, values of 512."""
    meta = value or {}
    if not isinstance(meta, Mapping) or not all(isinstance(item, str) for pair in meta.items() for item in pair):
        raise RefusedError(400, "Request decode failed: meta must be an object of texts")
    if len(meta) > MAX_META:
        raise RefusedError(
            400, f"Invalid Service Meta: Node metadata cannot contain more than {MAX_META} key/value pairs"
        )
    for key, text in meta.items():
        if not key or len(key) > 128:
            raise RefusedError(400, f"Invalid Service Meta: Couldn't load metadata pair ('{key[:64]}'): bad key length")
        if len(text) > MAX_META_VALUE_CHARS:
            raise RefusedError(400, f"Invalid Service Meta: Value for '{key}' is longer than {MAX_META_VALUE_CHARS}")
    return dict(meta)


def _tagged_addresses(value: object) -> Mapping[str, tuple[str, int]]:
    addresses = _fields(value or {}, "tagged addresses")
    result = {}
    for name, item in list(addresses.items())[:MAX_META]:
        fields = _fields(item, "tagged address")
        result[name] = (_text(fields, "address"), _whole(fields, "port", 0))
    return result
