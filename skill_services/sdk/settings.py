"""What an operator sets for one skill process, from the environment; the README has the table."""

import json
import re
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from skillmesh.conventions import MAX_MESSAGE_BYTES

INSTANCE_ID = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")  # goes into Consul's URL paths
_HOST = re.compile(r"[A-Za-z0-9._:%-]{1,253}")
_MAX_DEFAULTS_CHARS = 65_536


class SettingsError(Exception):
    """At least one setting is wrong; `problems` holds a sentence for each, without the value that was given."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__(" ".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class ConsulAddress:
    """Where the Consul agent's HTTP API is; `host` is without brackets."""

    scheme: str
    host: str
    port: int

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


class ServiceSettings(BaseSettings):
    """Each field is read from SKILLMESH_<FIELD>, or from the variable that its alias names; empty counts as not set."""

    model_config = SettingsConfigDict(
        env_prefix="SKILLMESH_", env_ignore_empty=True, extra="ignore", populate_by_name=True, hide_input_in_errors=True
    )

    host: str = "127.0.0.1"
    port: int = Field(default=0, ge=0, le=65_535)
    advertise: str = ""
    instance_id: str = ""
    registered: bool = Field(default=True, validation_alias="SKILLMESH_REGISTER")
    check: Literal["grpc", "ttl"] = "grpc"
    check_interval: float = Field(default=2.0, ge=0.5, le=300)
    max_concurrent_calls: int = Field(default=64, ge=1, le=100_000)
    max_message_bytes: int = Field(default=MAX_MESSAGE_BYTES, ge=16 * 1024, le=1024 * 1024 * 1024)
    grace_seconds: float = Field(default=10.0, ge=0, le=3_600)
    drain_seconds: float = Field(default=0.5, ge=0, le=300)
    threads: int = Field(default=8, ge=1, le=1_024)
    prerequisite_interval: float = Field(default=5.0, ge=0.1, le=3_600)
    skill_defaults: Annotated[dict[str, dict[str, object]], NoDecode] = Field(default_factory=dict)
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    parent_pid: int | None = Field(default=None, ge=1)
    consul_address: Annotated[ConsulAddress, NoDecode] = Field(
        default=ConsulAddress("http", "127.0.0.1", 8500), validation_alias="CONSUL_HTTP_ADDR"
    )
    consul_token: SecretStr = Field(default=SecretStr(""), validation_alias="CONSUL_HTTP_TOKEN")
    consul_ssl: bool = Field(default=False, validation_alias="CONSUL_HTTP_SSL")
    consul_ssl_verify: bool = Field(default=True, validation_alias="CONSUL_HTTP_SSL_VERIFY")
    consul_ca: str = Field(default="", validation_alias="CONSUL_CACERT")

    @field_validator("host")
    @classmethod
    def _host(cls, value: str) -> str:
        if not _HOST.fullmatch(value):
            raise ValueError("must be a host name or an IP address")
        return value

    @field_validator("advertise")
    @classmethod
    def _advertise(cls, value: str) -> str:
        if value:
            split_host_port(value)
        return value

    @field_validator("instance_id")
    @classmethod
    def _instance_id(cls, value: str) -> str:
        if value and not INSTANCE_ID.fullmatch(value):
            raise ValueError("may hold letters, digits, dots, underscores and hyphens only, at most 128")
        return value

    @field_validator("log_level", mode="before")
    @classmethod
    def _log_level(cls, value: object) -> object:
        return value.upper() if isinstance(value, str) else value

    @field_validator("skill_defaults", mode="before")
    @classmethod
    def _skill_defaults(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        if len(value) > _MAX_DEFAULTS_CHARS:
            raise ValueError(f"must be at most {_MAX_DEFAULTS_CHARS} characters")
        try:
            return json.loads(value)
        except (ValueError, RecursionError) as error:
            raise ValueError('must be JSON such as {"skill": {"parameter": "value"}}') from error

    @field_validator("consul_address", mode="before")
    @classmethod
    def _consul_address(cls, value: object) -> object:
        return parse_consul_address(value) if isinstance(value, str) else value

    @property
    def consul(self) -> ConsulAddress:
        """The agent's address, with CONSUL_HTTP_SSL applied."""
        address = self.consul_address
        return ConsulAddress("https", address.host, address.port) if self.consul_ssl else address


def load_settings() -> ServiceSettings:
    """Settings from the environment.

    Raises:
        SettingsError: with every problem at once.
    """
    try:
        return ServiceSettings()
    except ValidationError as error:
        raise SettingsError(tuple(_sentence(problem["loc"], problem["msg"]) for problem in error.errors())) from None


def parse_consul_address(text: str) -> ConsulAddress:
    """`host:port`, `host`, or an http(s) URL; as Consul's own tools read CONSUL_HTTP_ADDR, sockets aside.

    Raises:
        ValueError: with a sentence.
    """
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    host = parts.hostname or ""
    if parts.scheme not in {"http", "https"} or not _HOST.fullmatch(host) or parts.path not in {"", "/"}:
        raise ValueError("must be host:port or a URL such as http://127.0.0.1:8500")
    return ConsulAddress(parts.scheme, host, 8500 if port is None else port)


def split_host_port(text: str) -> tuple[str, int | None]:
    """`host`, `host:port`, `[v6]:port` or a bare IPv6 address; the host comes back without brackets.

    Raises:
        ValueError: with a sentence.
    """
    if text.count(":") > 1 and not text.startswith("["):
        host, port_text = text if _is_ipv6(text) else "", ""
    elif text.startswith("["):
        host, closed, rest = text[1:].partition("]")
        port_text = rest.removeprefix(":")
        if not closed or (rest and not rest.startswith(":")):
            host = ""
    else:
        host, _, port_text = text.partition(":")
    if not _HOST.fullmatch(host):
        raise ValueError("must be host or host:port, an IPv6 address with a port in brackets")
    if not port_text:
        return host, None
    if not port_text.isascii() or not port_text.isdigit() or not 1 <= int(port_text[:6]) <= 65_535:
        raise ValueError("must have a port from 1 to 65535 after the colon")
    return host, int(port_text)


def _is_ipv6(text: str) -> bool:
    try:
        IPv6Address(text)
    except ValueError:
        return False
    return True


def _sentence(location: tuple[int | str, ...], message: str) -> str:
    field = str(location[0]) if location else ""
    variable = field if field.isupper() else f"SKILLMESH_{field.upper()}"
    said = message.removeprefix("Value error, ").removeprefix("Input ")
    said = said.replace("should be", "must be").rstrip(".")
    return f"{variable} {said}."
