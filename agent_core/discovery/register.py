"""The core's own entry in Consul, for skills and clients that call MeshService. Never in the way of serving."""

import asyncio
import logging
import re
from dataclasses import dataclass
from random import Random
from typing import Final

from consul import Check

from agent_core.discovery.client import ConsulClient, DeniedError
from agent_core.discovery.pace import Backoff
from agent_core.discovery.settings import DiscoverySettings
from agent_core.discovery.targets import host_port
from agent_core.domain.errors import RegistryError
from skillmesh.conventions import CONSUL_CORE_SERVICE, MESH_SERVICE, META_PROTOCOL, META_VERSION, PROTOCOL

_log = logging.getLogger(__name__)

_LOOK_SECONDS: Final = 5.0
_APPEAR_SECONDS: Final = 2.0
_APPEAR_STEP_SECONDS: Final = 0.1
_STOP_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreEndpoint:
    """Where MeshService is served, as others reach it; `instance` empty: made of host and port."""

    host: str
    port: int
    version: str
    instance: str = ""

    @property
    def id(self) -> str:
        return self.instance or re.sub(r"[^a-zA-Z0-9-]+", "-", f"{CONSUL_CORE_SERVICE}-{self.host}-{self.port}")


class CoreRegistration:
    """Registered while started: entered in the background, looked after, entered again where Consul lost it."""

    def __init__(self, settings: DiscoverySettings, endpoint: CoreEndpoint, *, random: Random | None = None) -> None:
        self._settings, self._endpoint = settings, endpoint
        self._random = random if random is not None else Random()  # noqa: S311  # jitter, no secret
        self._client: ConsulClient | None = None
        self._task: asyncio.Task[None] | None = None
        self._registered = asyncio.Event()
        self.error = ""

    async def start(self) -> None:
        """Begin to register; returns at once. Call it once the port is open."""
        self._client = ConsulClient(self._settings)
        self._task = asyncio.create_task(self._look_after(self._client), name="register the core")

    async def wait_registered(self, timeout: float = 10.0) -> None:
        """Wait until the entry is in Consul's catalogue. Raises RegistryError."""
        try:
            async with asyncio.timeout(timeout):
                await self._registered.wait()
        except TimeoutError:
            raise RegistryError(self.error or f"the core is not registered after {timeout:.0f} s") from None

    async def stop(self) -> None:
        """Leave Consul, within a few seconds; what cannot be removed is by its failing check."""
        task, self._task = self._task, None
        client, self._client = self._client, None
        if task is None or client is None:
            return
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await client.deregister(self._endpoint.id)
        except (RegistryError, TimeoutError) as error:
            _log.warning("the core's entry %s stays in Consul until its check has failed: %s", self._endpoint.id, error)
        finally:
            await client.close()

    async def _look_after(self, client: ConsulClient) -> None:
        backoff = Backoff(self._random, first=self._settings.retry)
        entered = False
        while True:
            try:
                if not entered or self._endpoint.id not in await client.registered(CONSUL_CORE_SERVICE):
                    await self._enter(client)
                    entered = True
            except RegistryError as error:
                if str(error) != self.error:
                    _log.warning("the core is not registered: %s", error)
                self.error = str(error)
                await asyncio.sleep(backoff.delay())
                continue
            self.error = ""
            self._registered.set()
            backoff.reset()
            await asyncio.sleep(_LOOK_SECONDS * self._random.uniform(0.8, 1.2))

    async def _enter(self, client: ConsulClient) -> None:
        endpoint = self._endpoint
        check = Check.grpc(
            f"{host_port(endpoint.host, endpoint.port)}/{MESH_SERVICE}", "2s", timeout="1s", deregister="1m"
        )
        await client.register(
            CONSUL_CORE_SERVICE,
            service_id=endpoint.id,
            address=endpoint.host,
            port=endpoint.port,
            meta={META_PROTOCOL: PROTOCOL, META_VERSION: endpoint.version},
            check={**check, "status": "passing"},
        )
        # Consul's agent accepts what its servers then refuse: only reading it back tells.
        for _ in range(int(_APPEAR_SECONDS / _APPEAR_STEP_SECONDS)):
            if endpoint.id in await client.registered(CONSUL_CORE_SERVICE):
                return
            await asyncio.sleep(_APPEAR_STEP_SECONDS)
        message = (
            f"Consul took the registration of {endpoint.id} but does not list it (ACL: permission denied?): "
            f'set CONSUL_HTTP_TOKEN to a token whose ACL policy grants service:write on "{CONSUL_CORE_SERVICE}".'
        )
        raise DeniedError(message)
