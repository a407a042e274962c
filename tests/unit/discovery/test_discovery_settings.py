import pytest

from agent_core.discovery.settings import DiscoverySettings, parse_address
from agent_core.domain.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("127.0.0.1:8500", "http://127.0.0.1:8500"),
        ("consul.local", "http://consul.local:8500"),
        ("http://consul:80", "http://consul:80"),
        ("https://consul", "https://consul:443"),
        ("https://consul:8501/", "https://consul:8501"),
        ("[::1]:8500", "http://[::1]:8500"),
    ],
)
def test_both_spellings_of_the_address_are_read(text: str, url: str) -> None:
    assert parse_address(text).url == url


@pytest.mark.parametrize(
    "text", ["", "ftp://x:1", "host:port", "host:99999", "http://a:1/ui", "http://me:secret@a:1", "a:1?x=1", "http://"]
)
def test_what_is_no_address_is_refused_with_what_it_may_be(text: str) -> None:
    with pytest.raises(ConfigError, match="CONSUL_HTTP_ADDR must be") as caught:
        parse_address(text)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "wrong", [{"wait": 300.0}, {"heartbeat": 0.1}, {"keep": -1.0}, {"timeout": 0.0}, {"max_watches": 0}]
)
def test_settings_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        DiscoverySettings(**wrong)  # type: ignore[arg-type]  # max_watches is an int


def test_the_token_is_not_in_the_settings_own_words() -> None:
    assert "s3cret" not in repr(DiscoverySettings(token="s3cret"))
