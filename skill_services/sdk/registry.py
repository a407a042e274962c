"""The Consul agent as one instance sees it: each request bounded in time, each failure a sentence without secrets."""

import asyncio
import importlib
import re
import warnings
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from skill_services.sdk.address import Address
from skill_services.sdk.settings import INSTANCE_ID, ConsulAddress
from skillmesh.conventions import (
    CONSUL_TAG,
    META_FINGERPRINT,
    META_PID,
    META_PROTOCOL,
    META_VERSION,
    PROTOCOL,
    SERVICE_NAME,
    SKILL_SERVICE,
)

_T = TypeVar("_T")
_CHECK_TIMEOUT: Final = "1s"
_DEREGISTER_AFTER: Final = "1m"  # Consul's own floor
_TTL_BEATS: Final = 3
_MAX_SAID: Final = 200
_UNKNOWN: Final = re.compile(r"CheckID|associated TTL|unknown (check|service)", re.IGNORECASE)


class RegistryError(Exception):
    """Consul cannot be reached, is slow, or refuses; the message is a sentence and shows no token."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One instance's registration. `interval` is the check's, in seconds; with a TTL check, that of the heartbeat."""

    service: str
    instance: str
    address: Address
    version: str
    fingerprint: str
    pid: int
    ttl: bool = False
    interval: float = 2.0
    check_id: str = field(init=False)

    def __post_init__(self) -> None:
        # py-consul writes both into URL paths as they are.
        if not SERVICE_NAME.fullmatch(self.service) or not INSTANCE_ID.fullmatch(self.instance):
            raise ValueError(f"{self.service!r} or {self.instance!r} is no name that Consul can hold")
        object.__setattr__(self, "check_id", f"service:{self.instance}")

    @property
    def meta(self) -> dict[str, str]:
        return {
            META_PROTOCOL: PROTOCOL,
            META_FINGERPRINT: self.fingerprint,
            META_VERSION: self.version,
            META_PID: str(self.pid),
        }

    @property
    def check(self) -> dict[str, str]:
        """The agent's own spelling; it starts as passing, as the port is open by now."""
        shared = {
            "checkid": self.check_id,
            "status": "passing",
            "DeregisterCriticalServiceAfter": _DEREGISTER_AFTER,
        }
        if self.ttl:
            return {"ttl": _duration(self.interval * _TTL_BEATS), **shared}
        return {
            "grpc": f"{self.address}/{SKILL_SERVICE}",
            "interval": _duration(self.interval),
            "timeout": _CHECK_TIMEOUT,
            **shared,
        }

    def owns(self, found: Mapping[str, Any]) -> bool:
        """Whether what the agent holds under our id was registered by this process."""
        meta = found.get("Meta") or {}
        return (
            found.get("Service") == self.service
            and found.get("Address") == self.address.host
            and found.get("Port") == self.address.port
            and meta.get(META_PID) == str(self.pid)
        )

    def current(self, found: Mapping[str, Any]) -> bool:
        """Whether what the agent holds is this very entry."""
        return self.owns(found) and found.get("Meta") == self.meta


class Registry:
    """Made without cost; the client is imported and built by the first request, in a thread as that takes 0.5 s."""

    def __init__(
        self,
        address: ConsulAddress,
        token: str = "",
        *,
        verify: bool | str = True,
        timeout: float = 3.0,
    ) -> None:
        self._address = address
        self._token = token
        # For plain http a TLS context would be built and never used.
        self._verify = verify if address.scheme == "https" else False
        self._timeout = timeout
        self._client: Any = None

    @property
    def url(self) -> str:
        return self._address.url

    async def register(self, entry: Entry) -> None:
        """Put the entry, in place of whatever the agent holds under its id."""
        client = await self._connected()
        accepted = await self._bounded(
            client.agent.service.register(
                entry.service,
                service_id=entry.instance,
                address=entry.address.host,
                port=entry.address.port,
                tags=[CONSUL_TAG],
                meta=entry.meta,
                check=entry.check,
                replace_existing_checks=True,
                token=self._token,
            )
        )
        if not accepted:
            raise RegistryError(f"Consul at {self.url} did not accept the registration of {entry.instance}.")

    async def held(self, entry: Entry) -> Mapping[str, Any] | None:
        """What the agent holds under the entry's id; None where it holds nothing, or the token may not see it."""
        client = await self._connected()
        services = await self._bounded(
            client.agent.services(filter_expr=f'ID == "{entry.instance}"', token=self._token)
        )
        found = services.get(entry.instance) if isinstance(services, dict) else None
        return found if isinstance(found, dict) else None

    async def listed(self, entry: Entry) -> bool:
        """Whether the catalogue that other processes read has the entry."""
        client = await self._connected()
        _, nodes = await self._bounded(
            client.health.service(entry.service, filter_expr=f'Service.ID == "{entry.instance}"', token=self._token)
        )
        return any(node.get("Service", {}).get("ID") == entry.instance for node in nodes or ())

    async def beat(self, entry: Entry) -> bool:
        """Renew the TTL check; False where the agent knows no such check."""
        client = await self._connected()
        try:
            return bool(await self._bounded(client.agent.check.ttl_pass(entry.check_id, token=self._token)))
        except RegistryError as error:
            if _UNKNOWN.search(str(error)):
                return False
            raise

    async def deregister(self, entry: Entry) -> None:
        """Take the entry out; one that is not there is no error."""
        client = await self._connected()
        try:
            await self._bounded(client.agent.service.deregister(entry.instance, token=self._token))
        except RegistryError as error:
            if not _UNKNOWN.search(str(error)):
                raise

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._timeout):
                    await client.close()

    async def _connected(self) -> Any:  # noqa: ANN401  # the client has no types
        if self._client is None:
            module = await asyncio.to_thread(importlib.import_module, "consul.aio")
            host = f"[{self._address.host}]" if ":" in self._address.host else self._address.host
            with warnings.catch_warnings():
                # py-consul still spells TLS the way aiohttp deprecates; an operator can do nothing about it.
                warnings.simplefilter("ignore", DeprecationWarning)
                self._client = module.Consul(
                    host=host, port=self._address.port, scheme=self._address.scheme, verify=self._verify
                )
            # py-consul lets the environment win over its own argument; what counts here are the settings.
            self._client.token = self._token
        return self._client

    async def _bounded(self, request: Awaitable[_T]) -> _T:
        from aiohttp import ClientError  # comes with the client, and is as slow to import
        from consul import ConsulException
        from consul.exceptions import ACLDisabled, ACLPermissionDenied

        try:
            async with asyncio.timeout(self._timeout):
                return await request
        except TimeoutError:
            raise RegistryError(f"Consul at {self.url} did not answer within {self._timeout:g} s.") from None
        except (ACLPermissionDenied, ACLDisabled):
            raise RegistryError(self._denied) from None
        except (ClientError, OSError) as error:
            raise RegistryError(
                f"Consul at {self.url} cannot be reached ({type(error).__name__}): start it or set CONSUL_HTTP_ADDR. "
                "The service serves meanwhile, and goes on trying to register."
            ) from None
        except (ConsulException, ValueError, KeyError) as error:
            raise RegistryError(f"Consul at {self.url} answered with an error: {self._said(error)}") from None

    @property
    def _denied(self) -> str:
        token = "the ACL token in CONSUL_HTTP_TOKEN" if self._token else "requests without an ACL token"
        return (
            f"Consul at {self.url} refuses {token}: set CONSUL_HTTP_TOKEN to one with service:write for this service."
        )

    def _said(self, error: Exception) -> str:
        text = " ".join(str(error).split())
        if self._token:
            text = text.replace(self._token, "***")
        return text[:_MAX_SAID]


def _duration(seconds: float) -> str:
    return f"{round(seconds * 1_000)}ms"
