"""`skillmesh doctor`: asks every part of the mesh how it is."""

import asyncio
import importlib.metadata
import os
import platform
import time
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import urlsplit

import aiohttp

from agent_core.app import environment
from agent_core.app.exits import Exit
from agent_core.app.findings import Finding, Level, show
from agent_core.app.settings import CoreSettings
from agent_core.app.skill_views import why_unavailable
from agent_core.app.wiring import discovery_settings, open_core
from agent_core.discovery.settings import parse_address
from agent_core.domain.errors import ConfigError, RegistryError
from agent_core.domain.skill import Catalogue
from skillmesh import __version__

_TIMEOUT_SECONDS: Final = 5.0
_MAX_SKEW_SECONDS: Final = 2.0  # a Date header has whole seconds
_MAX_BODY_BYTES: Final = 4 * 1024 * 1024
_TRACE_VARIABLES: Final = (
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "SKILLMESH_TRACE_COLLECTOR",
)
_PACKAGES: Final = ("grpcio", "protobuf", "py-consul", "opentelemetry-sdk", "openai", "pybreaker")


async def diagnose(*, as_json: bool) -> Exit:
    """Check all there is and print what was found; exit 1 where something is wrong."""
    findings = [*_versions()]
    try:
        settings = environment.load()
    except ConfigError as error:
        findings.append(Finding("settings", Level.PROBLEM, str(error), "Correct it; `doctor` goes on from there."))
    else:
        findings.append(Finding("settings", Level.OK, environment.described()))
        findings += await _consul(settings)
        findings += await _services(settings)
        findings += await _model(settings)
        findings += await _exporters(os.environ)
    show(findings, as_json=as_json)
    return Exit.NO_RESULT if any(one.level is Level.PROBLEM for one in findings) else Exit.OK


def _versions() -> Iterator[Finding]:
    missing = []
    found = []
    for package in _PACKAGES:
        try:
            found.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            missing.append(package)
    yield Finding(
        "versions", Level.OK, f"skillmesh {__version__}, Python {platform.python_version()}, {', '.join(found)}"
    )
    if missing:
        yield Finding(
            "packages", Level.PROBLEM, f"not installed: {', '.join(missing)}", "pip install 'skillmesh-core[agent]'"
        )


async def _consul(settings: CoreSettings) -> list[Finding]:
    address = parse_address(settings.consul_addr)
    token = settings.consul_token.get_secret_value() if settings.consul_token else ""
    headers = {"X-Consul-Token": token} if token else {}
    answer = await _get(f"{address.url}/v1/status/leader", headers)
    if isinstance(answer, str):
        advice = "Start Consul or set CONSUL_HTTP_ADDR; without any: skillmesh up."
        return [Finding("consul", Level.PROBLEM, f"{address.url} does not answer ({answer})", advice)]
    status, date, body = answer
    if status in (401, 403):
        return [Finding("consul", Level.PROBLEM, "the token is refused", "Set CONSUL_HTTP_TOKEN to a valid token.")]
    if status == 404:
        advice = "Set CONSUL_HTTP_ADDR to Consul's HTTP API."
        return [Finding("consul", Level.PROBLEM, f"what answers at {address.url} is not Consul", advice)]
    if status != 200 or body.strip() in (b"", b'""'):
        return [
            Finding("consul", Level.PROBLEM, f"{address.url} has no leader ({status})", "See the Consul servers' logs.")
        ]
    return [Finding("consul", Level.OK, f"{address.url} answers and has a leader"), *_clock("consul", date)]


async def _services(settings: CoreSettings) -> list[Finding]:
    try:
        async with open_core(settings, with_model=False) as core:
            catalogue = core.catalogue.catalogue
    except RegistryError as error:
        url = parse_address(discovery_settings(settings).address).url
        return [Finding("services", Level.PROBLEM, str(error), f"Nothing is known of any service without {url}.")]
    return list(_catalogue(catalogue))


def _catalogue(catalogue: Catalogue) -> Iterator[Finding]:
    if not catalogue.instances:
        advice = "Start a skill service: skillmesh new NAME writes one."
        yield Finding("services", Level.WARNING, "no healthy skill service is registered", advice)
    for service, instances in catalogue.instances.items():
        skills = [skill for skill in catalogue.skills.values() if skill.service == service]
        versions = ", ".join(sorted({one.version for one in instances if one.version})) or "of no version"
        seen = (
            f"{len(instances)} healthy instance(s), {versions}; skills: {', '.join(s.name for s in skills) or 'none'}"
        )
        yield Finding(f"service {service}", Level.OK if skills else Level.WARNING, seen)
        for skill in skills:
            reason = why_unavailable(skill)
            if reason:
                yield Finding(f"skill {skill.name}", Level.PROBLEM, reason, "It is offered once that is mended.")
    for problem in catalogue.problems:
        yield Finding(f"service {problem.service}" if problem.service else "services", Level.PROBLEM, problem.sentence)


async def _model(settings: CoreSettings) -> list[Finding]:
    if not settings.model:
        advice = "Set SKILLMESH_MODEL (and OPENAI_API_KEY, OPENAI_BASE_URL); `skillmesh up` has a stand-in."
        return [Finding("model", Level.PROBLEM, "no model is set", advice)]
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else ""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    url = settings.openai_base_url
    answer = await _get(f"{url}/models", headers)
    if isinstance(answer, str):
        return [Finding("model", Level.PROBLEM, f"{url} does not answer ({answer})", "Check OPENAI_BASE_URL.")]
    status, date, body = answer
    if status in (401, 403):
        return [Finding("model", Level.PROBLEM, f"{url} refuses the key ({status})", "Check OPENAI_API_KEY.")]
    if status != 200:
        seen = f"{url}/models answers {status}, so whether it has {settings.model} is not known"
        return [Finding("model", Level.WARNING, seen, "Ask a question to see: skillmesh ask hello")]
    if settings.model.encode() not in body:
        seen = f"{url} does not list {settings.model}"
        return [Finding("model", Level.WARNING, seen, "Check SKILLMESH_MODEL.")]
    return [Finding("model", Level.OK, f"{settings.model} at {url}"), *_clock("model", date)]


async def _exporters(environ: Mapping[str, str]) -> list[Finding]:
    found = [await _reachable(variable, environ[variable]) for variable in _TRACE_VARIABLES if environ.get(variable)]
    return found or [Finding("traces", Level.WARNING, "spans go nowhere", "Set OTEL_EXPORTER_OTLP_ENDPOINT.")]


async def _reachable(variable: str, url: str) -> Finding:
    parts = urlsplit(url if "://" in url else f"http://{url}")
    try:
        port = parts.port or {"https": 443}.get(parts.scheme, 4318)
        async with asyncio.timeout(_TIMEOUT_SECONDS):
            _, writer = await asyncio.open_connection(parts.hostname, port)
        writer.close()
    except (OSError, ValueError) as error:
        seen = f"{variable}: {parts.hostname} does not take connections ({type(error).__name__})"
        return Finding("traces", Level.PROBLEM, seen, "Start the collector or correct the variable; calls go on.")
    return Finding("traces", Level.OK, f"{variable}: {parts.hostname}:{port} takes connections")


def _clock(peer: str, date: str) -> Iterator[Finding]:
    try:
        skew = parsedate_to_datetime(date).timestamp() - time.time()
    except ValueError:
        return
    if abs(skew) > _MAX_SKEW_SECONDS:
        seen = f"{peer}'s clock and this one are {abs(skew):.0f} s apart"
        yield Finding("clocks", Level.WARNING, seen, "Set both by NTP: traces of several machines do not line up.")
    else:
        yield Finding("clocks", Level.OK, f"{peer}'s clock agrees with this one")


async def _get(url: str, headers: Mapping[str, str]) -> tuple[int, str, bytes] | str:
    """Status, Date header and body; or why there is no answer."""
    try:
        limit = aiohttp.ClientTimeout(total=_TIMEOUT_SECONDS)
        async with aiohttp.ClientSession(timeout=limit) as session, session.get(url, headers=headers) as reply:
            return reply.status, reply.headers.get("Date", ""), await reply.content.read(_MAX_BODY_BYTES)
    except TimeoutError:
        return f"not within {_TIMEOUT_SECONDS:.0f} s"
    except (aiohttp.ClientError, OSError, ValueError) as error:
        return type(error).__name__
