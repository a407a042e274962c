from collections.abc import Callable

import pytest

from agent_core.app.exits import Exit, guarded
from agent_core.domain.errors import CallError, ConfigError, ModelError, RegistryError, SkillmeshError
from skillmesh.errors import ErrorKind


def raising(error: BaseException) -> Callable[[], None]:
    def command() -> None:
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError("A is wrong."), Exit.USAGE),
        (RegistryError("Consul is away."), Exit.UNREACHABLE),
        (ModelError("The model is away."), Exit.UNREACHABLE),
        (CallError(ErrorKind.UNKNOWN_SKILL, "There is no skill x."), Exit.NO_RESULT),
    ],
)
def test_an_expected_error_is_one_sentence_and_an_exit_code(
    error: SkillmeshError, code: Exit, capsys: pytest.CaptureFixture[str]
) -> None:
    assert guarded(raising(error)) == code
    assert capsys.readouterr().err == f"skillmesh: {error}\n"


def test_a_missing_extra_names_the_pip_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(raising(ModuleNotFoundError("no", name="openai.types"))) == Exit.USAGE
    assert "pip install 'skillmesh-core[agent]'" in capsys.readouterr().err


def test_a_missing_module_of_another_kind_is_not_hidden() -> None:
    with pytest.raises(ModuleNotFoundError):
        guarded(raising(ModuleNotFoundError("no", name="agent_core.gone")))


def test_ctrl_c_is_130() -> None:
    assert guarded(raising(KeyboardInterrupt())) == Exit.INTERRUPTED


def test_success_is_0() -> None:
    assert guarded(lambda: None) == Exit.OK
