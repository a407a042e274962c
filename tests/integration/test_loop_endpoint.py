"""The loop against an HTTP endpoint that fails in every known way: each run ends with an answer or a sentence."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.utils import formatdate
from types import MappingProxyType
from typing import Any

import pytest

from agent_core.agent.loop import AgentLoop
from agent_core.agent.run import LoopSettings
from agent_core.agent.session import Session
from agent_core.domain.events import (
    Event,
    FinishReason,
    ModelRetried,
    RunFinished,
    TextDelta,
)
from agent_core.llm.client import OpenAIChatModel
from agent_core.llm.config import ModelConfig
from agent_core.llm.retrying import RetryingChatModel, RetryPolicy
from agent_core.llm.traced import TracedChatModel
from tests.support.agent_parts import Body, FunctionSkills, agent_loop, ending, events_of, returns, skill
from tests.support.scripted_endpoint import (
    Answer,
    Asked,
    Reply,
    ScriptedEndpoint,
    calls,
    chunk,
    data,
    refuses,
    says,
    scripted_endpoint,
    stream,
)

KEY = "sk-secret-123"
SKILLS = tuple(skill(name) for name in ("city_time", "doc_search", "unit_convert"))


@dataclass
class Running:
    endpoint: ScriptedEndpoint
    loop: AgentLoop
    fan_out: FunctionSkills
    events: list[Event]

    async def ask(self, question: str = "What?", session: Session | None = None) -> RunFinished:
        self.events += await events_of(self.loop, question, session)
        assert KEY not in repr(self.events)
        return ending(self.events)

    @property
    def retries(self) -> list[ModelRetried]:
        return [event for event in self.events if isinstance(event, ModelRetried)]

    @property
    def executed(self) -> list[tuple[str, Any]]:
        return [(call.skill.name, json.loads(call.arguments)) for call in self.fan_out.calls]


@asynccontextmanager
async def running(
    *script: Answer, run_timeout: float = 20.0, bodies: Mapping[str, Body] = MappingProxyType({})
) -> AsyncIterator[Running]:
    async with scripted_endpoint(*script) as endpoint:
        config = ModelConfig(model="m-1", base_url=endpoint.url, api_key=KEY)
        client = OpenAIChatModel(config)
        policy = RetryPolicy(first_wait=0.01, first_wait_limited=0.02)
        fan_out = FunctionSkills(**{one.name: returns(b'"done"') for one in SKILLS} | dict(bodies))
        loop = agent_loop(
            RetryingChatModel(TracedChatModel(client, config), policy),
            *SKILLS,
            fan_out=fan_out,
            settings=LoopSettings(run_timeout=run_timeout),
        )
        try:
            yield Running(endpoint, loop, fan_out, [])
        finally:
            await client.close()


async def failure(*script: Answer, run_timeout: float = 20.0) -> tuple[RunFinished, Running]:
    async with running(*script, run_timeout=run_timeout) as mesh:
        end = await mesh.ask()
        assert (end.reason, end.answer) == (FinishReason.MODEL_FAILED, "")
        return end, mesh


async def test_401_names_the_variable_and_is_asked_once() -> None:
    end, mesh = await failure(refuses(401, {"message": f"Incorrect API key provided: {KEY}"}))
    assert "Check OPENAI_API_KEY" in end.detail
    assert len(mesh.endpoint.asked) == 1


async def test_500_twice_then_200_is_an_answer() -> None:
    async with running(refuses(500), refuses(500), says("Noon.")) as mesh:
        assert (await mesh.ask()).answer == "Noon."
        assert len(mesh.retries) == 2


async def test_500_three_times_is_a_clear_end() -> None:
    end, mesh = await failure(refuses(500), refuses(500), refuses(500))
    assert "failed (500)" in end.detail
    assert "Tried 3 times" in end.detail
    assert len(mesh.endpoint.asked) == 3


async def test_his_12_a_retry_after_in_time_is_waited_for() -> None:
    began = time.monotonic()
    async with running(refuses(429, retry_after="1"), says("Noon.")) as mesh:
        assert (await mesh.ask()).answer == "Noon."
    assert time.monotonic() - began >= 1
    assert mesh.retries[0].wait >= 1


async def test_his_12_a_date_is_waited_for_too() -> None:
    until = time.time() + 1
    async with running(refuses(429, retry_after=formatdate(until + 1, usegmt=True)), says("Noon.")) as mesh:
        assert (await mesh.ask()).answer == "Noon."
    assert time.time() >= until


@pytest.mark.parametrize("garbage", ["0", "-1", "abc"])
async def test_his_12_an_unusable_retry_after_is_a_backoff(garbage: str) -> None:
    async with running(refuses(429, retry_after=garbage), says("Noon.")) as mesh:
        assert (await mesh.ask()).answer == "Noon."
        assert 0 < mesh.retries[0].wait < 1


@pytest.mark.parametrize(("told", "run_timeout"), [("3600", 20.0), ("10", 5.0)])
async def test_his_12_a_retry_after_beyond_cap_or_deadline_fails_at_once(told: str, run_timeout: float) -> None:
    began = time.monotonic()
    end, mesh = await failure(refuses(429, retry_after=told), run_timeout=run_timeout)
    assert f"asks to wait {told} s" in end.detail
    assert time.monotonic() - began < 2  # the first import of openai included
    assert len(mesh.endpoint.asked) == 1


@pytest.mark.parametrize("empty", [Reply(), Reply(pieces=(data("[DONE]"),)), stream(finish="stop")])
async def test_an_empty_stream_is_asked_again_and_in_the_end_said(empty: Reply) -> None:
    async with running(empty, says("Noon.")) as mesh:
        assert (await mesh.ask()).answer == "Noon."
    end, _ = await failure(empty, empty, empty)
    assert "empty" in end.detail


@pytest.mark.parametrize("abort", [False, True])
async def test_a_stream_cut_after_text_is_a_clear_end(abort: bool) -> None:
    cut = Reply(pieces=(data(chunk({"content": "It is no"})),), cut=abort)
    end, mesh = await failure(cut)
    assert "brok" in end.detail
    assert [event.text for event in mesh.events if isinstance(event, TextDelta)] == ["It is no"]
    assert len(mesh.endpoint.asked) == 1


@pytest.mark.parametrize("abort", [False, True])
async def test_str_15_a_stream_cut_inside_a_call_runs_nothing_and_is_asked_again(abort: bool) -> None:
    half = {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "city_time", "arguments": '{"city":"Os'}}]}
    cut = Reply(pieces=(data(chunk(half)),), cut=abort)
    async with running(cut, says("Noon.")) as mesh:
        assert (await mesh.ask()).answer == "Noon."
        assert mesh.executed == []
    end, mesh = await failure(cut, cut, cut)
    assert mesh.executed == []
    assert "brok" in end.detail


async def test_an_error_in_the_middle_of_the_stream_is_told() -> None:
    pieces = (data(chunk({"content": "It"})), data({"error": {"message": "GPU lost", "type": "server_error"}}))
    end, _ = await failure(Reply(pieces=pieces))
    assert "GPU lost" in end.detail


async def test_an_endpoint_that_is_not_there_is_named() -> None:
    async with running() as mesh:
        url = mesh.endpoint.url
    end = await mesh.ask()
    assert f"{url} cannot be reached. Check OPENAI_BASE_URL" in end.detail
    assert len(mesh.retries) == 2


async def test_invalid_arguments_are_answered_and_the_run_goes_on() -> None:
    def mended(asked: Asked) -> Reply:
        (told,) = asked.tool_replies
        assert told["tool_call_id"] == "a"
        assert "not valid JSON" in told["content"]
        assert "line 1 column" in told["content"]
        (kept,) = asked.messages[-2]["tool_calls"]
        assert isinstance(json.loads(kept["function"]["arguments"]), dict)  # what endpoints accept
        return calls(("b", "city_time", '{"city":"Oslo"}'))

    async with running(calls(("a", "city_time", '{"city": Oslo}')), mended, says("Noon.")) as mesh:
        assert (await mesh.ask()).answer == "Noon."
        assert mesh.executed == [("city_time", {"city": "Oslo"})]


@pytest.mark.parametrize("finish", ["stop", "tool_call", "function_call"])
async def test_str_18_calls_run_whatever_the_finish_word(finish: str) -> None:
    async with running(calls(("a", "city_time", '{"city":"Oslo"}'), finish=finish), says("Noon.")) as mesh:
        assert (await mesh.ask()).answer == "Noon."
        assert mesh.executed == [("city_time", {"city": "Oslo"})]


async def test_str_16_a_call_cut_by_the_output_limit_is_asked_for_again() -> None:
    cut = calls(("a", "doc_search", '{"q":"all files except'), finish="length")
    async with running(cut, says("Noon.")) as mesh:
        await mesh.ask()
        assert mesh.executed == []
    assert "Ask for it again" in mesh.endpoint.asked[1].tool_replies[0]["content"]


async def test_his_10_five_megabytes_do_not_overflow_an_8k_context() -> None:
    def small(reply: Reply) -> Answer:
        def answer(asked: Asked) -> Reply:
            tokens = len(json.dumps(asked.body, ensure_ascii=False).encode()) / 4
            return reply if tokens <= 8_000 else refuses(400, {"code": "context_length_exceeded", "message": "8000"})

        return answer

    body = returns(b'"' + b"x" * 5_000_000 + b'"')
    script = (small(calls(("a", "city_time", "{}"))), small(says("One.")), small(says("Two.")))
    async with running(*script, bodies={"city_time": body}) as mesh:
        session = Session()
        assert (await mesh.ask("first", session)).answer == "One."
        assert (await mesh.ask("second", session)).answer == "Two."
        assert len(mesh.endpoint.asked) == 3  # none was refused
        assert "bytes left out" in mesh.endpoint.asked[1].tool_replies[0]["content"]


async def test_his_10_a_context_that_is_smaller_still_is_found_out() -> None:
    def small(reply: Reply) -> Answer:
        def answer(asked: Asked) -> Reply:
            size = sum(len(message["content"] or "") for message in asked.messages)
            return reply if size <= 9_000 else refuses(400, {"message": "maximum context length is 2048 tokens"})

        return answer

    bodies = {one.name: returns(b'"' + b"x" * 50_000 + b'"') for one in SKILLS}
    both = calls(("a", "city_time", "{}"), ("b", "doc_search", "{}"))
    async with running(small(both), *[small(says("One."))] * 6, bodies=bodies) as mesh:
        assert (await mesh.ask()).answer == "One."
        assert len(mesh.endpoint.asked[-1].tool_replies) == 2


async def test_sch_07_a_result_that_looks_like_a_schema_stays_text() -> None:
    result = b'{"$defs":{"T":{"type":"string"}},"x":{"$ref":"#/$defs/T"}}'
    async with running(calls(("a", "city_time", "{}")), says("ok"), bodies={"city_time": returns(result)}) as mesh:
        await mesh.ask()
    assert mesh.endpoint.asked[1].tool_replies[0]["content"] == result.decode()


async def test_leaving_the_run_ends_the_request_at_the_endpoint() -> None:
    held = Reply(pieces=(data(chunk({"content": "hi"})), asyncio.Event()))
    async with running(held) as mesh:
        run = mesh.loop.run("q", session=Session())
        async for event in run:
            if isinstance(event, TextDelta):
                break
        await run.aclose()
        async with asyncio.timeout(2):
            await mesh.endpoint.abandoned.wait()
