"""Tools as a mesh might offer them, and some that no mesh here has, in OpenAI's form."""

from typing import Any

from agent_core.dev.model.chat import Tool, read_request


def tool(name: str, description: str, properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
        **more,
    }
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


def _text(description: str, *examples: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **({"examples": list(examples)} if examples else {}), **more}


def _optional(schema: dict[str, Any]) -> dict[str, Any]:
    inner = {k: v for k, v in schema.items() if k not in ("description", "examples")}
    notes = {k: v for k, v in schema.items() if k in ("description", "examples")}
    return {"anyOf": [inner, {"type": "null"}], "default": None, **notes}


CALCULATE = tool(
    "calculate",
    "Use when a number must be computed. Evaluates an arithmetic expression exactly. "
    "Unlike convert_units, it knows no units.",
    {"expression": _text("An arithmetic expression in symbols.", "2 + 2", "(3 + 4) * 2 ** 3")},
    "expression",
)
CURRENT_TIME = tool(
    "current_time",
    "Use when the question is what time or date it is now in some place. Returns the current local time there.",
    {"time_zone": _text("IANA time zone or a city.", "Asia/Tokyo", "Tokyo")},
    "time_zone",
)
CONVERT_TIME = tool(
    "convert_time",
    "Use when a given time in one place must be told in the time of another. Converts between time zones. "
    "Unlike current_time, it needs a time.",
    {
        "time": _text("Date and time, ISO 8601 or a time of day.", "2026-03-01T09:30", "15:00"),
        "from_zone": _text("IANA time zone of the given time.", "Asia/Tokyo"),
        "to_zone": _text("IANA time zone wanted.", "Europe/Berlin"),
    },
    "time", "from_zone", "to_zone",
)  # fmt: skip
RESOLVE_TIME = tool(
    "resolve_time",
    "Use when a relative time must become an exact one. Turns words such as '5 minutes ago' into UTC.",
    {"expression": _text("A relative time in words.", "5 minutes ago", "tomorrow at 9:00")},
    "expression",
)
CONVERT_UNITS = tool(
    "convert_units",
    "Use when a quantity must be given in another unit. Converts lengths, masses, temperatures and other units.",
    {
        "value": {"type": "number", "description": "The quantity."},
        "from_unit": _text("Unit that the value is in.", "mile", "celsius"),
        "to_unit": _text("Unit wanted.", "km", "fahrenheit"),
    },
    "value", "from_unit", "to_unit",
)  # fmt: skip
SEARCH_LOGS = tool(
    "search_logs",
    "Use when log entries must be found. Searches the log files by time range, level and keyword. "
    "Unlike check_log_file, it lists entries.",
    {
        "start": _optional(_text("Start of the range, ISO 8601 or relative.", "2026-01-01T00:00:00Z", "1 hour ago")),
        "end": _optional(_text("End of the range, ISO 8601 or relative.")),
        "level": _optional(
            _text("Only entries of this level.", enum=["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"])
        ),
        "keyword": _optional(_text("Only entries that contain this text.")),
        "file": _optional(_text("Only this file.")),
        "limit": {
            "type": "integer",
            "description": "At most so many entries.",
            "minimum": 1,
            "maximum": 1000,
            "default": 100,
        },
    },
)
CHECK_LOG_FILE = tool(
    "check_log_file",
    "Use when one log file must be judged as a whole. Counts its errors and warnings and shows the last ones.",
    {"file": _text("Name of the log file.", "app.log")},
    "file",
)
SYSTEM_OVERVIEW = tool(
    "system_overview",
    "Use when the health of this machine is asked for. Gives CPU, memory, load and uptime of this node at once.",
    {},
)
DISK_USAGE = tool(
    "disk_usage",
    "Use when disk space is asked for. Tells how full the file system of a path is.",
    {"path": {**_text("A path on the file system.", "/"), "default": "/"}},
)
TOP_PROCESSES = tool(
    "top_processes",
    "Use when it is asked which processes use the most CPU or memory. Lists the top processes of this node.",
    {
        "by": {"type": "string", "enum": ["cpu", "memory"], "description": "What to sort by.", "default": "cpu"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10, "description": "How many processes."},
    },
)
MESH = [
    CALCULATE, CHECK_LOG_FILE, CONVERT_TIME, CONVERT_UNITS, CURRENT_TIME, DISK_USAGE, RESOLVE_TIME, SEARCH_LOGS,
    SYSTEM_OVERVIEW, TOP_PROCESSES,
]  # fmt: skip

WEATHER = tool(
    "weather",
    "Get the weather forecast for a city on a date.",
    {
        "city": _text("City name."),
        "date": _optional({"type": "string", "format": "date", "description": "Day of the forecast."}),
    },
    "city",
)
BOOK_ROOM = tool(
    "book_room",
    "Book a meeting room for a time.",
    {
        "room": _text("Name of the room."),
        "start": {"type": "string", "format": "date-time", "description": "Start of the meeting."},
        "minutes": {"type": "integer", "minimum": 5, "maximum": 480, "description": "Length of the meeting."},
    },
    "room", "start", "minutes",
)  # fmt: skip
TRANSLATE = tool(
    "translate",
    "Translate a text into another language.",
    {"text": _text("What to translate."), "target_language": _text("Language wanted.", "French", "German")},
    "text", "target_language",
)  # fmt: skip
ORDER_PIZZA = tool(
    "order_pizza",
    "Order pizzas for delivery.",
    {
        "size": {"type": "string", "enum": ["small", "medium", "large"]},
        "count": {"type": "integer", "minimum": 1, "maximum": 20},
        "toppings": {"type": "array", "items": {"type": "string", "enum": ["cheese", "ham", "mushrooms", "olives"]}},
        "vegan": {"type": "boolean", "default": False},
    },
    "size", "count",
)  # fmt: skip
SEND_MAIL = tool(
    "send_mail",
    "Send an e-mail message to somebody.",
    {
        "to": {"type": "string", "format": "email"},
        "subject": _optional(_text("Subject line.")),
        "body": _text("Text of the message."),
    },
    "to", "body",
)  # fmt: skip
RESTART_SERVICE = tool(
    "restart_service",
    "Restart a service of the cluster.",
    {"service": _text("Name of the service."), "force": {"type": "boolean", "description": "Kill it at once."}},
    "service",
)
OTHERS = [WEATHER, BOOK_ROOM, TRANSLATE, ORDER_PIZZA, SEND_MAIL, RESTART_SERVICE]


def read_tools(tools: list[dict[str, Any]]) -> tuple[Tool, ...]:
    body = {"model": "any", "messages": [{"role": "user", "content": "?"}], "tools": tools}
    return read_request(body).tools
