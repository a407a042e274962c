"""What `serve` says and returns where it cannot start; what it does while it runs is tested on processes."""

import logging
import os
import socket
from collections.abc import Iterator

import pytest

from skill_services.sdk import BaseSkill, SkillContext, SkillDefinition, serve, skill
from skill_services.sdk.settings import ServiceSettings


@pytest.fixture(autouse=True)
def _own_log_levels() -> Iterator[None]:
    loggers = [logging.getLogger(name) for name in ("skillmesh", "skill_services")]
    levels = [logger.level for logger in loggers]
    yield
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)


@skill(version="1.0.0", access="observer", effect="read")
async def echo(text: str) -> str:
    """Use when a text must come back."""
    return text


def test_a_wrong_variable_ends_with_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    os.environ["SKILLMESH_GRACE_SECONDS"] = "soon"
    try:
        with pytest.raises(SystemExit) as raised:
            serve("echo", [echo])
    finally:
        del os.environ["SKILLMESH_GRACE_SECONDS"]
    assert raised.value.code == 2
    assert capsys.readouterr().err.startswith("SKILLMESH_GRACE_SECONDS must be")


def test_a_wrong_name_or_declaration_ends_with_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    for name, skills in (("Echo!", [echo]), ("echo", [echo, echo]), ("echo", [])):
        with pytest.raises(SystemExit) as raised:
            serve(name, skills, settings=ServiceSettings(registered=False))
        assert raised.value.code == 2
        assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_taken_port_ends_with_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        settings = ServiceSettings(registered=False, port=taken.getsockname()[1])
        with pytest.raises(SystemExit) as raised:
            serve("echo", [echo], settings=settings)
    assert raised.value.code == 1
    assert "in use by another process" in capsys.readouterr().err


class Interrupted(BaseSkill):
    def definition(self) -> SkillDefinition:
        raise KeyboardInterrupt

    async def execute(self, arguments: dict[str, object], context: SkillContext) -> object:
        return None


def test_an_interruption_before_it_serves_shows_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        serve("echo", [Interrupted()], settings=ServiceSettings(registered=False))
    assert raised.value.code == 130
    assert capsys.readouterr().err == ""
