"""A skill as one process runs it: either form, with its descriptor, its limits and its operator values."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from skill_services.sdk.content import ABSENT
from skill_services.sdk.context import SkillContext
from skill_services.sdk.definition import SkillDefinition
from skill_services.sdk.definition_rules import checked, schema_text
from skill_services.sdk.descriptor import State, descriptor_of
from skill_services.sdk.errors import SkillDefinitionError
from skill_services.sdk.hidden import HiddenValues
from skill_services.sdk.limits import Places
from skill_services.sdk.prerequisites import Prerequisite, PrerequisiteWatch, Verdict
from skill_services.sdk.schema import closed_at_top, plain
from skill_services.sdk.skill import BaseSkill, FunctionSkill
from skill_services.sdk.validation import SchemaCheck, check_example, invalid_arguments, parse_arguments

_READ = Callable[[bytes], dict[str, object]]
_VARIABLE: Final = "SKILLMESH_SKILL_DEFAULTS"


class BoundSkill:
    """`places` is None where the skill has no limit of its own; `blocking`: its code runs in a thread."""

    def __init__(self, skill: object, operator: Mapping[str, Mapping[str, object]], max_waiting: int) -> None:
        skill, definition = _understood(skill)
        self.name = definition.name
        self.timeout = definition.timeout
        self.hidden = HiddenValues(self.name, tuple(definition.hidden), operator.get(self.name, {}))
        self.prerequisites = (*definition.prerequisites, *self._operator_prerequisites(definition))
        parallel = 1 if definition.exclusive else definition.max_parallel
        self.places = Places(parallel, f"Skill {self.name!r} is busy", max_waiting) if parallel else None
        self.call: Callable[[dict[str, object], SkillContext], object]
        if isinstance(skill, FunctionSkill):
            parameters = definition.parameters
            self.read: _READ = skill.read
            self.call = skill.call
            self.blocking = not skill.is_async
        else:
            parameters, self.read = _read_by_schema(definition)
            self.call = skill.execute
            self.blocking = False
        text = schema_text(parameters, f"Skill {self.name!r}: the schema of its parameters")
        output = b"" if definition.output is None else schema_text(plain(definition.output), "The output schema")
        self.descriptor = descriptor_of(definition, text, output, [item.name for item in self.prerequisites])
        self.fingerprint = self.descriptor.fingerprint

    def state(self, watch: PrerequisiteWatch) -> State:
        return [(item.name, watch.reason(item)) for item in self.prerequisites]

    def give_back_place(self) -> None:
        """A call of this skill has ended."""
        if self.places is not None:
            self.places.give_back()

    def _operator_prerequisites(self, definition: SkillDefinition) -> list[Prerequisite]:
        """A value that the operator must set and has not is shown like anything else that is missing."""
        return [
            Prerequisite(f"operator:{hidden.name}", _verdict(self._missing_reason(hidden.name)))
            for hidden in definition.hidden
            if hidden.source == "operator" and hidden.default is ABSENT
        ]

    def _missing_reason(self, parameter: str) -> str:
        if parameter not in self.hidden.unset:
            return ""
        return f'Set {self.name}.{parameter} in {_VARIABLE}: {{"{self.name}": {{"{parameter}": ...}}}}.'


def _understood(skill: object) -> tuple[BaseSkill, SkillDefinition]:
    if isinstance(skill, type) and issubclass(skill, BaseSkill):
        raise SkillDefinitionError(f"{skill.__name__} is a class; pass an instance of it: {skill.__name__}().")
    if not isinstance(skill, BaseSkill):
        name = getattr(skill, "__name__", repr(skill))
        raise SkillDefinitionError(f"{name} is not a skill; put @skill(version=...) above it, or subclass BaseSkill.")
    if isinstance(skill, FunctionSkill):
        return skill, skill.definition()
    if not inspect.iscoroutinefunction(skill.execute):
        raise SkillDefinitionError(f"{type(skill).__name__}.execute must be an `async def`.")
    return skill, checked(skill.definition())


def _read_by_schema(definition: SkillDefinition) -> tuple[Mapping[str, object], _READ]:
    """The schema as the model reads it, and a reader by the original: what was cut for the model is checked whole."""
    name = definition.name
    if definition.parameters.get("type") != "object":
        raise SkillDefinitionError(f'Skill {name!r}: its parameters must be an object schema: "type": "object".')
    visible = closed_at_top(plain(definition.parameters))
    properties = visible.get("properties")
    shown = properties if isinstance(properties, dict) else {}
    for hidden in definition.hidden:
        if hidden.name in shown:
            raise SkillDefinitionError(f"Skill {name!r}: {hidden.name!r} is hidden and among the parameters; keep one.")
    check = SchemaCheck(closed_at_top(dict(definition.parameters)), formats=True)

    def read(data: bytes) -> dict[str, object]:
        arguments = parse_arguments(name, data)
        if not check.accepts(arguments):
            raise invalid_arguments(name, check.violations(arguments))
        return arguments

    for request, arguments in definition.examples:
        check_example(name, request, arguments, read)
    return visible, read


def _verdict(reason: str) -> Callable[[], Awaitable[Verdict]]:
    async def look() -> Verdict:
        return reason

    return look
