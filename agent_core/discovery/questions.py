"""The questions that discovery asks Consul, with what is empty told apart from what is denied."""

from collections.abc import Mapping
from typing import Final

from agent_core.discovery.client import Answer, ConsulClient
from agent_core.domain.errors import RegistryError
from skillmesh.conventions import CONSUL_CORE_SERVICE, SERVICE_NAME

MAX_SERVICES: Final = 5_000
_MAX_UNUSABLE: Final = 16


async def ask_services(client: ConsulClient, index: int, wait: float) -> Answer:
    """The list of services. Raises RegistryError, also where ACL rules leave it empty: a Consul lists itself."""
    answer = await client.services(index, wait)
    if not isinstance(answer.body, Mapping):
        message = f"{client.url} answers no list of services: set CONSUL_HTTP_ADDR to Consul's HTTP API."
        raise RegistryError(message)
    if not answer.body and (answer.filtered or await client.is_denied()):
        raise client.denied("no service at all")
    return answer


async def ask_instances(client: ConsulClient, service: str, index: int, wait: float) -> Answer:
    """The instances of one service. Raises RegistryError, also where ACL rules leave them out."""
    answer = await client.instances(service, index, wait)
    if answer.body == [] and (answer.filtered or await client.sees_no_node()):
        raise client.denied(f"no instance of {service}")
    return answer


def read_services(body: object, tag: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """Names of the services that bear the tag, and a sentence for each that cannot be used."""
    items = body.items() if isinstance(body, Mapping) else ()
    tagged = sorted(name for name, tags in items if isinstance(tags, list) and tag in tags)
    usable = [name for name in tagged if SERVICE_NAME.fullmatch(name) and name != CONSUL_CORE_SERVICE]
    problems = [
        f"service {name[:80]!r} is left out: rename it to lower-case letters, digits and hyphens, 63 at most."
        for name in tagged
        if not SERVICE_NAME.fullmatch(name)
    ][:_MAX_UNUSABLE]
    if len(usable) > MAX_SERVICES:
        problems.append(f"Consul lists {len(usable)} skill services; the first {MAX_SERVICES} by name are used.")
    return frozenset(usable[:MAX_SERVICES]), tuple(problems)
