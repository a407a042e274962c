from typing import Annotated

import pytest

from skill_services.sdk import (
    BaseSkill,
    FromCaller,
    FromOperator,
    FromSession,
    Hidden,
    SkillContext,
    SkillDefinition,
    SkillDefinitionError,
    skill,
)
from skill_services.sdk.testing import CallFailedError, Principal, SkillTester
from skillmesh.errors import ErrorKind
from skillmesh.v1 import skill_pb2


@skill(version="1.0.0")
async def profile(
    question: str,
    *,
    subject: Annotated[str, FromCaller],
    roles: Annotated[frozenset[str], FromCaller()],
    zone: Annotated[str, FromCaller("time_zone")],
    basket: Annotated[int, FromSession("basket_size")],
    run: Annotated[str, FromSession("run_id")],
    limit: Annotated[int, FromOperator()] = 10,
) -> dict[str, object]:
    """Use when a profile is asked for."""
    return {"q": question, "s": subject, "r": sorted(roles), "z": zone, "b": basket, "run": run, "l": limit}


@skill(version="1.0.0")
async def configured(path: Annotated[str, FromOperator]) -> str:
    """Use when a configured path is needed."""
    return path


def failure(kind: ErrorKind, caught: pytest.ExceptionInfo[CallFailedError]) -> str:
    assert caught.value.error.kind is kind
    return str(caught.value)


async def test_hidden_parameters_are_filled_and_are_no_part_of_the_schema() -> None:
    session = {"basket_size": "3"}
    principal = Principal("ada", ("dev", "admin"))
    async with SkillTester(
        [profile], principal=principal, session=session, operator_defaults={"profile": {"limit": 5}}
    ) as mesh:
        result = await mesh.call("profile", {"question": "who?"})
        descriptor = mesh.describe("profile")
        schema = mesh.parameters("profile")

    expected = {"q": "who?", "s": "ada", "r": ["admin", "dev"], "z": "UTC", "b": 3, "run": "test-run", "l": 5}
    assert result.value == expected
    assert schema["required"] == ["question"]
    assert [(one.name, one.source, one.key) for one in descriptor.hidden_parameters][:4] == [
        ("subject", skill_pb2.HIDDEN_SOURCE_CALLER, "subject"),
        ("roles", skill_pb2.HIDDEN_SOURCE_CALLER, "roles"),
        ("zone", skill_pb2.HIDDEN_SOURCE_CALLER, "time_zone"),
        ("basket", skill_pb2.HIDDEN_SOURCE_SESSION, "basket_size"),
    ]


async def test_what_the_request_itself_says_fills_hidden_parameters_too() -> None:
    async with SkillTester([profile]) as mesh:
        request = mesh.request("profile", {"question": "who?"})
        request.hidden_arguments = b'{"basket": 1, "limit": 1000}'
        request.time_zone = "Asia/Tokyo"
        result = await mesh.invoke(request)

    assert isinstance(result.value, dict)
    assert (result.value["s"], result.value["z"], result.value["l"]) == ("tester", "Asia/Tokyo", 10)


async def test_a_missing_value_is_a_clear_error_that_is_not_the_models() -> None:
    async with SkillTester([profile]) as mesh:
        with pytest.raises(CallFailedError) as caught:
            await mesh.call("profile", {"question": "who?"})

    sentence = failure(ErrorKind.PREREQUISITE_UNMET, caught)
    assert "'basket_size' from the session" in sentence
    assert "owner of the session" in sentence


@pytest.mark.parametrize("hidden", [b"[1]", b"{", b'{"basket": "many"}'])
async def test_hidden_values_that_do_not_fit_are_refused(hidden: bytes) -> None:
    async with SkillTester([profile]) as mesh:
        request = mesh.request("profile", {"question": "who?"})
        request.hidden_arguments = hidden
        with pytest.raises(CallFailedError) as caught:
            await mesh.invoke(request)

    failure(ErrorKind.PREREQUISITE_UNMET, caught)


async def test_a_value_that_the_operator_has_not_set_is_an_unmet_prerequisite() -> None:
    async with SkillTester([configured]) as mesh:
        shown = mesh.describe("configured").prerequisites[0]
        with pytest.raises(CallFailedError) as caught:
            await mesh.call("configured")

    assert (shown.name, shown.met) == ("operator:path", False)
    assert "SKILLMESH_SKILL_DEFAULTS" in shown.reason
    assert shown.reason in failure(ErrorKind.PREREQUISITE_UNMET, caught)


async def test_a_value_that_the_operator_has_set_meets_it_and_leaves_the_fingerprint_alone() -> None:
    async with SkillTester([configured]) as mesh:
        unset = mesh.describe("configured")
    async with SkillTester([configured], operator_defaults={"configured": {"path": "/logs"}}) as mesh:
        assert (await mesh.call("configured")).value == "/logs"
        assert mesh.describe("configured").prerequisites[0].met
        assert mesh.describe("configured").fingerprint == unset.fingerprint


def test_wrong_operator_defaults_stop_the_service_at_once() -> None:
    with pytest.raises(SkillDefinitionError, match=r"name profile\.limt"):
        SkillTester([profile], operator_defaults={"profile": {"limt": 5}})
    with pytest.raises(SkillDefinitionError, match=r"profile\.question, which is not"):
        SkillTester([profile], operator_defaults={"profile": {"question": "x"}})
    with pytest.raises(SkillDefinitionError, match=r"profile\.limit does not fit"):
        SkillTester([profile], operator_defaults={"profile": {"limit": "many"}})


def test_defaults_for_a_skill_of_another_service_are_only_mentioned(caplog: pytest.LogCaptureFixture) -> None:
    SkillTester([profile], operator_defaults={"elsewhere": {"x": 1}})

    assert "elsewhere" in caplog.text


class Raw(BaseSkill):
    def __init__(self, *properties: str) -> None:
        self._properties = {name: {"type": "string"} for name in properties}

    def definition(self) -> SkillDefinition:
        return SkillDefinition(
            name="raw",
            version="1.0.0",
            description="Takes hidden values.",
            parameters={"type": "object", "properties": self._properties},
            hidden=[
                Hidden(name="user", source="caller", key="subject"),
                Hidden(name="size", source="operator", default=7),
            ],
        )

    async def execute(self, arguments: dict[str, object], context: SkillContext) -> object:
        return arguments


async def test_the_class_form_gets_hidden_values_among_its_arguments() -> None:
    async with SkillTester([Raw("text")]) as mesh:
        result = await mesh.call("raw", {"text": "x"})

    assert result.value == {"text": "x", "user": "tester", "size": 7}


def test_a_parameter_cannot_be_hidden_and_visible() -> None:
    with pytest.raises(SkillDefinitionError, match="'user' is hidden and among"):
        SkillTester([Raw("user")])
