"""Streamed replies are put together rightly whatever the server makes of the format."""

import json
from pathlib import Path
from typing import Any

import pytest

from agent_core.domain.errors import ModelError
from agent_core.domain.events import Usage
from agent_core.domain.model import ModelReply, ReasoningChunk, TextChunk, ToolRequest
from agent_core.llm.assemble import MAX_REPLY_CHARS, Assembler
from agent_core.llm.tool_deltas import MAX_CALLS
from skillmesh.conventions import MAX_ARGUMENT_BYTES, STAND_IN_FIELD
from tests.support.scripted_endpoint import chunk

DATA = Path(__file__).parents[2] / "data"


def assembled(*chunks: object) -> ModelReply:
    assembler = Assembler()
    for one in chunks:
        list(assembler.add(one))
    return assembler.reply("asked-for")


def from_deltas(*deltas: dict[str, Any], finish: str = "tool_calls") -> tuple[ToolRequest, ...]:
    return assembled(*(chunk(delta) for delta in deltas), chunk({}, finish)).requests


def piece(
    arguments: Any = None, *, index: int | None = None, call_id: str | None = None, name: str | None = None
) -> dict[str, Any]:
    """One tool-call delta with only what is given."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    outer = {key: value for key, value in (("index", index), ("id", call_id)) if value is not None}
    return {"tool_calls": [{**outer, "type": "function", "function": function}]}


def test_what_an_endpoint_says_of_itself_is_kept() -> None:
    noted = {**chunk({"content": "hi"}, "stop"), STAND_IN_FIELD: "no weights"}
    assert assembled(noted).note == "no weights"
    assert assembled(chunk({"content": "hi"}, "stop")).note == ""


def test_str_01_a_missing_index_continues_the_only_open_call() -> None:
    calls = from_deltas(piece("", call_id="c1", name="city_time"), piece('{"city":"Os'), piece('lo"}'))
    assert calls == (ToolRequest("c1", "city_time", '{"city":"Oslo"}'),)


def test_str_03_two_calls_under_one_index_with_different_ids_stay_two() -> None:
    calls = from_deltas(
        piece('{"city":"Oslo"}', index=0, call_id="a", name="city_time"),
        piece('{"q":"fjord"}', index=0, call_id="b", name="doc_search"),
    )
    assert calls == (
        ToolRequest("a", "city_time", '{"city":"Oslo"}'),
        ToolRequest("b", "doc_search", '{"q":"fjord"}'),
    )


def test_str_03_fragments_under_a_shared_index_go_to_the_call_whose_id_they_bear() -> None:
    calls = from_deltas(
        piece('{"x":', index=0, call_id="a", name="f"),
        piece('{"y":', index=0, call_id="b", name="g"),
        piece("1}", index=0, call_id="a"),
        piece("2}", index=0, call_id="b"),
    )
    assert calls == (ToolRequest("a", "f", '{"x":1}'), ToolRequest("b", "g", '{"y":2}'))


def test_str_05_empty_and_null_never_overwrite() -> None:
    calls = from_deltas(
        piece("", index=0, call_id="a", name="unit_convert"),
        {"tool_calls": [{"index": 0, "id": "", "type": "function", "function": {"name": "", "arguments": '{"v":3,'}}]},
        {"tool_calls": [{"index": 0, "id": None, "function": {"name": None, "arguments": '"to":"km"}'}}]},
    )
    assert calls == (ToolRequest("a", "unit_convert", '{"v":3,"to":"km"}'),)


def test_str_08_interleaved_fragments_go_by_index() -> None:
    calls = from_deltas(
        piece('{"city":', index=0, call_id="a", name="city_time"),
        piece('{"q":', index=1, call_id="b", name="doc_search"),
        piece('"Oslo"}', index=0),
        piece('"fjord"}', index=1),
    )
    assert calls == (
        ToolRequest("a", "city_time", '{"city":"Oslo"}'),
        ToolRequest("b", "doc_search", '{"q":"fjord"}'),
    )


@pytest.mark.parametrize("index", [0, None])
def test_str_10_id_and_name_repeated_in_each_piece_are_set_once(index: int | None) -> None:
    fragments = ['{"city":', '"Os', 'lo"}', ""]
    calls = from_deltas(*(piece(text, index=index, call_id="call-77", name="city_time") for text in fragments))
    assert calls == (ToolRequest("call-77", "city_time", '{"city":"Oslo"}'),)


def test_a_name_repeated_without_id_and_index_is_set_once() -> None:
    calls = from_deltas(*(piece(text, name="city_time") for text in ["", '{"city":', '"Oslo"}', ""]))
    assert calls == (ToolRequest("", "city_time", '{"city":"Oslo"}'),)


def test_an_id_invented_anew_for_each_piece_continues_the_call() -> None:
    calls = from_deltas(
        piece('{"a":', index=0, call_id="r1", name="f"),
        piece("1", index=0, call_id="r2"),
        piece("}", index=0, call_id="r3"),
    )
    assert calls == (ToolRequest("r1", "f", '{"a":1}'),)


def test_two_calls_without_ids_under_one_index_are_told_apart_by_complete_arguments() -> None:
    calls = from_deltas(piece('{"a":1}', index=0, name="f"), piece('{"a":2}', index=0, name="f"))
    assert [call.arguments for call in calls] == ['{"a":1}', '{"a":2}']


def test_two_calls_without_arguments_are_told_apart_by_name() -> None:
    calls = from_deltas(piece("", index=0, name="f"), piece("", index=0, name="g"))
    assert [call.name for call in calls] == ["f", "g"]


def test_all_calls_in_one_chunk_without_index_or_id_stay_apart() -> None:
    entries = [{"function": {"name": name, "arguments": arguments}} for name, arguments in [("f", ""), ("f", "{}")]]
    calls = from_deltas({"tool_calls": entries})
    assert calls == (ToolRequest("", "f", ""), ToolRequest("", "f", "{}"))


def test_ids_that_repeat_for_different_calls_keep_the_calls_apart() -> None:
    calls = from_deltas(piece('{"a":1}', call_id="call_0", name="f"), piece('{"b":2}', call_id="call_0", name="g"))
    assert [(call.name, call.arguments) for call in calls] == [("f", '{"a":1}'), ("g", '{"b":2}')]
    indexed = from_deltas(piece("{}", index=0, call_id="x", name="f"), piece("{}", index=1, call_id="x", name="f"))
    assert len(indexed) == 2


def test_an_id_or_a_name_that_comes_late_is_taken() -> None:
    calls = from_deltas(piece("", index=0), piece('{"a":', index=0, call_id="late"), piece("1}", index=0, name="f"))
    assert calls == (ToolRequest("late", "f", '{"a":1}'),)


def test_a_new_id_after_complete_arguments_begins_another_call_whose_name_comes_late() -> None:
    calls = from_deltas(
        piece('{"a":1}', index=0, call_id="a", name="f"),
        piece('{"b":', index=0, call_id="b"),
        piece("2}", index=0, name="g"),
    )
    assert calls == (ToolRequest("a", "f", '{"a":1}'), ToolRequest("b", "g", '{"b":2}'))


def test_arguments_that_are_an_object_become_its_text() -> None:
    calls = from_deltas(piece({"city": "Oslo"}, index=0, call_id="a", name="f"))
    assert calls == (ToolRequest("a", "f", '{"city":"Oslo"}'),)


def test_a_growing_object_replaces_what_came_before_it() -> None:
    calls = from_deltas(piece({"a": 1}, call_id="x", name="f"), piece({"a": 1, "b": 2}, call_id="x"))
    assert calls == (ToolRequest("x", "f", '{"a":1,"b":2}'),)


@pytest.mark.parametrize("arguments", ["", None])
def test_a_call_without_arguments_is_a_call(arguments: str | None) -> None:
    assert from_deltas(piece(arguments, index=0, call_id="a", name="f")) == (ToolRequest("a", "f", ""),)


def test_malformed_arguments_stay_the_models_own_text() -> None:
    assert from_deltas(piece("{'a': 1", index=0, call_id="a", name="f"))[0].arguments == "{'a': 1"


def test_pieces_that_name_nothing_are_no_call() -> None:
    reply = assembled(chunk({"content": "hi", **piece("", index=0)}), chunk({}, "stop"))
    assert reply.requests == ()


def test_the_old_function_call_shape_is_a_call() -> None:
    deltas = [{"function_call": {"name": "f", "arguments": '{"a"'}}, {"function_call": {"arguments": ":1}"}}]
    assert from_deltas(*deltas, finish="function_call") == (ToolRequest("", "f", '{"a":1}'),)


def test_str_13_chunks_without_choices_or_delta_do_no_harm() -> None:
    reply = assembled(
        {"choices": [], "prompt_filter_results": []},
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "hi"}}]},
        {"choices": [{"index": 0, "finish_reason": None, "content_filter_results": {}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}},
    )
    assert (reply.text, reply.usage, reply.model) == ("hi", Usage(1, 1), "asked-for")


@pytest.mark.parametrize(
    "odd",
    [
        None,
        "text",
        [],
        {"choices": None},
        {"choices": [None, {"index": 1, "delta": {"content": "other"}}]},
        {"choices": [{"delta": None}]},
        {"choices": [{"delta": {"content": 7, "tool_calls": "x", "function_call": []}}]},
        {"choices": [{"delta": {"tool_calls": [None, 3, {"index": "0", "id": 4, "function": None}]}}]},
        {"id": 3, "model": None, "usage": {"prompt_tokens": "many", "completion_tokens": -1}},
    ],
)
def test_what_is_not_understood_is_passed_over(odd: object) -> None:
    reply = assembled(odd, chunk({"content": "ok"}), odd, chunk({}, "stop"))
    assert (reply.text, reply.requests) == ("ok", ())


def test_str_15_a_stream_without_finish_reason_is_an_error_that_may_pass() -> None:
    with pytest.raises(ModelError, match="broke off") as cut:
        assembled(chunk(piece('{"city":"Os', index=0, call_id="a", name="city_time")))
    assert cut.value.retryable
    with pytest.raises(ModelError, match="was empty") as empty:
        assembled()
    assert empty.value.retryable


def test_str_16_the_finish_reason_length_is_told() -> None:
    reply = assembled(chunk(piece('{"q":"all files except', index=0, call_id="a", name="f")), chunk({}, "length"))
    assert reply.finish_reason == "length"
    assert reply.requests[0].arguments == '{"q":"all files except'


@pytest.mark.parametrize("finish", ["stop", "tool_call", "function_call", "tool_calls"])
def test_str_18_the_presence_of_calls_decides_not_the_finish_word(finish: str) -> None:
    assert len(from_deltas(piece('{"city":"Oslo"}', index=0, call_id="a", name="city_time"), finish=finish)) == 1


def test_text_and_reasoning_are_shown_as_they_come() -> None:
    assembler = Assembler()
    shown = [
        item
        for delta in (
            {"reasoning_content": "hm"},
            {"reasoning": "so"},
            {"content": [{"type": "text", "text": "a"}, {"type": "image"}]},
            {"content": ""},
            {"refusal": "no"},
        )
        for item in assembler.add(chunk(delta))
    ]
    assert shown == [ReasoningChunk("hm"), ReasoningChunk("so"), TextChunk("a"), TextChunk("no")]
    list(assembler.add(chunk({}, "stop")))
    assert assembler.reply("m").text == "ano"


def test_an_emoji_cut_in_two_is_joined_and_a_lone_half_is_replaced() -> None:
    assembler = Assembler()
    shown = [item for text in ("a\ud83d", "\ude00b", "\ude00") for item in assembler.add(chunk({"content": text}))]
    assert shown == [TextChunk("a"), TextChunk("😀b"), TextChunk("\ufffd")]
    calls = from_deltas(piece('{"t":"\ud83d', index=0, call_id="a", name="f"), piece('\ude00"}', index=0))
    assert calls[0].arguments == '{"t":"😀"}'


def test_a_whole_reply_is_read_like_a_stream_of_one() -> None:
    message = {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "function": {"name": "f"}}]}
    reply = assembled({"model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
    assert reply.requests == (ToolRequest("a", "f", ""),)


def test_a_summary_after_the_deltas_is_not_counted_twice() -> None:
    last = {"choices": [{"index": 0, "message": {"content": "hi"}, "finish_reason": "stop"}]}
    assert assembled(chunk({"content": "hi"}), last).text == "hi"


@pytest.mark.parametrize(
    ("finish", "sentence", "retryable"),
    [("stop", "empty", True), ("length", "SKILLMESH_MAX_TOKENS", False), ("content_filter", "filter", False)],
)
def test_a_reply_of_nothing_says_what_to_do(finish: str, sentence: str, retryable: bool) -> None:
    with pytest.raises(ModelError, match=sentence) as caught:
        assembled(chunk({}, finish))
    assert caught.value.retryable is retryable


def test_a_reply_that_outgrows_its_limits_is_not_read_on() -> None:
    with pytest.raises(ModelError, match="longer than"):
        assembled(chunk({"content": "x" * (MAX_REPLY_CHARS + 1)}))
    with pytest.raises(ModelError, match="arguments"):
        from_deltas(piece("x" * (MAX_ARGUMENT_BYTES + 1), index=0, name="f"))
    with pytest.raises(ModelError, match="calls at once"):
        from_deltas(*(piece("{}", index=index, name="f") for index in range(MAX_CALLS + 1)))


def test_the_stream_of_a_real_small_model_is_one_call() -> None:
    lines = (DATA / "llamacpp_stream_toolcall.sse").read_text(encoding="utf-8").splitlines()
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: {")]
    reply = assembled(*chunks)
    assert [call.name for call in reply.requests] == ["search_logs"]
    assert json.loads(reply.requests[0].arguments)["query"] == "支付服务"
    assert reply.usage == Usage(263, 36)
