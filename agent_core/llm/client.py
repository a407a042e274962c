"""A ChatModel that asks any OpenAI-compatible endpoint."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Protocol

from agent_core.domain.errors import ModelError
from agent_core.domain.model import ModelChunk, ModelRequest
from agent_core.llm.assemble import Assembler
from agent_core.llm.config import ModelConfig
from agent_core.llm.dialect import Dialect, adapted
from agent_core.llm.encode import encode_messages, encode_tool
from agent_core.telemetry.spans import trace_headers


class _Wire(Protocol):
    """What is used of agent_core.llm.endpoint, which is imported with openai at first use."""

    def chunks(
        self, body: Mapping[str, object], headers: Mapping[str, str], deadline: float, finished: Callable[[], bool]
    ) -> AsyncGenerator[object, None]: ...

    async def close(self) -> None: ...


class OpenAIChatModel:
    """One attempt a call, without retries and spans; see RetryingChatModel and TracedChatModel.

    The W3C trace context of whoever calls goes along in the request's headers.
    """

    def __init__(self, config: ModelConfig) -> None:
        self._config = config
        self._dialect = Dialect()
        self._loading: asyncio.Task[_Wire] | None = None

    @property
    def name(self) -> str:
        return self._config.model

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """As ChatModel. A refusal of the wording alone is answered once by another wording. Raises ModelError."""
        wire = await self._wire()
        dialect = self._dialect
        refused: ModelError | None = None
        while True:
            assembler = Assembler()
            body = self._body(request, dialect)
            shown = False
            try:
                async with aclosing(wire.chunks(body, trace_headers(), request.deadline, assembler.finished)) as chunks:
                    async for chunk in chunks:
                        for piece in assembler.add(chunk):
                            shown = True
                            yield piece
                yield assembler.reply(self.name)
            except ModelError as error:
                other = None if shown else adapted(dialect, error, request.messages)
                if other is None:
                    raise (refused if refused and error.status == refused.status else error) from None
                refused, dialect = refused or error, other
            else:
                self._dialect = dialect
                return

    async def warm_up(self) -> None:
        """Import openai ahead of the first call, on a thread. Raises ModelError where it is not installed."""
        await self._wire()

    async def close(self) -> None:
        """Close the connections; calls that run break."""
        loading, self._loading = self._loading, None
        if loading is not None:
            await (await loading).close()

    def _body(self, request: ModelRequest, dialect: Dialect) -> dict[str, object]:
        body: dict[str, object] = {
            "model": self._config.model,
            "messages": encode_messages(request.messages, empty_content=dialect.empty_content),
            "stream": True,
            dialect.limit_field: self._config.max_tokens,
        }
        if dialect.usage:
            body["stream_options"] = {"include_usage": True}
        if request.tools:
            body["tools"] = [encode_tool(spec) for spec in request.tools]
        if self._config.temperature is not None:
            body["temperature"] = self._config.temperature
        return body

    async def _wire(self) -> _Wire:
        if self._loading is None:
            self._loading = asyncio.create_task(asyncio.to_thread(_connect, self._config))
        try:
            return await asyncio.shield(self._loading)
        except ImportError as error:
            self._loading = None
            raise ModelError(f"{error.name} is not installed. Run: pip install 'skillmesh-core[agent]'") from error
        except ModelError:
            self._loading = None
            raise


def _connect(config: ModelConfig) -> _Wire:
    from agent_core.llm.endpoint import Endpoint

    return Endpoint(config)
