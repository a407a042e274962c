"""Services and their checks, with an index for each view of them. Pure and synchronous; nothing here waits."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from agent_core.dev.registry.entries import Check, CheckDefinition, Service, ServiceDefinition, Status
from agent_core.dev.registry.ledger import Ledger
from agent_core.dev.registry.refusals import RefusedError

MAX_SERVICES: Final = 2_000
MAX_OUTPUT_CHARS: Final = 4_096
MAX_REMEMBERED_NAMES: Final = 4_096
NODE_CHECK: Final = "serfHealth"
CONSUL_SERVICE: Final = "consul"


@dataclass(frozen=True, slots=True)
class Node:
    """The one node of this registry."""

    id: str
    name: str
    address: str
    port: int
    datacenter: str = "dc1"


def maintenance_id(service_id: str) -> str:
    return f"_service_maintenance:{service_id}"


class State:
    """All services and checks.

    Index of a view: of one service, its last change or that of one of its checks; of the list of services, the
    last registration, change or deregistration of any; of checks by state or by node, the last change of any check.
    Watchers hear of each check that came or changed, and of its id alone where it went.
    """

    def __init__(self, ledger: Ledger, node: Node) -> None:
        self.ledger = ledger
        self.node = node
        self.services: dict[str, Service] = {}
        self.checks: dict[str, Check] = {}
        self.watchers: list[Callable[[str, Check | None], None]] = []
        self._by_name: dict[str, dict[str, None]] = {}
        self._checks_of: dict[str, dict[str, None]] = {"": {}}
        self._name_index: dict[str, int] = {}
        self._gone_index: dict[str, int] = {}  # of names that have no instance any more, in the order of their going
        self._extinction_index = ledger.index
        self.services_index = ledger.index
        self.checks_index = ledger.index
        self.node_index = ledger.index
        self._install_node()

    # --- reading

    def named(self, name: str) -> list[Service]:
        """Instances of one service, by id."""
        return [self.services[service_id] for service_id in sorted(self._by_name.get(name, ()))]

    def names(self) -> Iterator[tuple[str, list[str]]]:
        """Each service's name with the tags that any of its instances has, in name order."""
        for name in sorted(self._by_name):
            tags = {tag for service_id in self._by_name[name] for tag in self.services[service_id].definition.tags}
            yield name, sorted(tags)

    def checks_of(self, service_id: str) -> list[Check]:
        """A service's own checks; the node's for an empty id."""
        return [self.checks[check_id] for check_id in sorted(self._checks_of.get(service_id, ()))]

    def service_index(self, name: str) -> int:
        return self._name_index.get(name) or self._gone_index.get(name, self._extinction_index)

    # --- writing

    def register(self, wanted: ServiceDefinition, checks: Sequence[CheckDefinition], *, replace_checks: bool) -> None:
        """Add or replace one instance; a check that is there already keeps its status. Raises RefusedError."""
        known = self.services.get(wanted.id)
        if known is None and len(self.services) >= MAX_SERVICES:
            raise RefusedError(500, f"The development registry holds {MAX_SERVICES} services; use Consul for more.")
        if known is None or known.definition != wanted:
            self._put_service(known, wanted)
        if replace_checks:
            keep = {check.id for check in checks} | {maintenance_id(wanted.id)}
            for check in self.checks_of(wanted.id):
                if check.id not in keep:
                    self.remove_check(check.id)
        for definition in checks:
            self.put_check(definition, wanted.id)

    def deregister(self, service_id: str) -> bool:
        """Remove one instance with its checks; False where there is none."""
        known = self.services.get(service_id)
        if known is None:
            return False
        for check in self.checks_of(service_id):
            self.remove_check(check.id)
        del self.services[service_id]
        self._checks_of.pop(service_id, None)
        self._unname(known.definition.name, service_id, self.ledger.next())
        return True

    def put_check(self, definition: CheckDefinition, service_id: str) -> None:
        """Add or redefine a check of a registered service (of the node where the id is empty)."""
        known = self.checks.get(definition.id)
        kept = known if known is not None and known.service_id == service_id else None
        if known is not None and kept is None:
            self.remove_check(known.id)
        service = self.services[service_id].definition if service_id else None
        self._store(
            Check(
                id=definition.id,
                name=definition.name,
                status=kept.status if kept else definition.status,
                type=definition.type,
                notes=definition.notes,
                output=kept.output if kept else "",
                service_id=service_id,
                service_name=service.name if service else "",
                service_tags=service.tags if service else (),
            )
        )

    def remove_check(self, check_id: str) -> bool:
        check = self.checks.pop(check_id, None)
        if check is None:
            return False
        self._checks_of[check.service_id].pop(check_id, None)
        self._touch(check, self.ledger.next())
        self._tell(check_id, None)
        return True

    def set_status(self, check_id: str, status: Status, output: str) -> None:
        """What a check found; nothing changes, and no one wakes, where it is as before."""
        check = self.checks[check_id]
        self._store(replace(check, status=status, output=output[:MAX_OUTPUT_CHARS]))

    def set_maintenance(self, service_id: str, *, enabled: bool, reason: str) -> None:
        """Take a service out, or back in, by a critical check. Raises RefusedError where there is no such service."""
        service = self.services.get(service_id)
        if service is None:
            raise RefusedError(404, f'No service registered with ID "{service_id}"')
        if not enabled:
            self.remove_check(maintenance_id(service_id))
            return
        default = "Maintenance mode is enabled for this service, but no reason was provided. This is a default message."
        self._store(
            Check(
                id=maintenance_id(service_id),
                name="Service Maintenance Mode",
                status=Status.CRITICAL,
                type="maintenance",
                notes=reason or default,
                service_id=service_id,
                service_name=service.definition.name,
                service_tags=service.definition.tags,
            )
        )

    # --- inside

    def _install_node(self) -> None:
        consul = ServiceDefinition(id=CONSUL_SERVICE, name=CONSUL_SERVICE, port=self.node.port)
        self._put_service(None, consul)
        self._store(
            Check(
                id=NODE_CHECK,
                name="Serf Health Status",
                status=Status.PASSING,
                type="",
                output="Agent alive and reachable",
            )
        )
        self.node_index = self.ledger.index

    def _put_service(self, known: Service | None, wanted: ServiceDefinition) -> None:
        index = self.ledger.next()
        if known is not None and known.definition.name != wanted.name:
            self._unname(known.definition.name, wanted.id, index)
        self.services[wanted.id] = Service(wanted, known.create_index if known else index, index)
        self._by_name.setdefault(wanted.name, {})[wanted.id] = None
        self._checks_of.setdefault(wanted.id, {})
        self.services_index = index
        self._name_index[wanted.name] = index
        self._gone_index.pop(wanted.name, None)
        for check in self.checks_of(wanted.id):
            self._store(replace(check, service_name=wanted.name, service_tags=wanted.tags))

    def _unname(self, name: str, service_id: str, index: int) -> None:
        ids = self._by_name[name]
        del ids[service_id]
        self.services_index = index
        self._name_index[name] = index
        if not ids:
            del self._by_name[name]
            self._gone_index[name] = self._name_index.pop(name)
            if len(self._gone_index) > MAX_REMEMBERED_NAMES:  # what is forgotten counts as gone last
                self._extinction_index = self._gone_index.pop(next(iter(self._gone_index)))

    def _store(self, check: Check) -> None:
        known = self.checks.get(check.id)
        if known is not None:
            check = replace(check, create_index=known.create_index, modify_index=known.modify_index)
            if check == known:
                return
            if check == replace(known, output=check.output):  # as Consul: output alone wakes no one
                self.checks[check.id] = check
                return
        index = self.ledger.next()
        check = replace(check, create_index=known.create_index if known else index, modify_index=index)
        self.checks[check.id] = check
        self._checks_of[check.service_id][check.id] = None
        self._touch(check, index)
        self._tell(check.id, check)

    def _touch(self, check: Check, index: int) -> None:
        self.checks_index = index
        if check.service_name:
            self._name_index[check.service_name] = index
        else:  # a check of the node is part of every service's view
            self.node_index = index
            self._name_index = dict.fromkeys(self._name_index, index)

    def _tell(self, check_id: str, check: Check | None) -> None:
        for watcher in self.watchers:
            watcher(check_id, check)
