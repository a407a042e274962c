"""Names and limits that both sides of the wire spell alike."""

import re
from typing import Final

# Names on the wire
SKILL_SERVICE: Final = "skillmesh.v1.SkillService"
MESH_SERVICE: Final = "skillmesh.v1.MeshService"
SKILL_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
SERVICE_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")  # also a DNS label: Consul serves it

# Consul
CONSUL_TAG: Final = "skillmesh"
CONSUL_CORE_SERVICE: Final = "skillmesh-core"
META_FINGERPRINT: Final = "skillmesh_fingerprint"
META_PROTOCOL: Final = "skillmesh_protocol"
META_VERSION: Final = "skillmesh_version"
META_PID: Final = "skillmesh_pid"
PROTOCOL: Final = "1"

# A field of ours in an OpenAI-compatible reply: what an endpoint says of itself, for the trace
STAND_IN_FIELD: Final = "x_skillmesh_stand_in"

# gRPC metadata (W3C Trace Context adds traceparent, tracestate and baggage under their own names)
METADATA_INSTANCE: Final = "skillmesh-instance"

# google.rpc.ErrorInfo
ERROR_DOMAIN: Final = "skillmesh.v1"

# Limits
MAX_MESSAGE_BYTES: Final = 4 * 1024 * 1024
MAX_ARGUMENT_BYTES: Final = 1024 * 1024
MAX_DESCRIPTION_CHARS: Final = 4_096
MAX_HINT_CHARS: Final = 8_192
MAX_SCENARIOS: Final = 32
MAX_SCENARIO_CHARS: Final = 256
MAX_SCHEMA_BYTES: Final = 64 * 1024
MAX_SCHEMA_DEPTH: Final = 16
MAX_SKILLS_PER_SERVICE: Final = 512
MAX_DEPTH: Final = 8
DEFAULT_TIMEOUT_SECONDS: Final = 10.0
MAX_TIMEOUT_SECONDS: Final = 3_600.0

# gRPC channel arguments. One place for both sides: a client that pings more often than its server allows is
# answered with GOAWAY too_many_pings, and a message limit raised on one side only does not help.
_KEEPALIVE_MS: Final = 30_000
_MIN_PING_INTERVAL_MS: Final = 20_000


def client_options(max_message_bytes: int = MAX_MESSAGE_BYTES) -> tuple[tuple[str, int], ...]:
    """Channel arguments of every client of ours; reconnecting takes 200 ms to 1 s instead of up to 120 s."""
    return (
        ("grpc.max_send_message_length", max_message_bytes),
        ("grpc.max_receive_message_length", max_message_bytes),
        ("grpc.keepalive_time_ms", _KEEPALIVE_MS),
        ("grpc.keepalive_timeout_ms", 10_000),
        ("grpc.initial_reconnect_backoff_ms", 200),
        ("grpc.min_reconnect_backoff_ms", 1_000),  # also the time that connecting may take
        ("grpc.max_reconnect_backoff_ms", 1_000),
        ("grpc.enable_retries", 0),  # attempts are made, and traced, by the core alone
        ("grpc.use_local_subchannel_pool", 1),
        ("grpc.enable_http_proxy", 0),  # an HTTP_PROXY for the model must not swallow calls to skills, even on loopback
    )


def server_options(max_message_bytes: int = MAX_MESSAGE_BYTES) -> tuple[tuple[str, int], ...]:
    """Channel arguments of every server of ours."""
    return (
        ("grpc.max_send_message_length", max_message_bytes),
        ("grpc.max_receive_message_length", max_message_bytes),
        ("grpc.http2.min_ping_interval_without_data_ms", _MIN_PING_INTERVAL_MS),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.so_reuseport", 0),  # a port that another process serves is an error, not shared traffic
    )


# Telemetry: OpenTelemetry's RPC conventions. The status attribute's name differs between releases of them.
RPC_SYSTEM: Final = "rpc.system.name"
RPC_METHOD: Final = "rpc.method"
RPC_STATUS: Final = "rpc.response.status_code"
ERROR_TYPE: Final = "error.type"
SERVER_ADDRESS: Final = "server.address"
SERVER_PORT: Final = "server.port"
METRIC_RPC_CLIENT: Final = "rpc.client.call.duration"
METRIC_RPC_SERVER: Final = "rpc.server.call.duration"

# Telemetry: attributes of ours beside OpenTelemetry's GenAI and RPC conventions
ATTR_RUN_ID: Final = "skillmesh.run.id"
ATTR_MODEL_NOTE: Final = "skillmesh.model.note"
ATTR_TURN: Final = "skillmesh.turn"
ATTR_CALL_ID: Final = "skillmesh.call.id"
ATTR_SKILL: Final = "skillmesh.skill.name"
ATTR_SKILL_VERSION: Final = "skillmesh.skill.version"
ATTR_FINGERPRINT: Final = "skillmesh.skill.fingerprint"
ATTR_SERVICE: Final = "skillmesh.service"
ATTR_INSTANCE: Final = "skillmesh.instance.id"
ATTR_ATTEMPT: Final = "skillmesh.attempt"
ATTR_PICK: Final = "skillmesh.pick.reason"
ATTR_BREAKER: Final = "skillmesh.breaker.state"
ATTR_CACHE: Final = "skillmesh.cache"
ATTR_DECISION: Final = "skillmesh.policy.decision"
ATTR_STATUS: Final = "skillmesh.result.status"
ATTR_ERROR_KIND: Final = "skillmesh.error.kind"
ATTR_SHORTLIST: Final = "skillmesh.shortlist"
ATTR_SHORTLIST_SIZE: Final = "skillmesh.shortlist.size"
ATTR_CATALOGUE_AGE: Final = "skillmesh.catalogue.age_seconds"

# Telemetry: instruments of ours (RPC durations bear OpenTelemetry's names)
METRIC_CALL_DURATION: Final = "skillmesh.call.duration"
METRIC_ATTEMPTS: Final = "skillmesh.call.attempts"
METRIC_CACHE: Final = "skillmesh.cache.requests"
METRIC_BREAKER: Final = "skillmesh.breaker.transitions"
METRIC_EJECTIONS: Final = "skillmesh.instance.ejections"
METRIC_CATALOGUE_SKILLS: Final = "skillmesh.catalogue.skills"
METRIC_IN_FLIGHT: Final = "skillmesh.skill.in_flight"
