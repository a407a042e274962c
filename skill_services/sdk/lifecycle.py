"""The life of one skill service: open port, serve, join Consul; leave Consul, drain, stop."""

import asyncio
import logging
import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from opentelemetry import trace

from skill_services.sdk.address import Address, advertised
from skill_services.sdk.errors import SkillDefinitionError
from skill_services.sdk.registration import Registration
from skill_services.sdk.registry import Entry, Registry
from skill_services.sdk.runtime import Runtime, RuntimeOptions
from skill_services.sdk.server import SkillServer
from skill_services.sdk.servicer import SkillServicer
from skill_services.sdk.settings import ServiceSettings
from skill_services.sdk.skill import BaseSkill
from skill_services.sdk.tracing import ServerTracing
from skillmesh.conventions import SERVICE_NAME
from skillmesh.otel import Tracing
from skillmesh.v1.skill_pb2 import SkillDescriptor

_logger = logging.getLogger("skillmesh.sdk")
_LEAVE_SECONDS: Final = 2.0
_LAST_REPLIES_SECONDS: Final = 1.0
_FLUSH_SECONDS: Final = 5.0
_BEYOND_GRACE_SECONDS: Final = 1.5  # what stopping may take after the grace period


class Service:
    """One service in this process. Make it within the event loop; `start` once, `drain` once.

    With `own_tracing` it sets the process's tracer provider and exporters; without, it uses those that are there.
    """

    def __init__(
        self,
        name: str,
        skills: Sequence[BaseSkill],
        *,
        version: str,
        settings: ServiceSettings,
        own_tracing: bool,
        tracer_provider: trace.TracerProvider | None = None,
    ) -> None:
        if not SERVICE_NAME.fullmatch(name):
            raise SkillDefinitionError(
                f"{name!r} is no service name: use lower-case letters, digits and inner hyphens, at most 63 characters."
            )
        self.name = name
        self._version = version
        self._settings = settings
        self._own_tracing = own_tracing
        self._tracer_provider = tracer_provider
        self._runtime = Runtime(skills, _runtime_options(settings))
        self._server = SkillServer(settings.max_message_bytes)
        self._tracing: Tracing | None = None
        self._registration: Registration | None = None
        self._joining: asyncio.Task[None] | None = None
        self.address = Address("", 0)
        self.instance = ""

    @property
    def registration(self) -> Registration | None:
        """None where SKILLMESH_REGISTER is off."""
        return self._registration

    async def start(self) -> None:
        """Serve; joining Consul and starting to export go on in the background.

        Raises:
            PortError: the port cannot be opened.
        """
        settings = self._settings
        await self._runtime.start(self._skills_changed)
        try:
            port = self._server.bind(settings.host, settings.port)
            self.address = advertised(settings.host, port, settings.advertise)
            self.instance = settings.instance_id or f"{self.name}-{self.address.slug}"
            if self._own_tracing:
                self._tracing = Tracing(self.name, self._version, self.instance)
            skills = self._runtime.describe().skills
            versions = {skill.name: skill.version for skill in skills}
            spans = ServerTracing(self.instance, versions, self._tracer_provider)
            await self._server.start(SkillServicer(self._runtime, spans))
        except BaseException:
            await self._runtime.stop()
            raise
        _logger.info("Ready: %s at %s with %s.", self.name, self.address, ", ".join(versions) or "no skills")
        for sentence in unmet(skills):
            _logger.warning("%s", sentence)
        if settings.registered:
            self._registration = Registration(_registry(settings), self._entry())
        self._joining = asyncio.create_task(self._join(), name="skillmesh-joining")

    async def drain(self) -> None:
        """Leave Consul, say NOT_SERVING, let watchers catch up, refuse, finish, stop, flush. Within grace + 2 s."""
        settings = self._settings
        started = time.monotonic()
        grace_ends = started + settings.grace_seconds
        _logger.info("Stopping %s: %d calls run.", self.name, self._runtime.running)
        if self._joining is not None:
            self._joining.cancel()
            await asyncio.wait((self._joining,))
        if self._registration is not None:
            await self._registration.leave(min(_LEAVE_SECONDS, settings.grace_seconds + 0.5))
        await self._server.leave()
        await asyncio.sleep(max(0.0, min(settings.drain_seconds, grace_ends - time.monotonic())))
        self._runtime.refuse_new_calls()
        try:
            async with asyncio.timeout_at(_loop_time(grace_ends)):
                await self._runtime.idle()
        except TimeoutError:
            _logger.warning("The grace period is over: %d calls are cancelled.", self._runtime.running)
        await self._server.stop(max(0.0, min(_LAST_REPLIES_SECONDS, grace_ends - time.monotonic())))
        await self._runtime.stop()
        if self._tracing is not None:
            left = grace_ends + _BEYOND_GRACE_SECONDS - time.monotonic()
            if not await _in_daemon_thread(self._tracing.stop, min(_FLUSH_SECONDS, max(0.1, left))):
                _logger.warning("The trace collector did not take the last spans in time; they are lost.")
        _logger.info("Stopped %s after %.1f s.", self.name, time.monotonic() - started)

    async def _join(self) -> None:
        # Exporters first: a call that came before them would miss from its trace, and calls come within
        # milliseconds of the registration. Without a collector in the environment this costs nothing.
        if self._tracing is not None and not await _in_daemon_thread(self._tracing.start_exporting, _FLUSH_SECONDS):
            _logger.warning("Trace exporters could not be started; see OTEL_EXPORTER_OTLP_ENDPOINT.")
        if self._registration is not None:
            self._registration.start()

    def _skills_changed(self) -> None:
        if self._registration is not None:
            self._registration.update(self._runtime.fingerprint)

    def _entry(self) -> Entry:
        return Entry(
            service=self.name,
            instance=self.instance,
            address=self.address,
            version=self._version,
            fingerprint=self._runtime.fingerprint,
            pid=os.getpid(),
            ttl=self._settings.check == "ttl",
            interval=self._settings.check_interval,
        )


@asynccontextmanager
async def running_service(
    name: str,
    skills: Sequence[BaseSkill],
    *,
    version: str = "0.0.0",
    settings: ServiceSettings | None = None,
    tracer_provider: trace.TracerProvider | None = None,
) -> AsyncIterator[Service]:
    """A service within this process, for tests and embedding; `.address` is where it listens. Drains at the end.

    Reads the environment where no settings are given; leaves logging, signals and the tracer provider alone.
    """
    service = Service(
        name,
        skills,
        version=version,
        settings=settings or ServiceSettings(),
        own_tracing=False,
        tracer_provider=tracer_provider,
    )
    await service.start()
    try:
        yield service
    finally:
        await service.drain()


def _runtime_options(settings: ServiceSettings) -> RuntimeOptions:
    return RuntimeOptions(
        max_concurrent_calls=settings.max_concurrent_calls,
        threads=settings.threads,
        max_message_bytes=settings.max_message_bytes,
        operator_defaults=settings.skill_defaults,
        prerequisite_interval=settings.prerequisite_interval,
    )


def _registry(settings: ServiceSettings) -> Registry:
    verify: bool | str = settings.consul_ca or True
    return Registry(
        settings.consul,
        settings.consul_token.get_secret_value(),
        verify=verify if settings.consul_ssl_verify else False,
    )


def _loop_time(monotonic: float) -> float:
    """The event loop's clock need not be time.monotonic()."""
    return asyncio.get_running_loop().time() + monotonic - time.monotonic()


async def _in_daemon_thread(work: Callable[[], object], seconds: float) -> bool:
    """Whether `work` finished in time; one that hangs holds up neither the loop nor the end of the process."""
    loop = asyncio.get_running_loop()
    done = asyncio.Event()
    succeeded = False

    def run() -> None:
        nonlocal succeeded
        try:
            work()
            succeeded = True
        except Exception as error:  # noqa: BLE001  # whatever an exporter raises over its settings
            _logger.warning("Tracing failed (%s: %s); calls go on without it.", type(error).__name__, error)
        finally:
            try:
                loop.call_soon_threadsafe(done.set)
            except RuntimeError:  # the loop was closed meanwhile: nobody waits
                _logger.debug("finished after the event loop")

    threading.Thread(target=run, daemon=True, name="skillmesh-tracing").start()
    try:
        async with asyncio.timeout(seconds):
            await done.wait()
    except TimeoutError:
        return False
    return succeeded


def unmet(skills: Iterable[SkillDescriptor]) -> Iterator[str]:
    """A sentence for each skill that is not offered, with what it waits for."""
    for skill in skills:
        reasons = [one.reason or one.name for one in skill.prerequisites if not one.met]
        if reasons:
            yield f"{skill.name} is not offered yet: {'; '.join(reasons)}"
