from pathlib import Path

import pytest

from agent_core.app.settings import load_settings
from agent_core.domain.errors import ConfigError


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONSUL_HTTP_ADDR", "CONSUL_HTTP_TOKEN", "OPENAI_API_KEY", "OPENAI_BASE_URL", "SKILLMESH_CONFIG"):
        monkeypatch.delenv(name, raising=False)


def test_the_names_of_other_ecosystems_are_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONSUL_HTTP_ADDR", "consul:8501")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://model/v1/")
    monkeypatch.setenv("SKILLMESH_MODEL", "m")
    settings = load_settings()
    assert (settings.consul_addr, settings.openai_base_url, settings.model) == ("consul:8501", "http://model/v1", "m")


def test_the_environment_outweighs_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "skillmesh.toml"
    file.write_text('model = "from-file"\nmax_turns = 3\nconsul_addr = "consul:8500"\n', encoding="utf-8")
    monkeypatch.setenv("SKILLMESH_CONFIG", str(file))
    monkeypatch.setenv("SKILLMESH_MODEL", "from-environment")
    settings = load_settings()
    assert (settings.model, settings.max_turns, settings.consul_addr) == ("from-environment", 3, "consul:8500")


def test_every_wrong_setting_is_named_at_once_and_none_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLMESH_MAX_TURNS", "s3cret")
    monkeypatch.setenv("OPENAI_BASE_URL", "ftp://s3cret")
    with pytest.raises(ConfigError) as caught:
        load_settings()
    sentence = str(caught.value)
    assert "SKILLMESH_MAX_TURNS" in sentence
    assert "OPENAI_BASE_URL" in sentence
    assert "s3cret" not in sentence


@pytest.mark.parametrize(
    ("text", "words"),
    [("colour = 1", "colour"), ("model = ", "SKILLMESH_CONFIG"), ("[model]\nname = 1", "SKILLMESH_MODEL")],
)
def test_a_wrong_file_is_a_clear_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "skillmesh.toml"
    file.write_text(text, encoding="utf-8")
    monkeypatch.setenv("SKILLMESH_CONFIG", str(file))
    with pytest.raises(ConfigError, match=words):
        load_settings()


def test_a_file_that_is_not_there_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLMESH_CONFIG", "/nowhere/skillmesh.toml")
    with pytest.raises(ConfigError, match="is no file"):
        load_settings()


def test_secrets_do_not_show_in_a_dump_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "s3cret")
    monkeypatch.setenv("CONSUL_HTTP_TOKEN", "t0ken")
    shown = repr(load_settings())
    assert "s3cret" not in shown
    assert "t0ken" not in shown
