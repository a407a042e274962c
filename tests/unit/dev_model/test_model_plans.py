"""What the stand-in makes of questions, with the tools of a mesh and with others: the rules are the same."""

from datetime import UTC, datetime
from typing import Any

import pytest

from agent_core.dev.model.plan import Plan, plan
from tests.support.bundled_tools import bundled, scenarios
from tests.support.offered_tools import MESH, OTHERS, read_tools, tool

NOW = datetime(2026, 11, 30, 20, 30, tzinfo=UTC)
MESH_TOOLS = read_tools(MESH)
OTHER_TOOLS = read_tools(OTHERS)
ALL_TOOLS = read_tools(MESH + OTHERS)
BUNDLED = read_tools(bundled())

Calls = list[tuple[str, dict[str, Any]]]


def calls(planned: Plan) -> Calls:
    return [(step.tool.name, step.arguments or {}) for step in planned.calls if step.tool]


def asks(planned: Plan) -> list[tuple[str, list[str]]]:
    return [(step.tool.name, [p.name for p in step.missing]) for step in planned.asks if step.tool]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is 2357 * 4821?", [("calculate", {"expression": "2357 * 4821"})]),
        ("计算 2357 乘以 4821", [("calculate", {"expression": "2357 * 4821"})]),
        (
            "What is 2357 * 4821, and what time is it in Tokyo?",
            [("calculate", {"expression": "2357 * 4821"}), ("current_time", {"time_zone": "Tokyo"})],
        ),
        (
            "计算(3+4)*2以及东京现在几点",
            [("calculate", {"expression": "(3 + 4) * 2"}), ("current_time", {"time_zone": "东京"})],
        ),
        ("东京现在几点", [("current_time", {"time_zone": "东京"})]),
        (
            "What time is it in Tokyo and London?",
            [("current_time", {"time_zone": "Tokyo"}), ("current_time", {"time_zone": "London"})],
        ),
        ("东京和伦敦现在几点？", [("current_time", {"time_zone": "东京"}), ("current_time", {"time_zone": "伦敦"})]),
        ("5 miles in km", [("convert_units", {"value": 5, "from_unit": "miles", "to_unit": "km"})]),
        ("5英里等于多少公里", [("convert_units", {"value": 5, "from_unit": "mile", "to_unit": "kilometer"})]),
        (
            "what is 100 fahrenheit in celsius and 3 kg in pounds",
            [
                ("convert_units", {"value": 100, "from_unit": "fahrenheit", "to_unit": "celsius"}),
                ("convert_units", {"value": 3, "from_unit": "kg", "to_unit": "pounds"}),
            ],
        ),
        ("what time was it 5 minutes ago?", [("resolve_time", {"expression": "5 minutes ago"})]),
        ("5分钟前是什么时候", [("resolve_time", {"expression": "5分钟前"})]),
        (
            "If it is 15:00 in Tokyo, what time is it in Berlin?",
            [("convert_time", {"time": "15:00", "from_zone": "Asia/Tokyo", "to_zone": "Europe/Berlin"})],
        ),
        (
            "东京下午3点是柏林几点",
            [("convert_time", {"time": "下午3点", "from_zone": "Asia/Tokyo", "to_zone": "Europe/Berlin"})],
        ),
        (
            "Search the logs for errors in the last 30 minutes",
            [("search_logs", {"start": "2026-11-30T20:00:00Z", "level": "ERROR"})],
        ),
        (
            'search logs for ERROR entries between 10:00 and 11:00 yesterday containing "time, out", limit 5',
            [
                (
                    "search_logs",
                    {
                        "start": "2026-11-29T10:00:00Z",
                        "end": "2026-11-29T11:00:00Z",
                        "level": "ERROR",
                        "keyword": "time, out",
                        "limit": 5,
                    },
                )
            ],
        ),
        (
            "查找昨天包含“连接超时”的警告日志",
            [
                (
                    "search_logs",
                    {
                        "start": "2026-11-29T00:00:00Z",
                        "end": "2026-11-30T00:00:00Z",
                        "level": "WARNING",
                        "keyword": "连接超时",
                    },
                )
            ],
        ),
        (
            "search the logs until 2026-11-30 for timeout",
            [("search_logs", {"end": "2026-11-30T00:00:00Z", "keyword": "timeout"})],
        ),
        ("在日志里查找 timeout", [("search_logs", {"keyword": "timeout"})]),
        ("检查一下 payments.log 有没有错误", [("check_log_file", {"file": "payments.log"})]),
        ("How is the system doing?", [("system_overview", {})]),
        ("系统现在怎么样", [("system_overview", {})]),
        ("磁盘还剩多少空间", [("disk_usage", {})]),
        ("How full is the disk of /var/lib?", [("disk_usage", {"path": "/var/lib"})]),
        ("Which processes use the most memory? show the top 5", [("top_processes", {"by": "memory", "limit": 5})]),
        ("占用内存最多的前3个进程", [("top_processes", {"by": "memory", "limit": 3})]),
    ],
)  # fmt: skip
def test_a_question_becomes_calls_of_the_meshs_tools(question: str, expected: Calls) -> None:
    assert calls(plan(question, MESH_TOOLS, NOW)) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What's the weather in Paris tomorrow?", [("weather", {"city": "Paris", "date": "2026-12-01"})]),
        ("明天巴黎天气怎么样", [("weather", {"city": "巴黎", "date": "2026-12-01"})]),
        ("Weather in Little Whinging please", [("weather", {"city": "Little Whinging"})]),
        (
            "What's the weather in Paris and London tomorrow?",
            [
                ("weather", {"city": "Paris", "date": "2026-12-01"}),
                ("weather", {"city": "London", "date": "2026-12-01"}),
            ],
        ),
        (
            "Book room Apollo tomorrow at 10am for 30 minutes",
            [("book_room", {"room": "Apollo", "start": "2026-12-01T10:00:00Z", "minutes": 30})],
        ),
        (
            "Book room Apollo tomorrow at 10am, for two hours",
            [("book_room", {"room": "Apollo", "start": "2026-12-01T10:00:00Z", "minutes": 120})],
        ),
        (
            "明天下午3点预订会议室 A1，30分钟",
            [("book_room", {"room": "A1", "start": "2026-12-01T15:00:00Z", "minutes": 30})],
        ),
        ("Translate 'good morning' to French", [("translate", {"text": "good morning", "target_language": "French"})]),
        ("translate hello world to german", [("translate", {"text": "hello world", "target_language": "German"})]),
        ("把“早上好”翻译成法语", [("translate", {"text": "早上好", "target_language": "French"})]),
        (
            "Translate into French: how are you, my friend?",
            [("translate", {"text": "how are you, my friend", "target_language": "French"})],
        ),
        (
            "Order 3 large pizzas with cheese and ham",
            [("order_pizza", {"size": "large", "count": 3, "toppings": ["cheese", "ham"]})],
        ),
        ("来两份大号披萨", [("order_pizza", {"size": "large", "count": 2})]),
        ("order pizza large 2, not vegan", [("order_pizza", {"size": "large", "count": 2, "vegan": False})]),
        ("order a vegan pizza, small, one", [("order_pizza", {"size": "small", "count": 1, "vegan": True})]),
        (
            'send an email to bob@example.com saying "lunch at noon?"',
            [("send_mail", {"to": "bob@example.com", "body": "lunch at noon?"})],
        ),
        ("Restart the payments service", [("restart_service", {"service": "payments"})]),
        ("重启服务 payments", [("restart_service", {"service": "payments"})]),
        (
            "Order 2 small pizzas, and what's the weather in Oslo?",
            [("order_pizza", {"size": "small", "count": 2}), ("weather", {"city": "Oslo"})],
        ),
    ],
)  # fmt: skip
def test_a_question_becomes_calls_of_tools_that_no_mesh_has(question: str, expected: Calls) -> None:
    assert calls(plan(question, OTHER_TOOLS, NOW)) == expected
    assert calls(plan(question, ALL_TOOLS, NOW)) == expected


@pytest.mark.parametrize(
    "question",
    [
        "",
        "   ",
        "Hello!",
        "你好",
        "Who wrote Hamlet?",
        "Tell me a joke",
        "Thanks, that's great",
        "?!,;。",
        "What's the weather?",
    ],
)
def test_no_tool_is_called_where_none_fits(question: str) -> None:
    planned = plan(question, MESH_TOOLS, NOW)
    assert calls(planned) == []
    assert planned.asks == ()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("book a meeting room", [("book_room", ["room", "start", "minutes"])]),
        ("order a pizza", [("order_pizza", ["size", "count"])]),
        ("Order 300 large pizzas", [("order_pizza", ["count"])]),
        ("What's the weather?", [("weather", ["city"])]),
    ],
)
def test_required_parameters_that_cannot_be_filled_are_asked_for(question: str, expected: list[Any]) -> None:
    planned = plan(question, OTHER_TOOLS, NOW)
    assert calls(planned) == []
    assert asks(planned) == expected


def test_the_parts_that_can_be_done_are_done_and_the_rest_is_named() -> None:
    planned = plan("What is 2+2, who wrote Hamlet, and convert 5 miles", MESH_TOOLS, NOW)
    assert calls(planned) == [("calculate", {"expression": "2 + 2"})]
    assert asks(planned) == [("convert_units", ["to_unit"])]
    assert planned.unmatched == ("who wrote Hamlet",)


def test_the_same_call_is_made_once() -> None:
    assert len(plan("What is 2+2? And what is 2 plus 2?", MESH_TOOLS, NOW).calls) == 1


def test_a_tool_that_names_another_does_not_draw_its_questions() -> None:
    near = tool("price", "Gives the price of a product. Unlike weather, it knows no weather forecast.", {})
    assert calls(plan("weather forecast", read_tools([near]), NOW)) == []
    assert calls(plan("weather forecast in Oslo", read_tools([near, *OTHERS]), NOW)) == [("weather", {"city": "Oslo"})]


def test_a_required_call_is_made_of_whatever_tool_can_be_filled() -> None:
    planned = plan("Hello", MESH_TOOLS, NOW, required=True)
    assert [name for name, _ in calls(planned)] == ["disk_usage"]
    assert asks(plan("Hello", MESH_TOOLS[:1], NOW, required=True)) == [("calculate", ["expression"])]


@pytest.mark.parametrize(
    ("properties", "question", "expected"),
    [
        ({"at": {"type": "string", "format": "date-time"}}, "widget tomorrow at 10:00", {"at": "2026-12-01T10:00:00Z"}),
        ({"day": {"type": "string", "format": "date"}}, "widget on 2026-12-05", {"day": "2026-12-05"}),
        ({"at": {"type": "string", "format": "time"}}, "widget at 3pm", {"at": "15:00:00Z"}),
        ({"lasts": {"type": "string", "format": "duration"}}, "widget for 90 minutes", {"lasts": "PT90M"}),
        ({"lasts": {"type": "string", "format": "duration"}}, "widget for 30 seconds", {"lasts": "PT30S"}),
        ({"duration": {"type": "string"}}, "widget for two hours", {"duration": "two hours"}),
        ({"link": {"type": "string", "format": "uri"}}, "widget https://example.org/x", {"link": "https://example.org/x"}),
        ({"level": {"type": "string"}}, "widget warnings", {"level": "WARNING"}),
        ({"level": {"type": "string", "examples": ["info"]}}, "widget warnings", {"level": "warning"}),
        ({"code": {"type": "string", "pattern": "^[A-Z]{2}-\\d{3}$"}}, "widget AB-123 now", {"code": "AB-123"}),
        ({"port": {"type": "integer"}}, "widget port 8080", {"port": 8080}),
        ({"ratio": {"type": "number", "maximum": 1}}, "widget 5 or 0.5", {"ratio": 0.5}),
        ({"all": {"type": "array", "items": {"type": "number"}}}, "widget 3, 7.5 and 12", {"all": [3, 7.5, 12]}),
        ({"cities": {"type": "array", "items": {"type": "string", "description": "City."}}}, "widget Oslo", {}),
        ({"cities": {"type": "array", "items": {"type": "string"}}}, "widget in Oslo", {"cities": ["Oslo"]}),
        ({"size": {"enum": [1, 2, 3]}}, "widget 2", {"size": 2}),
        ({"size": {"enum": ["S", "M"]}}, "I'm a widget in M", {"size": "M"}),
        ({"unit": {"type": "string", "enum": ["celsius", "fahrenheit"]}}, "widget 5 °F", {"unit": "fahrenheit"}),
        ({"language": {"type": "string", "examples": ["en", "fr"]}}, "widget in French", {"language": "fr"}),
        ({"to": {"type": "string", "enum": ["French", "German"]}}, "widget 成德语", {"to": "German"}),
        ({"kind": {"const": "only"}}, "widget", {"kind": "only"}),
        ({"name": {"type": "string"}}, "make a widget called Max", {"name": "Max"}),
        ({"owner": {"type": "string"}}, "make a widget of Alice Smith", {"owner": "Alice Smith"}),
        ({"query": {"type": "string"}}, "make a widget about blue cars", {"query": "blue cars"}),
        ({"value": {"anyOf": [{"type": "integer"}, {"type": "string"}]}}, "widget 7", {"value": 7}),
        ({"formula": {"type": "string", "examples": ["2 ^ 3"]}}, "widget 2 to the power of 8", {"formula": "2 ^ 8"}),
        ({"sum": {"type": "string", "description": "An arithmetic formula."}}, "widget 1+1", {"sum": "1 + 1"}),
        ({"file": {"type": "string"}}, "widget the file syslog", {"file": "syslog"}),
        ({"file": {"type": "string"}}, "widget 'a b.txt'", {"file": "a b.txt"}),
        ({"where": {"type": "string", "description": "IANA time zone"}}, "widget in Osaka", {"where": "Asia/Tokyo"}),
        ({"verbose": {"type": "boolean"}}, "widget verbose", {"verbose": True}),
        ({"verbose": {"type": "boolean"}}, "widget without verbose", {"verbose": False}),
        (
            {"point": {"type": "object", "properties": {"wide": {"type": "number"}, "high": {"type": "number"}}}},
            "widget point wide 3 high 4",
            {"point": {"wide": 3, "high": 4}},
        ),
    ],
)  # fmt: skip
def test_a_parameter_is_filled_as_its_schema_says(
    properties: dict[str, Any], question: str, expected: dict[str, Any]
) -> None:
    tools = read_tools([tool("widget", "Makes a widget.", properties, *properties)])
    found = calls(plan(question, tools, NOW))
    assert found == ([("widget", expected)] if expected else found)


def test_a_reference_and_a_union_of_objects_are_followed() -> None:
    schema = {
        "$defs": {"Place": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}},
    }
    made = tool("widget", "Makes a widget.", {"at": {"allOf": [{"$ref": "#/$defs/Place"}]}}, "at", **schema)
    assert calls(plan("widget in Oslo", read_tools([made]), NOW)) == [("widget", {"at": {"city": "Oslo"}})]


def test_a_schema_without_end_is_not_followed_without_end() -> None:
    node = {
        "type": "object",
        "properties": {"next": {"$ref": "#/$defs/Node"}, "also": {"$ref": "#/$defs/Node"}},
        "required": ["next"],
    }
    union = {"anyOf": [{"$ref": "#/$defs/Union"}, {"$ref": "#/$defs/Union"}]}
    properties = {"first": {"$ref": "#/$defs/Node"}, "any": {"$ref": "#/$defs/Union"}}
    made = tool("widget", "Makes a widget.", properties, "first", **{"$defs": {"Node": node, "Union": union}})
    assert asks(plan("widget", read_tools([made]), NOW)) == [("widget", ["first"])]


def test_arguments_that_break_a_rule_of_the_whole_are_asked_for() -> None:
    made = tool("widget", "Makes a widget.", {"a": {"type": "integer"}, "b": {"type": "integer"}}, minProperties=1)
    assert asks(plan("make a widget", read_tools([made]), NOW)) == [("widget", ["a", "b"])]


@pytest.mark.parametrize(
    ("question", "value"),
    [("List the happy songs", "happy"), ("列出可以听的老式歌曲", "老式"), ("列出这些古典歌曲", "古典")],
)
def test_what_qualifies_the_tools_own_noun_fills_a_name_that_nothing_else_does(question: str, value: str) -> None:
    kind = {"kind": {"type": "string", "description": "Of which kind."}}
    made = tool("list_songs", "Lists songs.", kind, "kind")
    assert calls(plan(question, read_tools([made]), NOW)) == [("list_songs", {"kind": value})]


@pytest.mark.parametrize("question", ["What is the load and uptime of the node?", "What is the uptime, the load?"])
def test_parts_that_one_call_tells_are_one_call_and_none_is_called_unmatched(question: str) -> None:
    planned = plan(question, MESH_TOOLS, NOW)
    assert (calls(planned), planned.unmatched) == ([("system_overview", {})], ())


@pytest.mark.parametrize("question", ["sin(30 degrees) + log10(1000)", "What is x + 2 * 3?", "|2 - 5|"])
def test_a_formula_that_is_not_understood_is_never_answered_by_a_part_of_it(question: str) -> None:
    planned = plan(question, MESH_TOOLS, NOW)
    formula = question.removeprefix("What is ").rstrip("?")
    assert calls(planned) in ([("calculate", {"expression": formula})], [])


def test_the_bundled_skills_answer_what_their_authors_say_they_answer() -> None:
    questions = [(name, question) for name, asked in scenarios().items() for question in asked]
    right = [q for name, q in questions if {c for c, _ in calls(plan(q, BUNDLED, NOW))} == {name}]
    assert len(right) >= 0.85 * len(questions)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "What is 2357 * 4821, and what time is it in Tokyo?",
            [("calculate", {"expression": "2357 * 4821"}), ("current_time", {"time_zone": "Tokyo"})],
        ),
        ("计算 2357 乘以 4821", [("calculate", {"expression": "2357 * 4821"})]),
        ("现在几点了？", [("current_time", {})]),
        ("37 摄氏度等于多少华氏度", [("convert_units", {"value": 37, "from_unit": "摄氏度", "to_unit": "华氏度"})]),
        ("Standard deviation of 10, 20, 30", [("summarize_numbers", {"numbers": [10, 20, 30]})]),
        ("最近30分钟的日志里有错误吗？", [("search_logs", {"start": "2026-11-30T20:00:00Z", "level": "error"})]),
        ("内存占用最多的 5 个进程", [("top_processes", {"by": "memory", "limit": 5})]),
        (
            "What is 3pm London time in New York?",
            [("convert_time", {"time": "3pm", "from_zone": "London", "to_zone": "New York"})],
        ),
    ],
)
def test_a_question_becomes_calls_of_the_bundled_skills(question: str, expected: Calls) -> None:
    assert calls(plan(question, BUNDLED, NOW)) == expected


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "piece",
    [
        "1", "1,", "(", "(1+", "-", "a b ", "的", "一", "十百千万", "twenty ", "1 and ", " ", "\n", "\"'“", "/a", "a.",
        "a@",
        "in Tokyo and ", "1+1, ", "10:00 ", "5 miles ", "5 minutes ago ", "from x ", "between a ", "东京现在几点和",
        "http://", "May 5 ", "? ", "x*1*1+", "(1+1)", "f(1+1", "1+1x", "1 km + 1 * ",
    ],
)  # fmt: skip
def test_no_text_takes_long(piece: str) -> None:
    assert len(plan(piece * (8_000 // len(piece)), BUNDLED, NOW).calls) <= 16
