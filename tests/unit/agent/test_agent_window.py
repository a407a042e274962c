"""Conversations are cut in whole pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.agent.session import Session
from agent_core.agent.window import fit, size
from agent_core.domain.model import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolMessage,
    ToolRequest,
    UserMessage,
)


def asks(*ids: str) -> AssistantMessage:
    return AssistantMessage("", tuple(ToolRequest(one, "f", "{}") for one in ids))


CASE: tuple[Message, ...] = (
    SystemMessage("be good"),
    UserMessage("first " * 20),
    asks("a"),
    ToolMessage("a", "r" * 400),
    AssistantMessage("an answer " * 10),
    UserMessage("second " * 20),
    asks("b", "c"),
    ToolMessage("b", "s" * 400),
    ToolMessage("c", "t" * 400),
    UserMessage("third"),
)


def check(messages: tuple[Message, ...]) -> None:
    """No reply without its call, no call without its reply, and the first that is spoken is no reply."""
    spoken = [message for message in messages if not isinstance(message, SystemMessage)]
    assert spoken
    assert not isinstance(spoken[0], ToolMessage)
    open_calls: list[str] = []
    for message in spoken:
        if isinstance(message, ToolMessage):
            assert open_calls.pop(0) == message.request_id
        else:
            assert open_calls == []
        if isinstance(message, AssistantMessage):
            open_calls = [request.id for request in message.requests]
    assert open_calls == []


def test_his_02_every_budget_keeps_calls_and_replies_together() -> None:
    for limit in range(size(CASE) + 50):
        kept = fit(CASE, limit)
        check(kept)
        assert kept[0] == CASE[0]
        assert kept[-1] == CASE[-1]
        assert size(kept) <= max(limit, size((CASE[0], CASE[-1])))


def test_what_fits_is_unchanged() -> None:
    assert fit(CASE, size(CASE)) == CASE


def test_the_oldest_question_goes_first() -> None:
    kept = fit(CASE, size(CASE) - 1)
    assert kept == (CASE[0], *CASE[5:])


RUNNING: tuple[Message, ...] = (
    SystemMessage("be good"),
    UserMessage("old"),
    AssistantMessage("answer"),
    UserMessage("now"),
    asks("a"),
    ToolMessage("a", "r" * 5_000),
    asks("b", "c"),
    ToolMessage("b", "s" * 5_000),
    ToolMessage("c", "日" * 2_000),
)


@pytest.mark.parametrize("limit", [0, 300, 700, 1_500, 6_000, 11_500])
def test_a_run_that_grows_too_long_shortens_its_results_and_keeps_its_question(limit: int) -> None:
    kept = fit(RUNNING, limit)
    check(kept)
    assert kept[:2] == (RUNNING[0], RUNNING[3])
    assert isinstance(kept[-1], ToolMessage)
    assert kept[-1].request_id == "c"
    assert size(kept) <= max(limit, 800) + 100


def test_the_latest_results_are_shortened_last() -> None:
    kept = fit(RUNNING, 11_500)
    assert kept[-1] == RUNNING[-1]
    assert "bytes left out" in kept[3].text


def test_a_call_with_huge_arguments_goes_once_it_is_not_the_latest() -> None:
    huge = AssistantMessage("", (ToolRequest("a", "f", '{"x":"' + "y" * 9_000 + '"}'),))
    messages = (SystemMessage("s"), UserMessage("q"), huge, ToolMessage("a", "1"), asks("b"), ToolMessage("b", "2"))
    kept = fit(messages, 2_000)
    assert kept == (messages[0], messages[1], *messages[4:])
    assert fit(messages[:4], 2_000) == messages[:4]


MESSAGES = st.lists(st.sampled_from(["user", "answer", "call", "calls"]), max_size=12)


@given(MESSAGES, st.integers(0, 4_000))
def test_any_conversation_at_any_budget_stays_well_formed(kinds: list[str], limit: int) -> None:
    messages: list[Message] = [SystemMessage("s")]
    for number, kind in enumerate(kinds):
        ids = {"call": [f"{number}"], "calls": [f"{number}a", f"{number}b"]}.get(kind)
        if ids:
            messages += [asks(*ids), *(ToolMessage(one, "x" * 300) for one in ids)]
        else:
            messages.append(UserMessage("u" * 100) if kind == "user" else AssistantMessage("a" * 100))
    messages.append(UserMessage("the question"))
    kept = fit(messages, limit)
    check(kept)
    assert kept[0] == messages[0]
    assert kept[-1] == messages[-1]


def test_a_session_keeps_whole_exchanges_and_always_the_newest() -> None:
    session = Session("s", max_bytes=200)
    session.commit([UserMessage("one"), AssistantMessage("1" * 100)])
    session.commit([UserMessage("two"), AssistantMessage("2" * 100)])
    assert [message.text[:3] for message in session.history] == ["two", "222"]
    session.commit([UserMessage("three"), AssistantMessage("3" * 1_000)])
    assert [message.text[:3] for message in session.history] == ["thr", "333"]
