import hashlib

from hypothesis import given
from hypothesis import strategies as st

from skillmesh.digests import arguments_digest, digest, result_digest
from skillmesh.v1.result_pb2 import ContentPart, ResourceLink, Result


def test_the_digest_is_what_an_implementer_in_another_language_would_compute() -> None:
    expected = hashlib.sha256((2).to_bytes(8, "big") + b"{}").digest()[:16]
    assert arguments_digest(b"{}") == expected


def test_every_kind_of_part_is_covered() -> None:
    parts = [
        ContentPart(text="größer"),
        ContentPart(json=b"[1]"),
        ContentPart(blob=b"\x00\x01", mime_type="image/png"),
        ContentPart(link=ResourceLink(uri="file:///a")),
        ContentPart(),
    ]
    chunks = [b'{"a":1}', "größer".encode(), b"[1]", b"\x00\x01", b"file:///a", b""]
    assert result_digest(Result(structured=b'{"a":1}', parts=parts)) == digest(chunks)


@given(st.lists(st.binary()), st.lists(st.binary()))
def test_moving_a_byte_from_one_chunk_to_the_next_changes_it(one: list[bytes], other: list[bytes]) -> None:
    assert (digest(one) == digest(other)) == (one == other)
