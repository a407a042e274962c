"""All that a skill author imports.

@skill(version="1.0.0", access="observer", effect="read")
async def greet(name: str) -> str:
    \"\"\"Use when somebody wants to be greeted. Returns a greeting.\"\"\"
    return f"Hello, {name}."

serve("greeter", [greet], version="1.0.0")
"""

from skill_services.sdk.content import Blob, Json, Link, Output, Part, Text
from skill_services.sdk.context import Principal, SkillContext
from skill_services.sdk.definition import SkillDefinition, SkillSettings
from skill_services.sdk.errors import SkillDefinitionError, SkillError
from skill_services.sdk.hidden import FromCaller, FromOperator, FromSession, Hidden
from skill_services.sdk.prerequisites import Prerequisite, check, env_set, reachable
from skill_services.sdk.serve import serve
from skill_services.sdk.skill import BaseSkill, FunctionSkill, skill

__all__ = [
    "BaseSkill",
    "Blob",
    "FromCaller",
    "FromOperator",
    "FromSession",
    "FunctionSkill",
    "Hidden",
    "Json",
    "Link",
    "Output",
    "Part",
    "Prerequisite",
    "Principal",
    "SkillContext",
    "SkillDefinition",
    "SkillDefinitionError",
    "SkillError",
    "SkillSettings",
    "Text",
    "check",
    "env_set",
    "reachable",
    "serve",
    "skill",
]
