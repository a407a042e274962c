import subprocess
import sys

import pytest

from skill_services.sdk import check, skill
from skill_services.sdk.definition import SkillSettings
from skill_services.sdk.runtime import Runtime, RuntimeOptions
from skill_services.sdk.testing import SkillTester

PROGRAM = """
from skill_services.sdk import skill
from skill_services.sdk.runtime import Runtime, RuntimeOptions

@skill(version="1.0.0", tags=["b", "a"], examples=[("x", {"words": ["q"]})])
async def sample(words: set[str] = {"b", "a", "c"}, sizes: dict[str, int] = {}) -> dict[str, int]:
    "Samples."
    return {}

runtime = Runtime([sample], RuntimeOptions())
print(runtime.describe().skills[0].fingerprint, runtime.fingerprint)
"""


def fingerprint(**settings: object) -> str:
    wanted: SkillSettings = {"version": "1.0.0", **settings}  # type: ignore[typeddict-item]  # each test passes right ones

    def sample(text: str) -> str:
        """Samples."""
        return text

    return Runtime([skill(**wanted)(sample)], RuntimeOptions()).describe().skills[0].fingerprint


def test_fingerprints_are_the_same_in_each_process() -> None:
    printed = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True, timeout=60
        ).stdout
        for seed in ("1", "2")
    }

    assert len(printed) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"version": "1.0.1"},
        {"tags": ["a"]},
        {"timeout": 2.0},
        {"access": "observer"},
        {"llm_hint": "x"},
        {"owner": "me"},
    ],
)
def test_any_change_of_content_changes_the_fingerprint(change: dict[str, object]) -> None:
    assert fingerprint(**change) != fingerprint()


async def test_the_services_fingerprint_follows_prerequisites_and_the_skills_own_does_not() -> None:
    met = [False]

    @skill(version="1.0.0", prerequisites=[check("luck", lambda: met[0] or "Find some luck.")])
    async def lucky() -> str:
        """Needs luck."""
        return "won"

    async with SkillTester([lucky]) as mesh:
        unlucky = mesh.runtime.describe()
    met[0] = True
    async with SkillTester([lucky]) as mesh:
        happy = mesh.runtime.describe()

    assert unlucky.skills[0].prerequisites[0].reason == "Find some luck."
    assert happy.skills[0].prerequisites[0].met
    assert unlucky.skills[0].fingerprint == happy.skills[0].fingerprint
    assert unlucky.fingerprint != happy.fingerprint
