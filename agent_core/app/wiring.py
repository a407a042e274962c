"""The only place that constructs: settings become a core."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from agent_core.agent.loop import AgentLoop
from agent_core.agent.run import LoopSettings
from agent_core.agent.run import Parts as RunParts
from agent_core.app.settings import CoreSettings
from agent_core.cache.memory import MemoryCache
from agent_core.discovery.catalogue import ConsulCatalogue
from agent_core.discovery.settings import DiscoverySettings
from agent_core.domain.call import Invoke
from agent_core.domain.errors import ConfigError
from agent_core.domain.events import Event
from agent_core.domain.ports import ChatModel, Emit
from agent_core.domain.skill import AccessLevel
from agent_core.invocation.fanout import fan_out
from agent_core.invocation.pipeline import CallPath, compose
from agent_core.invocation.retried import RetryRules
from agent_core.invocation.routed import Routing
from agent_core.invocation.upkeep import Upkeep, follow
from agent_core.llm.client import OpenAIChatModel
from agent_core.llm.config import ModelConfig
from agent_core.llm.retrying import RetryingChatModel
from agent_core.llm.traced import TracedChatModel
from agent_core.policy.access import AccessPolicy
from agent_core.resilience.backoff import backoff
from agent_core.resilience.balancer import TwoChoices
from agent_core.resilience.breaker import SkillBreakers
from agent_core.resilience.budget import SlidingBudget
from agent_core.resilience.ejector import Ejector
from agent_core.retrieval.name_order import NameOrder
from agent_core.transport.channels import Channels
from agent_core.transport.describe import GrpcDescribe
from agent_core.transport.skill_client import GrpcTransport


def _ignore(_event: Event) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Core:
    """An agent core that runs. `loop` is None where no model was asked for."""

    settings: CoreSettings
    catalogue: ConsulCatalogue
    invoke: Invoke
    transport: GrpcTransport
    breakers: SkillBreakers
    loop: AgentLoop | None


class Parts:
    """What a core is made of, as far as it keeps state about skills and instances."""

    def __init__(self, settings: CoreSettings, emit: Emit) -> None:
        self.channels = Channels(max_message_bytes=settings.max_message_bytes)
        self.transport = GrpcTransport(self.channels, max_message_bytes=settings.max_message_bytes)
        self.ejector = Ejector(emit)
        self.balancer = TwoChoices(self.ejector, reachable=self.channels.reachable)
        self.breakers = SkillBreakers(emit)
        self.budget = SlidingBudget()
        self.catalogue = ConsulCatalogue(discovery_settings(settings), GrpcDescribe(self.channels), emit)

    def upkeep(self) -> Upkeep:
        return Upkeep(
            retain_targets=[self.channels.retain, self.ejector.retain],
            retain_skills=[self.breakers.retain, self.budget.retain],
            arrived=[self.ejector.forgive],
            gained=[self.breakers.retry_now],
        )


@asynccontextmanager
async def open_core(settings: CoreSettings, emit: Emit = _ignore, *, with_model: bool) -> AsyncIterator[Core]:
    """A core whose catalogue is ready. Raises ConfigError, and RegistryError where Consul does not answer."""
    model = open_model(settings) if with_model else None
    parts = Parts(settings, emit)
    await parts.catalogue.start()
    warming = asyncio.create_task(model.client.warm_up(), name="import openai") if model else None
    following = asyncio.create_task(follow(parts.catalogue, parts.upkeep()), name="follow the catalogue")
    try:
        await parts.catalogue.wait_ready(settings.consul_timeout)
        yield _core(settings, parts, model.chat if model else None)
    finally:
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following
        await parts.catalogue.stop()
        await parts.channels.close()
        if model and warming:
            await asyncio.gather(warming, return_exceptions=True)  # what went wrong, the first call has said
            await model.client.close()


def _core(settings: CoreSettings, parts: Parts, chat: ChatModel | None) -> Core:
    policy = AccessPolicy(AccessLevel(settings.allow))
    invoke = compose(
        CallPath(
            source=parts.catalogue,
            policy=policy,
            cache=MemoryCache(max_entries=settings.cache_entries, max_bytes=settings.cache_bytes),
            retries=RetryRules(parts.budget, backoff),
            routing=Routing(parts.breakers, parts.balancer, parts.transport),
        )
    )
    loop = None
    if chat is not None:
        loop = AgentLoop(
            RunParts(
                model=chat,
                catalogue=parts.catalogue,
                shortlister=NameOrder(policy.visible),
                fan_out=fan_out(invoke),
                settings=LoopSettings(max_turns=settings.max_turns, run_timeout=settings.run_timeout),
            )
        )
    return Core(settings, parts.catalogue, invoke, parts.transport, parts.breakers, loop)


@dataclass(frozen=True, slots=True)
class _Model:
    client: OpenAIChatModel
    chat: ChatModel


def open_model(settings: CoreSettings) -> _Model:
    """Raises ConfigError where no model is named."""
    if not settings.model:
        raise ConfigError(
            "No model is set. Set SKILLMESH_MODEL, and OPENAI_API_KEY and OPENAI_BASE_URL as its endpoint needs them; "
            "or start a mesh with a stand-in model: skillmesh up."
        )
    config = ModelConfig(
        model=settings.model,
        base_url=settings.openai_base_url,
        api_key=settings.openai_api_key.get_secret_value() if settings.openai_api_key else "",
        max_tokens=settings.max_tokens,
    )
    client = OpenAIChatModel(config)
    return _Model(client, RetryingChatModel(TracedChatModel(client, config)))


def discovery_settings(settings: CoreSettings) -> DiscoverySettings:
    token = settings.consul_token.get_secret_value() if settings.consul_token else ""
    return DiscoverySettings(address=settings.consul_addr, token=token, keep=settings.empty_grace)
