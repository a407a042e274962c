"""The JSON Schema of what a function returns, where its annotation names fields."""

from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any, Final, NotRequired, Required, get_args, get_origin, get_type_hints, is_typeddict

from pydantic import BaseModel, Field, PydanticUserError, TypeAdapter, create_model

from skill_services.sdk.content import Blob, Json, Link, Output, Text
from skill_services.sdk.errors import SkillDefinitionError
from skill_services.sdk.schema import Schema, plain

_CONTENT: Final = (Text, Json, Blob, Link, Output)


def output_schema(function: Callable[..., object]) -> Schema | None:
    """For a model, a dataclass or a TypedDict; None for anything else."""
    returned = get_type_hints(function, include_extras=True).get("return")
    if not isinstance(returned, type) or returned in _CONTENT:
        return None
    if not (issubclass(returned, BaseModel) or is_dataclass(returned) or is_typeddict(returned)):
        return None
    try:
        model = _model_of(returned) if is_typeddict(returned) else returned
        return plain(TypeAdapter(model).json_schema(mode="serialization"))
    except (PydanticUserError, TypeError, ValueError) as error:
        reason = str(error).split("\n", 1)[0]
        raise SkillDefinitionError(
            f"Skill {function.__name__!r}: its return type has no JSON Schema: {reason}"
        ) from None


def _model_of(typed_dict: type) -> type[BaseModel]:
    """The same fields as a model: before Python 3.12 pydantic refuses the standard library's TypedDict."""
    optional: frozenset[str] = getattr(typed_dict, "__optional_keys__", frozenset())
    fields: dict[str, Any] = {}
    for name, hint in get_type_hints(typed_dict, include_extras=True).items():
        own = get_args(hint)[0] if get_origin(hint) in (Required, NotRequired) else hint
        fields[name] = (own, Field(default_factory=lambda: None)) if name in optional else (own, ...)
    return create_model(typed_dict.__name__, **fields)
