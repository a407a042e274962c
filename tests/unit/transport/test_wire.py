import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.domain.call import BlobPart, JsonPart, LinkPart, Part, ResultStatus, SkillResult, TextPart
from agent_core.domain.skill import Effect
from agent_core.transport.wire import ReplyError, request_of, result_from_pb, result_to_pb
from skillmesh.errors import ErrorKind
from skillmesh.v1.result_pb2 import ContentPart, Result
from tests.support.call_path_values import call_of, context, skill

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
PARTS: st.SearchStrategy[Part] = st.one_of(
    st.builds(TextPart, TEXT),
    st.builds(JsonPart, st.sampled_from([b"1", b'"a"', b"[true]"])),
    st.builds(BlobPart, st.binary(max_size=20), st.sampled_from(["image/png", "audio/wav"])),
    st.builds(LinkPart, TEXT, TEXT, TEXT),
)


@given(
    st.builds(
        SkillResult,
        st.sampled_from(list(ResultStatus)),
        st.sampled_from([b"", b"1", b'{"a": 1.0}']),
        st.lists(PARTS, max_size=4).map(tuple),
        st.booleans(),
        st.booleans(),
    )
)
def test_a_result_survives_the_wire(result: SkillResult) -> None:
    back = result_from_pb(Result.FromString(result_to_pb(result).SerializeToString()), "", 0)
    assert back == result


@given(st.binary(max_size=100))
def test_no_reply_breaks_the_reader(data: bytes) -> None:
    try:
        result = Result.FromString(data)
    except Exception:  # noqa: BLE001  # what protobuf refuses never reaches us
        return
    with contextlib.suppress(ReplyError):
        result_from_pb(result, "i", 1)


@pytest.mark.parametrize("data", [b"NaN", b"{", b"\xff", b"1 2"])
def test_json_that_is_none_is_a_bad_reply(data: bytes) -> None:
    for result in (Result(structured=data), Result(parts=[ContentPart(json=data)]), Result(parts=[ContentPart()])):
        with pytest.raises(ReplyError) as caught:
            result_from_pb(result, "i", 1)
        assert caught.value.kind is ErrorKind.BAD_REPLY


def test_a_blob_without_a_type_is_binary() -> None:
    assert result_from_pb(Result(parts=[ContentPart(blob=b"1")]), "i", 1).parts == (
        BlobPart(b"1", "application/octet-stream"),
    )


@pytest.mark.parametrize(("effect", "key"), [(Effect.READ, ""), (Effect.IDEMPOTENT, "c1"), (Effect.WRITE, "c1")])
def test_every_attempt_of_a_call_that_changes_something_has_one_key(effect: Effect, key: str) -> None:
    request = request_of(call_of(skill(effect=effect)), context(), "")
    assert request.idempotency_key == key


def test_the_digest_is_over_the_arguments() -> None:
    one, other = (request_of(call_of(arguments=text), context(), "") for text in (b'{"a":1}', b'{"a":2}'))
    assert len(one.arguments_digest) == 16
    assert one.arguments_digest != other.arguments_digest
