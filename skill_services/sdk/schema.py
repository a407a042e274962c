"""JSON Schema as endpoints and weak models can read it: no references, no titles, nothing left open by accident."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote

from skill_services.sdk.errors import SkillDefinitionError

_NOISE: Final = frozenset({"title", "$defs", "definitions", "discriminator", "$schema", "$id", "$comment", "$ref"})
_NAMED: Final = frozenset({"properties", "patternProperties", "dependentSchemas"})
_DEFINED: Final = frozenset({"$defs", "definitions"})
_LISTED: Final = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_NESTED: Final = frozenset(
    {
        "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames",
        "unevaluatedProperties", "unevaluatedItems",
    }
)  # fmt: skip
_COMPOSED: Final = frozenset(
    {"additionalProperties", "unevaluatedProperties", "patternProperties", "allOf", "anyOf", "oneOf", "if", "$ref"}
)
_JUDGING: Final = frozenset({"type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"})
_MAX_NODES: Final = 10_000

Schema = dict[str, object]


def plain(schema: Mapping[str, object], *, close: bool = False) -> Schema:
    """The schema with its local references inlined and its noise left out.

    A type that contains itself is cut at its first recurrence to a generic value with a note; arguments are checked
    by the schema with its references (`closed_throughout`), so that the same rules hold inside. With `close`, an object
    with properties takes no others unless it says so.

    Raises SkillDefinitionError for a reference that leads nowhere or out of the schema, and where inlining explodes.
    """
    return _Inliner(schema, close=close).inline(schema, ())


def closed_throughout(schema: Mapping[str, object]) -> Schema:
    """The schema with its references, where each object with properties takes no others unless it says so."""
    own: Schema = {}
    for key, value in schema.items():
        if key in _NAMED | _DEFINED and isinstance(value, Mapping):
            own[key] = {name: _closed(inner) for name, inner in value.items()}
        elif key in _LISTED and isinstance(value, list):
            own[key] = [_closed(inner) for inner in value]
        else:
            own[key] = _closed(value) if key in _NESTED else value
    return own if "properties" not in own else {"additionalProperties": False, **own}


def _closed(schema: object) -> object:
    return closed_throughout(schema) if isinstance(schema, Mapping) else schema


def closed_at_top(schema: Schema) -> Schema:
    """The schema, refusing unknown top-level properties unless it already says what it thinks of them."""
    if _COMPOSED & schema.keys():
        return schema
    return {**schema, "properties": schema.get("properties", {}), "additionalProperties": False}


def takes_anything(schema: object) -> bool:
    """Whether some place of the schema takes a value of any type, so that a number there is not looked at."""
    if not isinstance(schema, Mapping):
        return schema is True
    kinds = schema.get("type", ())
    if not _JUDGING & schema.keys():
        return True
    if "object" in kinds and "additionalProperties" not in schema:
        return True
    if "array" in kinds and "items" not in schema and "maxItems" not in schema:
        return True
    inner = [value for key in schema.keys() & (_NAMED | _DEFINED) for value in schema[key].values()]
    inner += [value for key in schema.keys() & _LISTED for value in schema[key]]
    inner += [schema[key] for key in schema.keys() & _NESTED]
    return any(takes_anything(value) for value in inner)


def depth_of(value: object) -> int:
    """How deep the objects and arrays of a JSON value are nested; 0 for a scalar."""
    if isinstance(value, Mapping):
        return 1 + max((depth_of(inner) for inner in value.values()), default=0)
    if isinstance(value, list):
        return 1 + max((depth_of(inner) for inner in value), default=0)
    return 0


class _Inliner:
    def __init__(self, root: Mapping[str, object], *, close: bool) -> None:
        self._root = root
        self._close = close
        self._nodes = 0

    def inline(self, schema: object, above: tuple[str, ...]) -> Schema:
        """`above` are the references that are being expanded around this schema."""
        if not isinstance(schema, Mapping):
            raise SkillDefinitionError(f"A JSON Schema must be an object here, not {schema!r}.")
        self._nodes += 1
        if self._nodes > _MAX_NODES:
            raise SkillDefinitionError("The parameters' schema is too large with its references inlined; simplify it.")
        own = {key: self._keyword(key, value, above) for key, value in schema.items() if key not in _NOISE}
        reference = schema.get("$ref")
        if isinstance(reference, str):
            own = {**self._referenced(reference, above), **own}
        if self._close and "properties" in own and "additionalProperties" not in own:
            own["additionalProperties"] = False
        return own

    def _keyword(self, key: str, value: object, above: tuple[str, ...]) -> object:
        if key in _NAMED and isinstance(value, Mapping):
            return {name: self._schema_or_flag(inner, above) for name, inner in value.items()}
        if key in _LISTED and isinstance(value, list):
            return [self._schema_or_flag(inner, above) for inner in value]
        if key in _NESTED:
            return self._schema_or_flag(value, above)
        return value  # data such as default, const, enum: a key "title" in there is nobody's title

    def _schema_or_flag(self, value: object, above: tuple[str, ...]) -> object:
        return value if isinstance(value, bool) else self.inline(value, above)

    def _referenced(self, reference: str, above: tuple[str, ...]) -> Schema:
        target = self._resolve(reference)
        if reference in above or reference == "#":
            return _cut(target, reference)
        return self.inline(target, (*above, reference))

    def _resolve(self, reference: str) -> Mapping[str, object]:
        if reference != "#" and not reference.startswith("#/"):
            raise SkillDefinitionError(f"The schema refers to {reference!r}; only references inside it can be inlined.")
        found: object = self._root
        for step in reference.split("/")[1:]:
            key = unquote(step).replace("~1", "/").replace("~0", "~")
            found = found.get(key) if isinstance(found, Mapping) else None
        if not isinstance(found, Mapping):
            raise SkillDefinitionError(f"The schema refers to {reference!r}, which it does not contain.")
        return found


def _cut(target: Mapping[str, object], reference: str) -> Schema:
    name = reference.rsplit("/", 1)[-1].removeprefix("#") or "whole"
    cut: Schema = {"description": f"Nested again, with the same fields as the enclosing {name}."}
    return {"type": target["type"], **cut} if "type" in target else cut
