"""The part of Consul's filter expressions that is supported: comparisons of texts, joined by `and`."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from agent_core.dev.registry.refusals import RefusedError

MAX_CHARS: Final = 1_024
_SELECTOR: Final = r"([A-Za-z][\w]*(?:\.[\w-]+)*)"
_COMPARED: Final = re.compile(_SELECTOR + r'\s*(==|!=)\s*"([^"]*)"')
_CONTAINED: Final = re.compile(r'"([^"]*)"\s+(not\s+)?in\s+' + _SELECTOR)
_AND: Final = re.compile(r"\s+and\s+")

Filter = Callable[[Mapping[str, object]], bool]


def parse_filter(expression: str) -> Filter:
    """A predicate on an entry's JSON, for `Service.Meta.x == "y"`, `!=`, `"tag" in Service.Tags`.

    Raises RefusedError where the expression asks for more.
    """
    if len(expression) > MAX_CHARS:
        raise RefusedError(400, f"A filter may have {MAX_CHARS} characters.")
    terms, position = [], 0
    while True:
        term, position = _term(expression, position)
        terms.append(term)
        if position == len(expression):
            return lambda entry: all(term(entry) for term in terms)
        joint = _AND.match(expression, position)
        if joint is None:
            raise _refused(expression)
        position = joint.end()


def _term(expression: str, position: int) -> tuple[Filter, int]:
    if (found := _COMPARED.match(expression, position)) is not None:
        path, same, value = found[1], found[2] == "==", found[3]
        return lambda entry: (_at(entry, path) == value) is same, found.end()
    if (found := _CONTAINED.match(expression, position)) is not None:
        value, wanted, path = found[1], found[2] is None, found[3]
        return lambda entry: _contains(_at(entry, path), value) is wanted, found.end()
    raise _refused(expression)


def _at(entry: object, path: str) -> object:
    """The value as text where it is a number; None where there is none."""
    for name in path.split("."):
        entry = entry.get(name) if isinstance(entry, Mapping) else None
    return str(entry) if isinstance(entry, int) else entry


def _contains(holder: object, value: str) -> bool:
    return isinstance(holder, list | Mapping | str) and value in holder


def _refused(expression: str) -> RefusedError:
    return RefusedError(
        400,
        f"Failed to create boolean expression evaluator: the development registry supports"
        f' `selector == "text"`, `!=` and `"text" in selector`, joined by `and`; not: {expression[:200]}',
    )
