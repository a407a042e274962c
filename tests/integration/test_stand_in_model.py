"""The stand-in as its own process, judged by OpenAI's own client."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.support.offered_tools import MESH
from tests.support.stand_in_process import stand_in_process

TOOLS: Any = MESH
RESULTS = {
    "calculate": '{"expression":"2357 * 4821","result":11363097}',
    "current_time": '{"local":"2026-12-01T05:30:00+09:00"}',
}


def client(url: str, retries: int = 0) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=retries, timeout=10)


async def turn(asking: openai.AsyncOpenAI, messages: list[Any]) -> tuple[str, list[Any], str]:
    """Text, calls and finish reason of one streamed turn."""
    async with asking.chat.completions.stream(
        model="any", messages=messages, tools=TOOLS, stream_options={"include_usage": True}
    ) as stream:
        done = await stream.get_final_completion()
    (choice,) = done.choices
    assert done.usage is not None
    assert done.model == done.system_fingerprint == "skillmesh-stand-in"
    return choice.message.content or "", list(choice.message.tool_calls or []), choice.finish_reason


@pytest.mark.parametrize(
    ("question", "skills"),
    [
        ("What is 2357 * 4821, and what time is it in Tokyo?", ["calculate", "current_time"]),
        ("计算 2357 乘以 4821", ["calculate"]),
    ],
)
async def test_a_question_is_called_for_and_then_answered(question: str, skills: list[str]) -> None:
    async with stand_in_process() as model, client(model.url) as asking:
        assert "stand-in" in model.banner
        assert "OPENAI_API_KEY" in model.banner
        assert [m.id async for m in asking.models.list()] == ["skillmesh-stand-in"]
        messages: list[Any] = [{"role": "user", "content": question}]
        _, calls, finish = await turn(asking, messages)
        assert [c.function.name for c in calls] == skills
        assert json.loads(calls[0].function.arguments) == {"expression": "2357 * 4821"}
        assert finish == "tool_calls"
        asked = [
            {"id": c.id, "type": "function", "function": {"name": c.function.name, "arguments": c.function.arguments}}
            for c in calls
        ]
        messages.append({"role": "assistant", "content": None, "tool_calls": asked})
        messages += [{"role": "tool", "tool_call_id": c.id, "content": RESULTS[c.function.name]} for c in calls]
        text, calls, finish = await turn(asking, messages)
        assert "11363097" in text
        assert ("05:30" in text) == (len(skills) == 2)
        assert not calls
        assert finish == "stop"


async def test_a_script_plays_faults_that_the_client_meets(tmp_path: Path) -> None:
    script = tmp_path / "faults.jsonl"
    replies: list[dict[str, Any]] = [
        {"status": 401, "error": {"message": "bad key", "code": "invalid_api_key"}},
        {"status": 500, "times": 2},
        {"text": "third time lucky"},
        {"text": "half", "error_chunk": "overloaded"},
    ]
    script.write_text("\n".join(json.dumps(r) for r in replies))
    async with stand_in_process(script) as model, client(model.url) as asking, client(model.url, retries=2) as patient:
        with pytest.raises(openai.AuthenticationError, match="bad key"):
            await turn(asking, [{"role": "user", "content": "Hi"}])
        assert (await turn(patient, [{"role": "user", "content": "Hi"}]))[0] == "third time lucky"
        with pytest.raises(openai.APIError, match="overloaded"):
            await turn(asking, [{"role": "user", "content": "Hi"}])
        assert "stand-in" in (await turn(asking, [{"role": "user", "content": "Hi"}]))[0]


async def test_it_stops_promptly_when_told_even_while_a_reply_stalls(tmp_path: Path) -> None:
    script = tmp_path / "stall.json"
    script.write_text('[{"text": "late", "stall": 600, "stall_after": 1}]')
    async with stand_in_process(script) as model, client(model.url) as asking:
        stream = await asking.chat.completions.create(
            model="x", messages=[{"role": "user", "content": "Hi"}], stream=True
        )
        await anext(aiter(stream))
        began = time.monotonic()
        model.process.terminate()
        assert await asyncio.wait_for(model.process.wait(), 10) == 0
        assert time.monotonic() - began < 5
        await stream.close()
