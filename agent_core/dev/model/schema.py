"""A tool's parameters, taken out of its JSON Schema: references resolved, `null` and `allOf` folded away."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agent_core.dev.model.found import fold
from agent_core.dev.model.words import words_of

MAX_SCHEMA_DEPTH = 12  # references followed one after another
MAX_NESTING = 3  # objects and lists within one another that are filled

Schema = Mapping[str, object]


@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    """One parameter, equal only to itself, so that what is worked out of it can be kept.

    `words`: those of the name. `alternatives`: one parameter per branch of a union, empty where there is none.
    """

    name: str
    schema: Schema
    kind: str
    required: bool
    words: tuple[str, ...]
    alternatives: tuple["Parameter", ...] = field(default=())

    @property
    def description(self) -> str:
        return _text(self.schema.get("description"))

    @property
    def examples(self) -> tuple[object, ...]:
        examples = self.schema.get("examples")
        return tuple(examples[:20]) if isinstance(examples, list) else ()

    @property
    def choices(self) -> tuple[object, ...]:
        """The values of `enum` or `const`."""
        enum = self.schema.get("enum")
        if isinstance(enum, list):
            return tuple(enum)
        return (self.schema["const"],) if "const" in self.schema else ()


def parameters_of(root: Schema) -> tuple[Parameter, ...]:
    """Of an object schema, in the order of its properties."""
    return _properties(resolve(root, root), root, 0)


def children_of(parameter: Parameter, root: Schema, depth: int) -> tuple[Parameter, ...]:
    """Of an object parameter."""
    return _properties(parameter.schema, root, depth)


def item_of(parameter: Parameter, root: Schema) -> Parameter | None:
    """What an array parameter holds; None where the schema does not say."""
    items = parameter.schema.get("items")
    return _parameter(parameter.name, items, root, required=True) if isinstance(items, Mapping) else None


def _properties(schema: Schema, root: Schema, depth: int) -> tuple[Parameter, ...]:
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, Mapping) or depth > MAX_NESTING:
        return ()
    names = {n for n in required if isinstance(n, str)} if isinstance(required, list) else set()
    return tuple(
        _parameter(name, inner, root, required=name in names)
        for name, inner in properties.items()
        if isinstance(inner, Mapping)
    )


def _parameter(name: str, schema: Schema, root: Schema, *, required: bool, nested: bool = False) -> Parameter:
    schema = resolve(schema, root)
    words = tuple(words_of(fold(name)))
    branches = [] if nested else _branches(schema, root)  # a union within a union is left alone: it may be endless
    if len(branches) == 1:
        schema = {**{k: v for k, v in schema.items() if k not in ("anyOf", "oneOf")}, **branches[0]}
        branches = []
    alternatives = tuple(
        _parameter(name, {**_notes(schema), **branch}, root, required=required, nested=True) for branch in branches
    )
    return Parameter(name, schema, _kind(schema), required, words, alternatives)


def _branches(schema: Schema, root: Schema) -> list[Schema]:
    for key in ("anyOf", "oneOf"):
        union = schema.get(key)
        if isinstance(union, list):
            branches = [resolve(b, root) for b in union[:8] if isinstance(b, Mapping)]
            return [b for b in branches if b.get("type") != "null"]
    return []


def _notes(schema: Schema) -> dict[str, object]:
    return {k: schema[k] for k in ("description", "examples") if k in schema}


def resolve(schema: Schema, root: Schema) -> Schema:
    """`schema` with its own `$ref` (within `root`) and `allOf` merged in; what does not resolve is left out."""
    merged: dict[str, object] = dict(schema)
    for _ in range(MAX_SCHEMA_DEPTH):
        target = _lookup(merged.pop("$ref", None), root)
        every = merged.pop("allOf", None)
        if target is None and not isinstance(every, list):
            break
        parts = [p for p in every if isinstance(p, Mapping)] if isinstance(every, list) else []
        for part in [*([target] if target else []), *parts]:
            merged = {**part, **merged}
    return merged


def _lookup(reference: object, root: Schema) -> Schema | None:
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    found: object = root
    for step in reference[2:].split("/"):
        found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else None


def _kind(schema: Schema) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((k for k in kind if k != "null"), "")
    if isinstance(kind, str) and kind:
        return kind
    return "object" if "properties" in schema else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
