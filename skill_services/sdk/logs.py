"""Log lines of a skill process: stderr, one line a message, with level, service and trace id."""

import logging
import sys
import time
from typing import Final, TextIO

from opentelemetry import trace

_BREAKS: Final = str.maketrans({"\n": "\\n", "\r": "\\r", "\x1b": "\\x1b"})
_NAMES: Final = ("skillmesh", "skill_services")


class LineFormatter(logging.Formatter):
    r"""`2026-01-31T12:00:00.123Z INFO calculator message trace=<32 hex digits>`; UTC.

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
        context = trace.get_current_span().get_span_context()
        if context.is_valid:
            line = f"{line} trace={context.trace_id:032x}"
        if record.exc_info:
            line = f"{line}\n{self.formatException(record.exc_info)}"
        return line


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
