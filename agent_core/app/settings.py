"""What the core can be told, by environment or TOML file. The environment wins; names follow each ecosystem's own."""

import os
from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, AliasChoices, Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from agent_core.domain.errors import ConfigError
from skillmesh.conventions import MAX_MESSAGE_BYTES

DEFAULT_CORE_PORT = 7400
CONFIG_VARIABLE = "SKILLMESH_CONFIG"


def _printable(value: SecretStr) -> SecretStr:
    """Header values are printable ASCII (RFC 9110 section 5.5)."""
    secret = value.get_secret_value()
    if not (secret.isascii() and secret.isprintable()):
        message = "must be printable ASCII without line ends"
        raise ValueError(message)
    return value


def _zone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        message = "must be an IANA time zone such as Europe/Berlin"
        raise ValueError(message) from None
    return value


Secret = Annotated[SecretStr, AfterValidator(_printable)]


def _base_url(value: str) -> str:
    if not value.startswith(("http://", "https://")):
        message = "must start with http:// or https://"
        raise ValueError(message)
    return value.rstrip("/")


def _ecosystem(name: str, key: str) -> AliasChoices:
    """A setting whose environment name is not ours; `key` is its name in the TOML file."""
    return AliasChoices(name, key)


class CoreSettings(BaseSettings):
    """Settings of the agent core; times are in seconds."""

    model_config = SettingsConfigDict(env_prefix="SKILLMESH_", extra="forbid", env_ignore_empty=True)

    consul_addr: str = Field("127.0.0.1:8500", validation_alias=_ecosystem("CONSUL_HTTP_ADDR", "consul_addr"))
    consul_token: Secret | None = Field(None, validation_alias=_ecosystem("CONSUL_HTTP_TOKEN", "consul_token"))
    consul_timeout: float = Field(5.0, gt=0, le=120, description="Longest wait for the first catalogue.")
    empty_grace: float = Field(15.0, ge=0, le=600, description="How long a registry that came back empty is doubted.")

    openai_api_key: Secret | None = Field(None, validation_alias=_ecosystem("OPENAI_API_KEY", "openai_api_key"))
    openai_base_url: Annotated[str, AfterValidator(_base_url)] = Field(
        "https://api.openai.com/v1", validation_alias=_ecosystem("OPENAI_BASE_URL", "openai_base_url")
    )
    model: str = Field("", max_length=256)
    max_tokens: int = Field(2_048, ge=1, le=1_000_000)

    allow: Literal["observer", "operator", "admin"] = "observer"
    max_turns: int = Field(8, ge=1, le=100)
    run_timeout: float = Field(120.0, gt=0, le=86_400)
    max_message_bytes: int = Field(MAX_MESSAGE_BYTES, ge=1_024, le=256 * 1024 * 1024)
    cache_entries: int = Field(1_024, ge=0, le=1_000_000)
    cache_bytes: int = Field(64 * 1024 * 1024, ge=0)
    time_zone: Annotated[str, AfterValidator(_zone)] = Field("UTC", max_length=64)

    core_host: str = "127.0.0.1"
    core_port: int = Field(DEFAULT_CORE_PORT, ge=0, le=65_535)
    insecure: bool = Field(default=False, description="Serve without TLS and identities beyond loopback.")
    grace_seconds: float = Field(10.0, ge=0, le=600)
    trace_collector: str = ""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] | None = Field(
        None, description="Default: INFO where a command serves, ERROR where it answers."
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        del dotenv_settings, file_secret_settings
        path = os.environ.get(CONFIG_VARIABLE)
        if not path:
            return init_settings, env_settings
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, _existing(path))


def load_settings() -> CoreSettings:
    """Read the environment and the file that SKILLMESH_CONFIG names. Raises ConfigError, a sentence per problem."""
    try:
        return CoreSettings()  # type: ignore[call-arg]  # fields with an alias look required to mypy
    except ValidationError as error:
        sentences = [_sentence(dict(problem)) for problem in error.errors(include_input=False)]
        raise ConfigError("\n".join(sentences)) from None
    except ValueError as error:  # the TOML file does not parse
        raise ConfigError(f"{os.environ.get(CONFIG_VARIABLE)}, which {CONFIG_VARIABLE} names: {error}") from None


def _existing(path: str) -> Path:
    if not Path(path).is_file():
        raise ConfigError(f"{CONFIG_VARIABLE} names {path}, which is no file. Correct the path or unset it.")
    return Path(path)


def _sentence(problem: dict[str, object]) -> str:
    """Name the setting and what it may be; never its value, which may be a secret."""
    location = problem["loc"]
    name = str(location[0]) if isinstance(location, tuple) and location else "settings"
    if problem["type"] == "extra_forbidden":
        return f"{CONFIG_VARIABLE}: the file has a key that there is not: {name}."
    variable = name if name.isupper() else f"SKILLMESH_{name.upper()}"
    reason = str(problem["msg"]).removeprefix("Value error, ").removeprefix("Input ").replace("should be", "must be")
    return f"{variable} is wrong: it {reason}."
