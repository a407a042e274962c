"""The call path: the layers in their order."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from agent_core.domain.call import Invoke
from agent_core.domain.ports import CatalogueSource, Policy, ResultCache
from agent_core.invocation.authorized import authorized
from agent_core.invocation.cached import cached
from agent_core.invocation.genai import content_on_spans
from agent_core.invocation.prepared import prepared
from agent_core.invocation.retried import RetryRules, retried
from agent_core.invocation.routed import Routing, routed
from agent_core.invocation.traced import traced


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPath:
    """What the layers stand on."""

    source: CatalogueSource
    policy: Policy
    cache: ResultCache
    retries: RetryRules
    routing: Routing


def compose(path: CallPath, environ: Mapping[str, str] = os.environ) -> Invoke:
    """traced(prepared(authorized(cached(retried(routed))))); `environ` says whether spans may hold content."""
    invoke = routed(path.routing)
    for layer in (
        retried(path.retries),
        cached(path.cache),
        authorized(path.policy),
        prepared(path.source),
        traced(record_content=content_on_spans(environ)),
    ):
        invoke = layer(invoke)
    return invoke
