"""The core's instruments. Names: skillmesh.conventions; durations in seconds."""

from opentelemetry import metrics

from skillmesh import conventions

_meter = metrics.get_meter("skillmesh.agent_core")

call_duration = _meter.create_histogram(
    conventions.METRIC_CALL_DURATION, unit="s", description="One skill call, with all its attempts."
)
rpc_duration = _meter.create_histogram(
    conventions.METRIC_RPC_CLIENT, unit="s", description="One attempt, as gRPC saw it."
)
attempts = _meter.create_histogram(
    conventions.METRIC_ATTEMPTS, unit="{attempt}", description="Attempts that one skill call took."
)
cache_requests = _meter.create_counter(
    conventions.METRIC_CACHE, unit="{request}", description="Looks into the result cache, by hit or miss."
)
breaker_transitions = _meter.create_counter(
    conventions.METRIC_BREAKER, unit="{transition}", description="Changes of a skill's breaker."
)
ejections = _meter.create_counter(
    conventions.METRIC_EJECTIONS, unit="{ejection}", description="Instances taken out for failing."
)
in_flight = _meter.create_up_down_counter(
    conventions.METRIC_IN_FLIGHT, unit="{call}", description="Calls of a skill that run now."
)
catalogue_skills = _meter.create_gauge(
    conventions.METRIC_CATALOGUE_SKILLS, unit="{skill}", description="Skills in the catalogue."
)
