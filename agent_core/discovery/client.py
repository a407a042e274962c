"""Consul's HTTP API as discovery uses it: every call bounded, every failure a sentence that says what to do."""

import asyncio
import os
import re
import ssl
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import aiohttp
import orjson
from consul.exceptions import ACLDisabled, ACLPermissionDenied, ConsulException

from agent_core.discovery.http import Consul
from agent_core.discovery.settings import DiscoverySettings, parse_address
from agent_core.domain.errors import ConfigError, RegistryError
from skillmesh.conventions import SERVICE_NAME

T = TypeVar("T")

_PLAIN_CONNECTIONS: Final = 8
_SPARE_POLLS: Final = 10
_MAX_REASON_CHARS: Final = 200
_MAX_INDEX: Final = 2**64 - 1
_INDEX: Final = re.compile(r"[0-9]{1,20}")
_CLOSE_SECONDS: Final = 1.0
_GRANT: Final = "set CONSUL_HTTP_TOKEN to a token whose ACL policy grants service:read and node:read"


class DeniedError(RegistryError):
    """Consul's ACL rules keep something from this token."""

    retryable = False


class UnreachableError(RegistryError):
    """No answer at all: nobody there, a connection lost, or silence."""


@dataclass(frozen=True, slots=True)
class Answer:
    """`index` is X-Consul-Index, 0 where it is missing or odd. `filtered`: Consul says that ACLs hid something."""

    index: int
    body: object
    filtered: bool


class ConsulClient:
    """Two py-consul clients, so that long polls never keep a plain query waiting. Needs a running event loop."""

    def __init__(self, settings: DiscoverySettings) -> None:
        self._settings = settings
        self._address = parse_address(settings.address)
        tls = _tls(settings.ca_file) if self._address.scheme == "https" else None
        polls = settings.max_watches + _SPARE_POLLS
        self._polls = Consul(self._address, settings.token, connections=polls, tls=tls, polls=True)
        self._plain = Consul(self._address, settings.token, connections=_PLAIN_CONNECTIONS, tls=tls, polls=False)

    @property
    def url(self) -> str:
        return self._address.url

    async def services(self, index: int = 0, wait: float = 0.0) -> Answer:
        """All services: name -> tags. Raises RegistryError, as all calls here."""
        return await self._read("/v1/catalog/services", index, wait)

    async def instances(self, service: str, index: int = 0, wait: float = 0.0) -> Answer:
        """The instances of one service that bear the tag, with all their checks, passing or not."""
        return await self._read(f"/v1/health/service/{_checked(service)}", index, wait, (("tag", self._settings.tag),))

    async def checks(self, index: int = 0, wait: float = 0.0) -> Answer:
        """Every check of every service and node."""
        return await self._read("/v1/health/state/any", index, wait)

    async def is_denied(self) -> bool:
        """Whether an answer without any service is empty because the ACL rules hide all: asks about the agent."""
        try:
            await self._read("/v1/agent/self", 0, 0.0)
        except DeniedError:
            return True
        except RegistryError:  # says nothing about rights; if it lasts, the next query tells
            return False
        return False

    async def sees_no_node(self) -> bool:
        """Whether the ACL rules hide the nodes, and with them all instances: a Consul has at least one node."""
        try:
            return (await self._read("/v1/catalog/nodes", 0, 0.0)).body == []
        except DeniedError:
            return True
        except RegistryError:
            return False

    async def registered(self, name: str) -> frozenset[str]:
        """Ids of the service's instances in the catalogue, whatever their tags and checks."""
        body = (await self._read(f"/v1/health/service/{_checked(name)}", 0, 0.0)).body
        services = [entry.get("Service") for entry in body if isinstance(entry, dict)] if isinstance(body, list) else []
        return frozenset(str(service.get("ID")) for service in services if isinstance(service, dict))

    async def register(self, name: str, **registration: Any) -> None:  # noqa: ANN401  # py-consul's own parameters
        """Register a service with the local agent."""
        await self._write(self._plain.agent.service.register(_checked(name), **registration))

    async def deregister(self, instance: str) -> None:
        """Remove a service instance from the local agent."""
        await self._write(self._plain.agent.service.deregister(instance))

    def denied(self, what: str) -> DeniedError:
        """The error for an answer that is empty because of ACL rules."""
        return DeniedError(f"Consul at {self.url} shows this token {what} (ACL: permission denied): {_GRANT}.")

    async def close(self) -> None:
        """Close all connections, and with them the long polls."""
        for client in (self._polls, self._plain):
            try:
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await client.close()
            except TimeoutError:  # a TLS peer that does not say goodbye; its transports are closed all the same
                continue

    async def _read(self, path: str, index: int, wait: float, params: tuple[tuple[str, object], ...] = ()) -> Answer:
        client = self._plain
        limit = self._settings.timeout
        if index:
            client = self._polls
            params = (*params, ("index", index), ("wait", _duration(wait)))
            limit += wait + wait / 16  # Consul spreads the ends of long polls by a sixteenth
        request = client.http.get(self._answer, path, params=params, headers=client.prepare_headers(None))
        return await self._bounded(request, limit)

    def _answer(self, response: Any) -> Answer:  # noqa: ANN401  # py-consul's Response
        if response.code != 200:
            raise self._refusal(response.code, response.body)
        try:
            body = orjson.loads(response.body)
        except orjson.JSONDecodeError:
            message = f"{self.url} answers what is not JSON: set CONSUL_HTTP_ADDR to Consul's HTTP API."
            raise RegistryError(message) from None
        filtered = response.headers.get("X-Consul-Results-Filtered-By-ACLs", "").lower() == "true"
        return Answer(_index(response.headers.get("X-Consul-Index", "")), body, filtered)

    async def _write(self, request: Awaitable[object]) -> None:
        if await self._bounded(request, self._settings.timeout) is not True:  # py-consul's answer to a 404
            raise self._refusal(404, "")

    async def _bounded(self, request: Awaitable[T], seconds: float) -> T:
        try:
            async with asyncio.timeout(seconds):
                return await request
        except TimeoutError:
            message = (
                f"Consul at {self.url} takes connections or packets but did not answer within {seconds:.0f} s: "
                "check that the agent runs, and that CONSUL_HTTP_ADDR points to it."
            )
            raise UnreachableError(message) from None
        except (aiohttp.ClientError, OSError) as error:
            reason = self._clean(_reason(error))
            message = f"Consul at {self.url} cannot be reached ({reason}): start it, or set CONSUL_HTTP_ADDR."
            raise UnreachableError(message) from None
        except (ACLPermissionDenied, ACLDisabled) as error:
            raise self._refusal(403, str(error)) from None
        except ConsulException as error:
            status = re.match(r"[0-9]{3}\b", str(error))
            raise self._refusal(int(status.group()) if status else 400, str(error)) from None

    def _refusal(self, status: int, text: str) -> RegistryError:
        reason = self._clean(text)
        if status in (401, 403):
            return DeniedError(f"Consul at {self.url} refuses this token (ACL: {reason}): {_GRANT}.")
        if status >= 500 or status == 429:
            return RegistryError(f"Consul at {self.url} answers {status} ({reason}): see its log; it is asked again.")
        return RegistryError(f"{self.url} answers {status} ({reason}): set CONSUL_HTTP_ADDR to Consul's HTTP API.")

    def _clean(self, text: str) -> str:
        line = " ".join(text.split())
        if self._settings.token:
            line = line.replace(self._settings.token, "<token>")
        return line[:_MAX_REASON_CHARS] or "no reason given"


def _checked(name: str) -> str:
    """The name, fit for a path: py-consul does not escape it."""
    if not SERVICE_NAME.fullmatch(name):
        message = f"service name {name[:80]!r} is not usable: lower-case letters, digits and hyphens, 63 at most."
        raise RegistryError(message)
    return name


def _reason(error: aiohttp.ClientError | OSError) -> str:
    """The HTTP library words its connection errors for itself; the system's own words are plainer."""
    if isinstance(error, aiohttp.ClientSSLError):
        return "the TLS handshake failed; is it an http:// address?"
    number = error.errno if isinstance(error, OSError) else None
    if number is None or number <= 0:  # a name that does not resolve has a negative one
        return str(error) or type(error).__name__
    return os.strerror(number).lower()


def _index(text: str) -> int:
    return min(int(text), _MAX_INDEX) if _INDEX.fullmatch(text) else 0


def _duration(seconds: float) -> str:
    return f"{int(seconds)}s" if seconds == int(seconds) else f"{int(seconds * 1000)}ms"


def _tls(ca_file: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file or None)
    except OSError as error:
        message = f"the CA file {ca_file} for Consul cannot be used: {error}"
        raise ConfigError(message) from None
