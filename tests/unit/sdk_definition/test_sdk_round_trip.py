import datetime as dt
import json
import string
from typing import Literal

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from skill_services.sdk import skill
from skill_services.sdk.testing import InvalidArguments, SkillTester


class Item(BaseModel):
    name: str
    price: float
    tags: list[str] = []


@skill(version="1.0.0")
async def order(
    items: list[Item],
    day: dt.date,
    mode: Literal["fast", "slow"] = "fast",
    count: int | None = None,
    notes: dict[str, bool] = {},  # noqa: B006  # a default as authors write it
    flag: bool = False,
) -> dict[str, object]:
    """Orders."""
    return {"items": items, "day": day, "mode": mode, "count": count, "notes": notes, "flag": flag}


TEXT = st.text(max_size=10)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
ITEMS = st.fixed_dictionaries({"name": TEXT, "price": FLOATS | st.integers(-9, 9)}, optional={"tags": st.lists(TEXT)})
FITTING = st.fixed_dictionaries(
    {"items": st.lists(ITEMS, max_size=3), "day": st.dates().map(str)},
    optional={
        "mode": st.sampled_from(["fast", "slow"]),
        "count": st.none() | st.integers(),
        "notes": st.dictionaries(TEXT, st.booleans(), max_size=2),
        "flag": st.booleans(),
    },
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-10, 10) | FLOATS | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
NAMES = st.sampled_from(["items", "day", "mode", "count", "notes", "flag"]) | st.text(
    string.ascii_lowercase, max_size=4
)


def same(found: object, sent: object) -> bool:
    """The value that came back is the one that was sent, but for defaults that were filled in."""
    if isinstance(sent, dict) and isinstance(found, dict):
        return all(same(found.get(key), value) for key, value in sent.items())
    if isinstance(sent, list) and isinstance(found, list):
        return len(sent) == len(found) and all(map(same, found, sent))
    return found == sent


@settings(max_examples=60, deadline=None)
@given(FITTING)
async def test_arguments_that_fit_arrive_unchanged(arguments: dict[str, object]) -> None:
    async with SkillTester([order]) as mesh:
        result = await mesh.call("order", json.dumps(arguments))

    assert same(result.value, arguments)


@settings(max_examples=120, deadline=None)
@given(st.dictionaries(NAMES, ANYTHING, max_size=6), FITTING)
async def test_whatever_comes_is_either_run_or_refused_with_reasons(
    noise: dict[str, object], fitting: dict[str, object]
) -> None:
    arguments = {**fitting, **noise}
    async with SkillTester([order]) as mesh:
        schema = jsonschema_rs.Draft202012Validator(mesh.parameters("order"))
        text = json.dumps(arguments).encode()
        fits = schema.is_valid(json.loads(text))
        refusal = await refusal_of(mesh, text)

    if refusal is None:
        assert fits
    else:
        assert refusal.violations
        assert all(violation.problem for violation in refusal.violations)
        assert not fits or {violation.path for violation in refusal.violations} == {"day"}


async def refusal_of(mesh: SkillTester, text: bytes) -> InvalidArguments | None:
    try:
        await mesh.call("order", text)
    except InvalidArguments as error:
        return error
    return None


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=40) | st.text(max_size=40).map(str.encode))
async def test_no_bytes_at_all_crash_the_reader(data: bytes) -> None:
    async with SkillTester([order]) as mesh:
        with pytest.raises(InvalidArguments):
            await mesh.call("order", data)
