"""Log lines of a skill process: stderr, one line a message, with level, service, call id and trace id."""

import logging
import sys
import time
from typing import Final, TextIO

from opentelemetry import trace

# Whatever ends a line somewhere, or moves a terminal's cursor.
_CONTROLS: Final = (*range(9), *range(10, 32), *range(127, 160), 0x2028, 0x2029)
_BREAKS: Final = str.maketrans({code: repr(chr(code))[1:-1] for code in _CONTROLS})
_NAMES: Final = ("skillmesh", "skill_services")
_MAX_ID_CHARS: Final = 128


class LineFormatter(logging.Formatter):
    r"""`2026-01-31T12:00:00.123Z INFO calculator message call=<id> trace=<32 hex digits>`; UTC.

    The call's id is there in what an author logs by `context.logger`, the trace's in all that is logged within one.

    A line break within a message is written as `\n`, so that nothing a caller sends can pose as a line of its own.
    The traceback of an unexpected error follows on lines of its own.
    """

    def __init__(self, service: str) -> None:
        super().__init__()
        self._service = service

    def format(self, record: logging.LogRecord) -> str:
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        message = record.getMessage().translate(_BREAKS)
        line = f"{at}.{int(record.msecs):03d}Z {record.levelname} {self._service} {message}"
        call_id = getattr(record, "call_id", "")  # what CallLogger adds
        if call_id:
            line = f"{line} call={str(call_id)[:_MAX_ID_CHARS].translate(_BREAKS)}"
        trace_id = getattr(record, "trace_id", "") or _current_trace_id()
        if trace_id:
            line = f"{line} trace={trace_id}"
        if record.exc_info:
            line = f"{line}\n{self.formatException(record.exc_info)}"
        return line


def _current_trace_id() -> str:
    context = trace.get_current_span().get_span_context()
    return f"{context.trace_id:032x}" if context.is_valid else ""


def log_to_stderr(service: str, level: str, stream: TextIO | None = None) -> None:
    """Send the process's log to stderr. Libraries are heard from WARNING upwards, ours and the author's from `level`.

    A process that has set up its own logging keeps it.
    """
    root = logging.getLogger()
    if not root.handlers:
        handler = logging.StreamHandler(stream or sys.stderr)
        handler.setFormatter(LineFormatter(service))
        root.addHandler(handler)
    for name in _NAMES:
        logging.getLogger(name).setLevel(level)
