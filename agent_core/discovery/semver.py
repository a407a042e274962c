"""Precedence of versions. Semantic Versioning 2.0.0, section 11."""

import re
from typing import Final

_VERSION: Final = re.compile(
    r"(0|[1-9][0-9]{0,17})\.(0|[1-9][0-9]{0,17})\.(0|[1-9][0-9]{0,17})"
    r"(?:-((?:[0-9A-Za-z-]+)(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?"
)
_MAX_CHARS: Final = 256

Precedence = tuple[int, int, int, int, int, tuple[tuple[int, int, str], ...]]
_LOWEST: Final[Precedence] = (0, 0, 0, 0, 0, ())


def precedence(version: str) -> Precedence:
    """A sort key; what is no semantic version comes before all that are."""
    found = _VERSION.fullmatch(version) if len(version) <= _MAX_CHARS else None
    if found is None:
        return _LOWEST
    major, minor, patch, prerelease = found.groups()
    identifiers = tuple(_identifier(part) for part in prerelease.split(".")) if prerelease else ()
    return (1, int(major), int(minor), int(patch), 0 if prerelease else 1, identifiers)


def _identifier(part: str) -> tuple[int, int, str]:
    """Numeric identifiers compare as numbers and come before the others, which compare as ASCII."""
    return (0, int(part), "") if part.isdigit() else (1, 0, part)
