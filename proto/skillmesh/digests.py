"""Digests of arguments and results: without TLS they make a corrupted byte an error, never an answer."""

import hashlib
from collections.abc import Iterable, Iterator

from skillmesh.v1.result_pb2 import ContentPart, Result


def digest(chunks: Iterable[bytes]) -> bytes:
    """First 16 bytes of SHA-256 over the chunks, each preceded by its length as 8 bytes big-endian."""
    state = hashlib.sha256()
    for chunk in chunks:
        state.update(len(chunk).to_bytes(8, "big"))
        state.update(chunk)
    return state.digest()[:16]


def arguments_digest(arguments: bytes) -> bytes:
    """What belongs in `arguments_digest` beside these arguments."""
    return digest((arguments,))


def result_digest(result: Result) -> bytes:
    """What belongs in `result.digest`."""
    return digest(_chunks(result))


def _chunks(result: Result) -> Iterator[bytes]:
    yield result.structured
    for part in result.parts:
        yield _part_data(part)


def _part_data(part: ContentPart) -> bytes:
    match part.WhichOneof("content"):
        case "text":
            return part.text.encode()
        case "json":
            return part.json
        case "blob":
            return part.blob
        case "link":
            return part.link.uri.encode()
        case _:
            return b""
