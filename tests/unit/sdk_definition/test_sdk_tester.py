import subprocess
import sys

import pytest

from skill_services.sdk import Blob, Json, Link, Output, Principal, SkillContext, Text, skill
from skill_services.sdk.testing import SkillTester, context_for

FORBIDDEN = ("openai", "mcp", "fastapi", "starlette", "uvicorn")


@skill(version="1.0.0")
async def greet(context: SkillContext, name: str = "you") -> str:
    """Greets."""
    return f"Hello {name}, says {context.principal.subject} at {context.time_zone}"


@skill(version="1.0.0")
async def parts() -> Output:
    """Returns parts."""
    return Output([Text("a"), Json([1]), Blob(b"xyz", "image/png"), Link("file:///x"), Link("file:///y", "y")])


async def test_a_skill_can_be_called_with_an_object_text_or_nothing() -> None:
    async with SkillTester([greet]) as mesh:
        assert "Hello Ada" in (await mesh.call("greet", {"name": "Ada"})).text
        assert "Hello Ada" in (await mesh.call("greet", '{"name": "Ada"}')).text
        assert "Hello Ada" in (await mesh.call("greet", b'{"name": "Ada"}')).text
        assert "Hello you, says bob" in (await mesh.call("greet", principal=Principal("bob"))).text


async def test_the_outcome_reads_as_the_model_would_read_it() -> None:
    async with SkillTester([parts]) as mesh:
        outcome = await mesh.call("parts")

    assert outcome.text == "a\n[1]\n[image/png, 3 bytes]\nfile:///x\ny: file:///y"
    assert outcome.value is None
    assert outcome.parts[1:3] == (Json([1]), Blob(b"xyz", "image/png"))


async def test_an_unknown_name_cannot_be_described() -> None:
    async with SkillTester([greet]) as mesh:
        with pytest.raises(KeyError):
            mesh.describe("nope")


async def test_a_function_can_be_called_directly_with_a_context() -> None:
    said = await greet(context_for(principal=Principal("eve"), time_zone="Asia/Tokyo"), "Bob")

    assert said == "Hello Bob, says eve at Asia/Tokyo"
    assert context_for(timeout=0).time_remaining() == 0
    context_for().progress(0.5)
    context_for().part(Text("x"))


async def test_a_function_skill_can_be_executed_like_one_of_class_form() -> None:
    assert await greet.execute({"name": "Ada"}, context_for()) == "Hello Ada, says tester at UTC"


def test_a_skill_process_imports_no_web_stack_and_no_model_client() -> None:
    imports = "import sys, skill_services.sdk, skill_services.sdk.testing"
    program = f"{imports}; print([name for name in {FORBIDDEN} if name in sys.modules])"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)

    assert done.stdout.strip() == "[]"
