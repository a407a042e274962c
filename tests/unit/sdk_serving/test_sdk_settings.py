import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_services.sdk.settings import (
    ConsulAddress,
    ServiceSettings,
    SettingsError,
    load_settings,
    parse_consul_address,
    split_host_port,
)


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    before = dict(os.environ)
    for name in list(os.environ):
        if name.startswith(("SKILLMESH_", "CONSUL_")):
            del os.environ[name]
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def test_without_any_variable_a_service_listens_on_loopback_and_takes_a_free_port() -> None:
    with environment():
        settings = load_settings()
    assert (settings.host, settings.port, settings.registered, settings.check) == ("127.0.0.1", 0, True, "grpc")
    assert settings.consul == ConsulAddress("http", "127.0.0.1", 8500)


def test_every_variable_is_read() -> None:
    with environment(
        SKILLMESH_HOST="0.0.0.0",
        SKILLMESH_PORT="7000",
        SKILLMESH_ADVERTISE="calc.internal:7001",
        SKILLMESH_INSTANCE_ID="calc-1",
        SKILLMESH_REGISTER="false",
        SKILLMESH_CHECK="ttl",
        SKILLMESH_CHECK_INTERVAL="1.5",
        SKILLMESH_MAX_CONCURRENT_CALLS="3",
        SKILLMESH_MAX_MESSAGE_BYTES="1000000",
        SKILLMESH_GRACE_SECONDS="4",
        SKILLMESH_DRAIN_SECONDS="0",
        SKILLMESH_THREADS="2",
        SKILLMESH_PREREQUISITE_INTERVAL="0.5",
        SKILLMESH_SKILL_DEFAULTS='{"search": {"region": "eu"}}',
        SKILLMESH_LOG_LEVEL="debug",
        SKILLMESH_PARENT_PID="12",
        CONSUL_HTTP_ADDR="https://consul:8501",
        CONSUL_HTTP_TOKEN="secret",
        CONSUL_HTTP_SSL_VERIFY="false",
        CONSUL_CACERT="/ca.pem",
    ):
        settings = load_settings()
    assert settings.host == "0.0.0.0"
    assert settings.port == 7000
    assert settings.advertise == "calc.internal:7001"
    assert settings.instance_id == "calc-1"
    assert not settings.registered
    assert settings.check == "ttl"
    assert settings.check_interval == 1.5
    assert settings.max_concurrent_calls == 3
    assert settings.max_message_bytes == 1_000_000
    assert settings.grace_seconds == 4
    assert settings.prerequisite_interval == 0.5
    assert settings.drain_seconds == 0
    assert settings.threads == 2
    assert settings.skill_defaults == {"search": {"region": "eu"}}
    assert settings.log_level == "DEBUG"
    assert settings.parent_pid == 12
    assert settings.consul.url == "https://consul:8501"
    assert settings.consul_token.get_secret_value() == "secret"
    assert not settings.consul_ssl_verify
    assert settings.consul_ca == "/ca.pem"


@pytest.mark.parametrize("advertise", [":::", "1:2:3", "[::1", "a:0", "a b"])
def test_an_address_that_nobody_can_reach_is_refused(advertise: str) -> None:
    with environment(SKILLMESH_ADVERTISE=advertise), pytest.raises(SettingsError, match="SKILLMESH_ADVERTISE"):
        load_settings()


def test_an_empty_variable_counts_as_not_set() -> None:
    with environment(SKILLMESH_PORT="", CONSUL_HTTP_ADDR="", SKILLMESH_PARENT_PID=""):
        settings = load_settings()
    assert settings.port == 0
    assert settings.parent_pid is None


def test_every_wrong_variable_is_named_at_once_and_no_value_is_shown() -> None:
    variables = {
        "SKILLMESH_PORT": "leaked-one",
        "SKILLMESH_HOST": "leaked two!",
        "SKILLMESH_CHECK": "leaked-three",
        "SKILLMESH_SKILL_DEFAULTS": "leaked-four",
        "SKILLMESH_INSTANCE_ID": "leaked/five",
        "SKILLMESH_ADVERTISE": "leaked:six",
        "CONSUL_HTTP_ADDR": "unix:///leaked/seven",
        "SKILLMESH_REGISTER": "leaked-eight",
        "SKILLMESH_LOG_LEVEL": "leaked-nine",
        "SKILLMESH_THREADS": "0",
        "CONSUL_HTTP_TOKEN": "leaked-token",
    }
    with environment(**variables), pytest.raises(SettingsError) as raised:
        load_settings()
    problems = raised.value.problems
    assert {problem.split()[0] for problem in problems} == {
        "SKILLMESH_PORT",
        "SKILLMESH_HOST",
        "SKILLMESH_CHECK",
        "SKILLMESH_SKILL_DEFAULTS",
        "SKILLMESH_INSTANCE_ID",
        "SKILLMESH_ADVERTISE",
        "CONSUL_HTTP_ADDR",
        "SKILLMESH_REGISTER",
        "SKILLMESH_LOG_LEVEL",
        "SKILLMESH_THREADS",
    }
    assert "leaked" not in str(raised.value)
    assert all("must" in problem or "may" in problem for problem in problems), problems


@pytest.mark.parametrize("defaults", ["[1]", '{"a": 1}', "{" * 20_000, "[" * 70_000])
def test_skill_defaults_of_another_shape_are_a_sentence(defaults: str) -> None:
    with (
        environment(SKILLMESH_SKILL_DEFAULTS=defaults),
        pytest.raises(SettingsError, match=r"^SKILLMESH_SKILL_DEFAULTS must be"),
    ):
        load_settings()


def test_settings_are_made_in_code_as_well() -> None:
    settings = ServiceSettings(
        registered=False,
        skill_defaults={"a": {"b": 1}},
        consul_address=ConsulAddress("http", "::1", 1),
        consul_ssl=True,
    )
    assert settings.consul.url == "https://[::1]:1"
    assert not settings.registered


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("consul", "http://consul:8500"),
        ("consul:80", "http://consul:80"),
        ("http://consul/", "http://consul:8500"),
        ("https://[::1]:8501", "https://[::1]:8501"),
        ("[::1]:8500", "http://[::1]:8500"),
    ],
)
def test_consuls_address_is_read_as_its_own_tools_do(text: str, url: str) -> None:
    assert parse_consul_address(text).url == url


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("calc", ("calc", None)),
        ("calc:7000", ("calc", 7000)),
        ("10.0.0.1:1", ("10.0.0.1", 1)),
        ("::1", ("::1", None)),
        ("[::1]", ("::1", None)),
        ("[fe80::1%eth0]:7000", ("fe80::1%eth0", 7000)),
    ],
)
def test_host_and_port_are_told_apart(text: str, pair: tuple[str, int | None]) -> None:
    assert split_host_port(text) == pair


@pytest.mark.parametrize("text", ["", ":7000", "a:0", "a:65536", "a:x", "[::1", "[::1]7", "a b", "a/b:1", "a:²"])
def test_what_is_no_host_and_port_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must"):
        split_host_port(text)


@given(st.text(max_size=40))
def test_any_text_for_an_address_is_an_address_or_a_sentence(text: str) -> None:
    for parse in (parse_consul_address, split_host_port):
        said = "must"
        try:
            parse(text)
        except ValueError as error:
            said = str(error)
        assert said.startswith("must")
