import io
import logging
import re

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from skill_services.sdk.context import CallLogger
from skill_services.sdk.logs import LineFormatter, log_to_stderr
from skillmesh.v1.skill_service_pb2 import InvokeRequest


def line(message: str, *arguments: object) -> str:
    record = logging.LogRecord("skillmesh.sdk", logging.WARNING, "", 0, message, arguments, None)
    return LineFormatter("calculator").format(record)


def test_a_line_has_time_level_service_and_message() -> None:
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z WARNING calculator Port 7000 is taken", line("Port %d is taken", 7000)
    )


def test_a_line_within_a_span_has_its_trace_id() -> None:
    provider = TracerProvider()
    with provider.get_tracer("test").start_as_current_span("call") as span:
        said = line("inside")
    assert said.endswith(f"inside trace={span.get_span_context().trace_id:032x}")
    assert "trace=" not in line("outside")
    provider.shutdown()
    assert not trace.get_current_span().get_span_context().is_valid


def test_an_authors_line_names_the_call_and_its_trace() -> None:
    formatter, provider = LineFormatter("calculator"), TracerProvider()
    said: list[str] = []

    class Listening(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(formatter.format(record))

    logger = logging.getLogger("skillmesh.skill.add")
    handler, level = Listening(), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        with provider.get_tracer("test").start_as_current_span("call") as span:
            ours = CallLogger(InvokeRequest(skill="add", call_id="call-1\nforged", run_id="run-1"))
            ours.info("within")
        ours.info("after")
        CallLogger(InvokeRequest(skill="add")).info("nameless")
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        provider.shutdown()
    trace_id = f"{span.get_span_context().trace_id:032x}"
    assert said[0].endswith(f"INFO calculator within call=call-1\\nforged trace={trace_id}")
    assert said[1].endswith(f"after call=call-1\\nforged trace={trace_id}")
    assert said[2].endswith("nameless")


def test_a_caller_cannot_forge_a_line() -> None:
    said = line("unknown skill %s", "x\n2026-01-01T00:00:00.000Z INFO calculator all is well\x1b[2J\x9b2J\u2028\x08\r")
    assert said.isprintable()
    assert r"x\n2026" in said
    assert r"\x1b[2J\x9b2J\u2028\x08\r" in said


def test_logging_goes_to_the_stream_at_its_level_unless_the_process_has_its_own() -> None:
    root, ours = logging.getLogger(), logging.getLogger("skillmesh")
    handlers, level = list(root.handlers), ours.level
    root.handlers.clear()
    try:
        stream, other = io.StringIO(), io.StringIO()
        log_to_stderr("calculator", "INFO", stream)
        log_to_stderr("calculator", "INFO", other)
        ours.info("heard")
        ours.debug("not heard")
        try:
            int("unexpected")
        except ValueError:
            ours.exception("failed")
        said = stream.getvalue()
    finally:
        root.handlers[:] = handlers
        ours.setLevel(level)
        logging.getLogger("skill_services").setLevel(logging.NOTSET)
    assert "INFO calculator heard" in said
    assert "not heard" not in said
    assert "ValueError: invalid literal" in said
    assert other.getvalue() == ""
