"""An author's return value as the Result on the wire; what JSON cannot say is an error, never a silent null."""

import json
import math
from collections.abc import Iterator, Sequence
from typing import Final

import orjson
from pydantic_core import PydanticSerializationError, to_jsonable_python
from pydantic_core import to_json as spell_out

from skill_services.sdk.content import ABSENT, Blob, Json, Link, Output, Part, Text
from skill_services.sdk.errors import CallFailedError, SkillError, failed
from skillmesh.digests import result_digest
from skillmesh.errors import ErrorKind
from skillmesh.v1.result_pb2 import ContentPart, ResourceLink, Result, ResultStatus

_OPTIONS: Final = orjson.OPT_NON_STR_KEYS | orjson.OPT_UTC_Z | orjson.OPT_PASSTHROUGH_DATACLASS
_ENVELOPE_BYTES: Final = 64  # what wraps a Result in its reply message
_MAX_INT: Final = 2**63


def result_of(skill: str, value: object, limit: int) -> Result:
    """A successful Result.

    Raises CallFailedError: BAD_REPLY for a value that is not JSON-able, REPLY_TOO_LARGE for more than `limit` bytes.
    """
    if isinstance(value, Text | Json | Blob | Link):
        output = Output((value,))
    elif isinstance(value, Output):
        output = value
    elif isinstance(value, list | tuple) and value and all(isinstance(p, Text | Json | Blob | Link) for p in value):
        output = Output(tuple(value))
    else:
        return _sealed(skill, ResultStatus.RESULT_STATUS_SUCCESS, to_json(skill, value), (), limit)
    structured = b"" if output.structured is ABSENT else to_json(skill, output.structured)
    parts = [part_message(part, skill) for part in output.parts]
    result = _sealed(skill, ResultStatus.RESULT_STATUS_SUCCESS, structured, parts, limit)
    result.truncated = output.truncated
    return result


def failure_of(skill: str, error: SkillError, limit: int) -> Result:
    """A Result that says no: the model reads one sentence, callers get `{"error": ...}`."""
    status = ResultStatus.RESULT_STATUS_RETRYABLE if error.retryable else ResultStatus.RESULT_STATUS_FAILED
    structured = to_json(skill, {"error": error.message})
    return _sealed(skill, status, structured, [ContentPart(text=error.for_model)], limit)


def part_message(part: Part, skill: str) -> ContentPart:
    """The part as it crosses the wire. Raises CallFailedError (BAD_REPLY) where it is none."""
    match part:
        case Text(text=str(text)):
            return ContentPart(text=_valid_text(text, skill))
        case Json(value):
            return ContentPart(json=to_json(skill, value), mime_type="application/json")
        case Blob(data=bytes(data), mime_type=str(mime_type)):
            return ContentPart(blob=data, mime_type=mime_type)
        case Link(uri=str(uri), name=str(name), mime_type=str(mime_type)):
            return ContentPart(link=ResourceLink(uri=uri, name=name, mime_type=mime_type))
        case _:
            raise _bad(
                skill, f"a content part must be Text, Json, Blob or Link with text or bytes in it, not {_type(part)}"
            )


def part_size(part: ContentPart) -> int:
    """Bytes on the wire."""
    return part.ByteSize()


def to_json(skill: str, value: object) -> bytes:
    """One JSON value, UTF-8.

    Dates, enums, dataclasses, pydantic models, sets and whole numbers of any size are taken. Raises CallFailedError
    (BAD_REPLY) that names the place of a number that is not finite, of bytes, or of a type that JSON does not know.
    """
    rich = _RichValues()
    try:
        data = orjson.dumps(value, default=rich, option=_OPTIONS)
    except (TypeError, ValueError) as error:
        return _slowly(skill, value, error)
    if b"null" in data:  # orjson writes null for what is not finite
        if b'"null":' in data:
            _refuse_keys_not_finite(skill, value, "")
        _refuse_not_finite(skill, _tree(skill, value, None) if rich.seen else value)
    return data


def _sealed(skill: str, status: int, structured: bytes, parts: Sequence[ContentPart], limit: int) -> Result:
    size = len(structured) + sum(part_size(part) for part in parts) + _ENVELOPE_BYTES
    if size > limit:
        raise failed(
            ErrorKind.REPLY_TOO_LARGE,
            f"The result of skill {skill!r} has {size:,} bytes; the limit is {limit:,}. Ask for less at once.",
        )
    result = Result(status=ResultStatus.Name(status), structured=structured, parts=parts)
    result.digest = result_digest(result)
    return result


class _RichValues:
    """Dataclasses, pydantic models, sets and the like, as pydantic writes them. `seen`: there was one."""

    __slots__ = ("seen",)

    def __init__(self) -> None:
        self.seen = False

    def __call__(self, value: object) -> object:
        if isinstance(value, bytes | bytearray | memoryview):
            raise TypeError("bytes are no JSON; return a Blob(data, mime_type)")
        if isinstance(value, Iterator):  # what is read here would be missing where the value is looked at again
            raise TypeError("an iterator can be read only once; return a list of what it yields")
        self.seen = True
        return to_jsonable_python(value, inf_nan_mode="constants")


def _slowly(skill: str, value: object, error: Exception) -> bytes:
    """For what orjson refuses: whole numbers beyond 64 bits are right, the rest is an error with a reason."""
    tree = _tree(skill, value, error)
    _refuse_not_finite_in(skill, tree)
    if not any(isinstance(number, int) and not -_MAX_INT <= number < 2 * _MAX_INT for number in _scalars(tree)):
        raise _bad(skill, _reason(error)) from None
    try:
        return json.dumps(tree, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        raise _bad(skill, "its text holds half a surrogate pair, which UTF-8 cannot say") from None


def _refuse_not_finite(skill: str, value: object) -> None:
    """`value` is of plain types. Most nulls are meant: it is walked only where pydantic, too, finds such a number."""
    spelled = spell_out(value, inf_nan_mode="constants")
    if b"NaN" in spelled or b"Infinity" in spelled:
        _refuse_not_finite_in(skill, _tree(skill, value, None))


def _refuse_not_finite_in(skill: str, tree: object) -> None:
    for path, number in _leaves(tree, ""):
        if isinstance(number, float) and not math.isfinite(number):
            raise _bad(skill, f"{path or 'the value'} is {number}, which JSON cannot say; return None or leave it out")


def _refuse_keys_not_finite(skill: str, value: object, path: str) -> None:
    if isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            _refuse_keys_not_finite(skill, inner, f"{path}[{index}]")
    elif isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(key, float) and not math.isfinite(key):
                raise _bad(skill, f"{path or 'the value'} has the key {key}, which JSON cannot say; leave it out")
            _refuse_keys_not_finite(skill, inner, f"{path}.{key}" if path else str(key))


def _tree(skill: str, value: object, error: Exception | None) -> object:
    try:
        return to_jsonable_python(value, inf_nan_mode="constants")
    except (PydanticSerializationError, ValueError, TypeError, RecursionError) as own:
        raise _bad(skill, _reason(error or own)) from None


def _leaves(tree: object, path: str) -> Iterator[tuple[str, object]]:
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from _leaves(value, f"{path}.{key}" if path else str(key))
    elif isinstance(tree, list):
        for index, value in enumerate(tree):
            yield from _leaves(value, f"{path}[{index}]")
    else:
        yield path, tree


def _scalars(tree: object) -> Iterator[object]:
    return (leaf for _, leaf in _leaves(tree, ""))


def _valid_text(text: str, skill: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _bad(skill, "its text holds half a surrogate pair, which UTF-8 cannot say") from None
    return text


def _reason(error: BaseException) -> str:
    cause = error.__cause__
    return _reason(cause) if isinstance(cause, TypeError | ValueError) else str(error).split("\n", 1)[0].rstrip(".")


def _bad(skill: str, problem: str) -> CallFailedError:
    return failed(ErrorKind.BAD_REPLY, f"Skill {skill!r} ran, but its result cannot be sent: {problem}.")


def _type(value: object) -> str:
    return type(value).__name__
