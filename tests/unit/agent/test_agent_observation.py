"""What the model reads of a call."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.agent.clip import SMALLEST, clip
from agent_core.agent.observation import observe
from agent_core.domain.call import BlobPart, JsonPart, LinkPart, ResultStatus, SkillResult, TextPart
from agent_core.domain.errors import CallError, InvalidArgumentsError, Violation
from skillmesh.errors import ErrorKind

LIMIT = 16_000


def test_structured_output_is_read_byte_for_byte() -> None:
    odd = b'{ "b":1,\n "a" : 12345678901234567890, "$ref": "x", "t": "\xe6\x97\xa5" }'
    assert observe(SkillResult(ResultStatus.SUCCESS, structured=odd), LIMIT).encode() == odd


def test_parts_take_the_place_of_structured_output() -> None:
    result = SkillResult(
        ResultStatus.SUCCESS,
        structured=b'{"hidden":1}',
        parts=(
            TextPart("text"),
            JsonPart(b'{"a":1}'),
            BlobPart(b"12345", "image/png"),
            BlobPart(b"1", ""),
            LinkPart("file:///x", "the log", "text/plain"),
            LinkPart("file:///y"),
        ),
    )
    assert observe(result, LIMIT).splitlines() == [
        "text",
        '{"a":1}',
        "[image/png, 5 bytes; it is passed to the user]",
        "[application/octet-stream, 1 bytes; it is passed to the user]",
        "[link: file:///x (the log, text/plain)]",
        "[link: file:///y]",
    ]


def test_a_skill_that_gave_nothing_is_said_to() -> None:
    assert observe(SkillResult(ResultStatus.SUCCESS), LIMIT) == "The skill gave no output."


@pytest.mark.parametrize(
    ("status", "begins"), [(ResultStatus.FAILED, "The skill failed: "), (ResultStatus.RETRYABLE, "The skill cannot do")]
)
def test_a_failure_of_the_skill_is_said_first(status: ResultStatus, begins: str) -> None:
    text = observe(SkillResult(status, parts=(TextPart("no such file"),)), LIMIT)
    assert text.startswith(begins)
    assert text.endswith("no such file")


def test_what_the_skill_left_out_is_said() -> None:
    assert observe(SkillResult(ResultStatus.SUCCESS, structured=b"[]", truncated=True), LIMIT).startswith(
        "[]\n[The skill"
    )


def test_an_error_is_the_sentence_for_the_model() -> None:
    error = CallError(ErrorKind.BREAKER_OPEN, "for people", for_model="It is down for now.")
    assert observe(error, LIMIT) == "Error: It is down for now."
    invalid = InvalidArgumentsError("The arguments are wrong.", (Violation("city", "is missing"),))
    assert observe(invalid, LIMIT) == "Error: The arguments are wrong.\n- city: is missing"


def test_his_10_five_megabytes_become_head_tail_and_a_marker() -> None:
    data = b'"begin' + b"x" * 5_000_000 + b'end"'
    for text in (
        observe(SkillResult(ResultStatus.SUCCESS, structured=data), LIMIT),
        observe(SkillResult(ResultStatus.SUCCESS, parts=(TextPart(data.decode()),)), LIMIT),
        observe(CallError(ErrorKind.UNKNOWN, data.decode()), LIMIT),
    ):
        assert len(text.encode()) <= LIMIT + 200
        assert "begin" in text
        assert text.endswith('end"')
        assert "bytes left out" in text


@given(st.text(max_size=3_000), st.integers(0, 2_000))
def test_a_clipped_text_is_within_its_limit_and_one_that_fits_is_unchanged(text: str, limit: int) -> None:
    clipped = clip(text, limit)
    size = len(text.encode())
    if size <= max(limit, SMALLEST):
        assert clipped == text
    else:
        assert len(clipped.encode()) <= max(limit, SMALLEST) + 8
        assert text.startswith(clipped[:20])
