"""However the same calls are cut into chunks, the same calls come out."""

from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from agent_core.domain.model import ToolRequest
from agent_core.llm.assemble import Assembler
from tests.support.scripted_endpoint import chunk

NAMES = st.sampled_from(["city_time", "doc_search", "unit_convert"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(st.text(min_size=1, max_size=6), VALUES, max_size=4).map(lambda v: orjson.dumps(v).decode())


@st.composite
def fragmented(draw: st.DrawFn, text: str) -> list[str]:
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=6)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@st.composite
def wanted_calls(draw: st.DrawFn) -> tuple[ToolRequest, ...]:
    count = draw(st.integers(1, 4))
    return tuple(ToolRequest(f"id-{n}", draw(NAMES), draw(ARGUMENTS)) for n in range(count))


@st.composite
def deltas_of(draw: st.DrawFn, calls: tuple[ToolRequest, ...]) -> list[dict[str, Any]]:
    """The pieces of each call in order, the calls one after the other or interleaved."""
    with_index = draw(st.booleans())
    repeat_id = draw(st.booleans())
    repeat_name = draw(st.booleans())
    one_index = with_index and repeat_id and draw(st.booleans())
    per_call = []
    for index, call in enumerate(calls):
        pieces = []
        for position, text in enumerate(draw(fragmented(call.arguments))):
            function: dict[str, object] = {"arguments": text}
            entry: dict[str, object] = {"type": "function", "function": function}
            if with_index:
                entry["index"] = 0 if one_index else index
            if position == 0 or repeat_id:
                entry["id"] = call.id
            else:
                entry["id"] = draw(st.sampled_from(["", None]))
            if position == 0 or repeat_name:
                function["name"] = call.name
            else:
                function["name"] = draw(st.sampled_from(["", None]))
            pieces.append(entry)
        per_call.append(pieces)
    ordered = []
    interleave = (with_index or repeat_id) and draw(st.booleans())
    firsts = [pieces.pop(0) for pieces in per_call] if interleave else []
    ordered += firsts
    while any(per_call):
        filled = [pieces for pieces in per_call if pieces]
        ordered.append((draw(st.sampled_from(filled)) if interleave else filled[0]).pop(0))
    return ordered


@given(st.data())
def test_any_chunking_of_the_same_calls_gives_the_same_calls(data: st.DataObject) -> None:
    calls = data.draw(wanted_calls())
    pieces = data.draw(deltas_of(calls))
    assembler = Assembler()
    while pieces:
        size = data.draw(st.integers(1, len(pieces)))
        list(assembler.add(chunk({"tool_calls": pieces[:size]})))
        del pieces[:size]
    list(assembler.add(chunk({}, "tool_calls")))
    assert assembler.reply("m").requests == calls


@given(st.text(max_size=60), st.data())
def test_any_chunking_of_the_same_text_gives_the_same_text(text: str, data: st.DataObject) -> None:
    assembler = Assembler()
    shown = ""
    for part in data.draw(fragmented(text)):
        for item in assembler.add(chunk({"content": part})):
            shown += item.text
    list(assembler.add(chunk({"tool_calls": [{"function": {"name": "f"}}]}, "stop")))
    assert shown == text == assembler.reply("m").text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "delta", "tool_calls", "function", "index", "id", "name", "arguments", "message", "content"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(JSON)
def test_no_chunk_whatever_it_holds_raises(value: Any) -> None:
    assembler = Assembler()
    list(assembler.add(value))
    list(assembler.add({"choices": [value]}))
    list(assembler.add({"choices": [{"delta": value}]}))
    list(assembler.add(chunk({"content": "x"}, "stop")))
    assert "x" in assembler.reply("m").text
