"""A function's signature as parameters: what a model may fill, what is hidden from it, and where the context goes."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Final, Union, get_args, get_origin, get_type_hints

from pydantic_core import PydanticUndefined

from skill_services.sdk.argument_reader import ArgumentReader
from skill_services.sdk.content import ABSENT
from skill_services.sdk.context import SkillContext
from skill_services.sdk.errors import SkillDefinitionError
from skill_services.sdk.hidden import FromCaller, FromOperator, FromSession, Hidden, Marker, hidden_by
from skill_services.sdk.schema import Schema

_MARKERS: Final[dict[type, Marker]] = {
    FromCaller: FromCaller(),
    FromSession: FromSession(),
    FromOperator: FromOperator(),
}


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a function takes. `context` names the parameter that gets the SkillContext; empty: none does."""

    schema: Schema
    reader: ArgumentReader
    hidden: tuple[Hidden, ...]
    context: str


def read_parameters(function: Callable[..., object], descriptions: Mapping[str, str]) -> Parameters:
    """Read a function's signature; `descriptions` are those of its docstring.

    Raises SkillDefinitionError for a parameter that a call by name with JSON values cannot fill.
    """
    hints = _type_hints(function)
    visible: dict[str, tuple[object, object]] = {}
    hidden: list[Hidden] = []
    context = ""
    for parameter in inspect.signature(function).parameters.values():
        annotation = _annotation(parameter, hints)
        marker = _marker(annotation)
        if _is_context(annotation):
            if context:
                raise SkillDefinitionError(f"{context!r} and {parameter.name!r} are both a SkillContext; keep one.")
            context = parameter.name
        elif marker is not None:
            default = ABSENT if parameter.default is inspect.Parameter.empty else parameter.default
            hidden.append(hidden_by(marker, parameter.name, annotation, default))
        else:
            default = PydanticUndefined if parameter.default is inspect.Parameter.empty else parameter.default
            visible[parameter.name] = (annotation, default)
    unknown = sorted(descriptions.keys() - inspect.signature(function).parameters.keys())
    if unknown:
        raise SkillDefinitionError(f"The docstring describes {unknown[0]!r}, which is not a parameter; mend its name.")
    reader = ArgumentReader(visible, descriptions)
    return Parameters(reader.schema, reader, tuple(hidden), context)


def _type_hints(function: Callable[..., object]) -> dict[str, object]:
    try:
        return get_type_hints(function, include_extras=True)
    except NameError as error:
        raise SkillDefinitionError(
            f"The annotation {error.name!r} cannot be resolved; define or import it at the top of the module."
        ) from None


def _annotation(parameter: inspect.Parameter, hints: Mapping[str, object]) -> object:
    if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
        raise SkillDefinitionError(f"A skill cannot take {str(parameter)!r}; name each parameter and give it a type.")
    if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
        raise SkillDefinitionError(
            f"Parameter {parameter.name!r} is positional-only; remove the '/': calls are by name."
        )
    if parameter.name not in hints:
        raise SkillDefinitionError(
            f"Parameter {parameter.name!r} has no annotation; give it a type, such as `{parameter.name}: str`."
        )
    return hints[parameter.name]


def _marker(annotation: object) -> Marker | None:
    if get_origin(annotation) is not Annotated:
        return None
    for item in get_args(annotation)[1:]:
        if isinstance(item, FromCaller | FromSession | FromOperator):
            return item
        if isinstance(item, type) and item in _MARKERS:
            return _MARKERS[item]
    return None


def _is_context(annotation: object) -> bool:
    if get_origin(annotation) in (Union, UnionType):
        return any(_is_context(option) for option in get_args(annotation))
    return isinstance(annotation, type) and issubclass(annotation, SkillContext)
