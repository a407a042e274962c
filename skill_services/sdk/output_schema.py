"""The JSON Schema of what a function returns, where its annotation names fields."""

import typing
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any, Final, NotRequired, get_type_hints

from pydantic import BaseModel, PydanticUserError, TypeAdapter
from typing_extensions import TypedDict, is_typeddict

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
        accepted = _extended(returned) if typing.is_typeddict(returned) else returned
        return plain(TypeAdapter(accepted).json_schema(mode="serialization"))
    except (PydanticUserError, TypeError, ValueError) as error:
        reason = str(error).split("\n", 1)[0]
        raise SkillDefinitionError(
            f"Skill {function.__name__!r}: its return type has no JSON Schema: {reason}"
        ) from None


def _extended(typed_dict: Any) -> Any:  # noqa: ANN401  # the types of TypedDicts have no type
    """The same fields as typing_extensions has it: before Python 3.12 pydantic refuses the standard library's."""
    optional: frozenset[str] = getattr(typed_dict, "__optional_keys__", frozenset())
    hints = get_type_hints(typed_dict).items()
    fields = {name: NotRequired[hint] if name in optional else hint for name, hint in hints}
    return TypedDict(typed_dict.__name__, fields)  # type: ignore[operator]  # fields that are known at run time only
