"""Arguments as a model writes them become the values that a function gets."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, get_args, get_origin

from pydantic import BaseModel, ConfigDict, PydanticUserError, ValidationError, create_model
from pydantic.errors import PydanticUndefinedAnnotation
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind
from pydantic_core import ErrorDetails, SchemaError

from skill_services.sdk.content import ABSENT
from skill_services.sdk.errors import SkillDefinitionError
from skill_services.sdk.schema import Schema, closed_throughout, plain
from skill_services.sdk.validation import SchemaCheck, invalid_arguments, parse_arguments
from skill_services.sdk.wording import path_of, shown
from skillmesh.status import Violation

_UNFIT: Final = (PydanticUserError, PydanticUndefinedAnnotation, SchemaError, TypeError, ValueError)
_FIELD: Final = "skillmesh_parameter_"  # pydantic hands the alias generator to dataclasses inside as well

Visible = Mapping[str, tuple[object, object]]
"""Parameters by name: annotation, and default or PydanticUndefined."""


class ArgumentReader:
    """Arguments as JSON become the values of a function's visible parameters."""

    def __init__(self, visible: Mapping[str, tuple[object, object]], descriptions: Mapping[str, str]) -> None:
        self._names = {f"{_FIELD}{index}": name for index, name in enumerate(visible)}
        model, raw = _model_and_schema(self._names, visible)
        self._validator = model.__pydantic_validator__
        self.schema = _visible_schema(raw, model, self._names, descriptions)
        self._check = SchemaCheck(closed_throughout(raw))

    def read(self, skill: str, data: bytes) -> dict[str, object]:
        """Raises CallFailedError (INVALID_ARGUMENTS) with every violation."""
        arguments = parse_arguments(skill, data)
        if not self._check.accepts(arguments):
            violations = self._check.violations(arguments)
            seen = {violation.path for violation in violations}
            further = self._further_violations(data, arguments)
            violations += [violation for violation in further if violation.path not in seen]
            raise invalid_arguments(skill, violations)
        try:
            values = self._validator.validate_python(arguments)
        except ValidationError:
            try:  # a strict field takes a date or an enum as text only where it knows that the input is JSON
                values = self._validator.validate_json(data or b"{}")
            except ValidationError as error:
                raise invalid_arguments(skill, _violations(error, arguments)) from None
        fields = values.__dict__
        return {name: fields[field] for field, name in self._names.items()}

    def _further_violations(self, data: bytes, arguments: dict[str, object]) -> list[Violation]:
        """What the types themselves find beside the schema, such as an author's own validators."""
        try:
            self._validator.validate_json(data or b"{}")
        except ValidationError as error:
            return _violations(error, arguments)
        return []


def _model_and_schema(names: Mapping[str, str], visible: Visible) -> tuple[type[BaseModel], Schema]:
    """Raises SkillDefinitionError that names the parameter whose type is at fault."""
    try:
        return _attempt(names, visible)
    except _UNFIT as error:
        for name, what in visible.items():
            try:
                _attempt({_FIELD: name}, {name: what})
            except _UNFIT as own:
                raise _unfit(f"Parameter {name!r} has", own) from None
        raise _unfit("The parameters have", error) from None


def _attempt(names: Mapping[str, str], visible: Visible) -> tuple[type[BaseModel], Schema]:
    # Fields get names of their own and the parameters' as aliases: a parameter may be called `json` or `_x`.
    config = ConfigDict(
        extra="forbid",
        allow_inf_nan=False,
        alias_generator=lambda field: names.get(field, field),
        protected_namespaces=(),
    )
    fields: dict[str, Any] = {field: _field(name, *visible[name]) for field, name in names.items()}
    model = create_model("Arguments", __config__=config, **fields)
    return model, model.model_json_schema(schema_generator=_QuietSchema)


def _visible_schema(
    raw: Schema, model: type[BaseModel], names: Mapping[str, str], descriptions: Mapping[str, str]
) -> Schema:
    full = plain(raw, close=True)
    properties = full.get("properties")
    described: dict[str, Schema] = properties if isinstance(properties, dict) else {}
    for field, name in names.items():
        own = described[name]
        info = model.model_fields[field]
        default = own.get("default")
        if isinstance(info.default, set | frozenset) and isinstance(default, list):
            default.sort(key=str)  # the same in each process
        if name in descriptions and info.description is None:
            described[name] = {**own, "description": descriptions[name]}
    required = {"required": full["required"]} if "required" in full else {}
    return {"type": "object", "properties": described, **required, "additionalProperties": False}


class _QuietSchema(GenerateJsonSchema):
    """A default that JSON cannot show is left out of the schema, without a warning: the function still gets it."""

    ignored_warning_kinds: set[JsonSchemaWarningKind] = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012  # pydantic's own attribute


def _field(name: str, annotation: object, default: object) -> tuple[object, object]:
    declared = [default, *(get_args(annotation)[1:] if get_origin(annotation) is Annotated else ())]
    if any(isinstance(item, FieldInfo) and (item.alias or item.validation_alias) for item in declared):
        raise SkillDefinitionError(f"Parameter {name!r} has an alias; the model calls parameters by their own names.")
    return (annotation, default)


def _violations(error: ValidationError, arguments: Mapping[str, object]) -> list[Violation]:
    return [
        Violation(path_of(_steps(detail, arguments)), _sentence(detail))
        for detail in error.errors(include_url=False, include_context=False)
    ]


def _steps(detail: ErrorDetails, arguments: Mapping[str, object]) -> list[str | int]:
    """Where in the arguments; what pydantic adds to a location, such as the branch of a union, is left out."""
    steps: list[str | int] = []
    found: object = arguments
    for step in detail["loc"]:
        inner = _inside(found, step)
        if inner is ABSENT and not (detail["type"] == "missing" and step == detail["loc"][-1]):
            continue
        found = inner
        steps.append(step)
    return steps


def _inside(value: object, step: str | int) -> object:
    if isinstance(step, str):
        return value[step] if isinstance(value, dict) and step in value else ABSENT
    return value[step] if isinstance(value, list) and step < len(value) else ABSENT


def _sentence(detail: ErrorDetails) -> str:
    if detail["type"] == "missing":
        return "is required and missing"
    message = detail["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    return f"{message.replace('Input should be', 'must be', 1)}; got {shown(detail['input'])}"


def _unfit(what: str, error: BaseException) -> SkillDefinitionError:
    reason = str(error).split("\n", 1)[0].rstrip(".")
    return SkillDefinitionError(
        f"{what} a type that JSON arguments cannot fill: {reason}. "
        "Use plain types, enums, dates, pydantic models, or lists and dicts of them."
    )
