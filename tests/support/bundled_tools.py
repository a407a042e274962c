"""The bundled skill services' own skills, as the core offers them to a model."""

from typing import Any

import orjson

from skill_services.calculator.skill import calculate, summarize_numbers
from skill_services.clock.skill import convert_time, current_time, resolve_time
from skill_services.logs.skill import check_log_file, search_logs
from skill_services.sdk import BaseSkill
from skill_services.system.skill import disk_usage, system_overview, top_processes
from skill_services.units.skill import convert_units, list_units

SKILLS: tuple[BaseSkill, ...] = (
    calculate, check_log_file, convert_time, convert_units, current_time, disk_usage, list_units, resolve_time,
    search_logs, summarize_numbers, system_overview, top_processes,
)  # fmt: skip


def bundled() -> list[dict[str, Any]]:
    """In OpenAI's form: description and hint as the core joins them."""
    return [_tool(skill) for skill in SKILLS]


def _tool(skill: BaseSkill) -> dict[str, Any]:
    definition = skill.definition()
    description = "\n\n".join(filter(None, (definition.description, definition.llm_hint)))
    parameters = orjson.loads(orjson.dumps(definition.parameters))
    return {
        "type": "function",
        "function": {"name": definition.name, "description": description, "parameters": parameters},
    }


def scenarios() -> dict[str, tuple[str, ...]]:
    """What each skill's author says a user may ask for it, by skill."""
    return {s.definition().name: tuple(s.definition().scenarios) for s in SKILLS}
