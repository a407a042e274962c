"""Names of OpenTelemetry's GenAI conventions for the execute_tool span, and the switch for recording content."""

import os
from collections.abc import Mapping
from typing import Final

OPERATION: Final = "gen_ai.operation.name"
EXECUTE_TOOL: Final = "execute_tool"
TOOL_NAME: Final = "gen_ai.tool.name"
TOOL_TYPE: Final = "gen_ai.tool.type"
TOOL_TYPE_EXTENSION: Final = "extension"  # run on the agent's side, against a service
TOOL_CALL_ID: Final = "gen_ai.tool.call.id"
TOOL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
TOOL_RESULT: Final = "gen_ai.tool.call.result"

_CAPTURE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_ON_SPANS: Final = frozenset({"SPAN_ONLY", "SPAN_AND_EVENT", "TRUE"})


def content_on_spans(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether arguments and results may be recorded on spans."""
    return environ.get(_CAPTURE, "").strip().upper() in _ON_SPANS
