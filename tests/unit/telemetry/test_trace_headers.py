from opentelemetry import context, propagate

from agent_core.telemetry.spans import span, trace_headers
from tests.support.recorded_spans import recorded_spans


def handed_on(**headers: str) -> dict[str, str]:
    """What goes on of the headers that a caller sent."""
    token = context.attach(propagate.extract(headers))
    try:
        with recorded_spans(), span("between"):
            return trace_headers()
    finally:
        context.detach(token)


PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
LONG_STATE = ",".join(f"v{number}={'x' * 250}" for number in range(32))


def test_what_a_caller_sent_goes_on() -> None:
    headers = handed_on(traceparent=PARENT, tracestate="vendor=1", baggage="tenant=blue")
    assert headers["traceparent"].split("-")[1] == PARENT.split("-")[1]
    assert (headers["tracestate"], headers["baggage"]) == ("vendor=1", "tenant=blue")


def test_baggage_too_long_for_the_next_servers_headers_stays_behind() -> None:
    headers = handed_on(traceparent=PARENT, tracestate="vendor=1", baggage=f"a={'x' * 4_000},b={'y' * 4_000}")
    assert set(headers) == {"traceparent", "tracestate"}


def test_the_trace_itself_always_goes_on() -> None:
    assert set(handed_on(traceparent=PARENT, tracestate=LONG_STATE, baggage="a=1")) == {"traceparent"}
