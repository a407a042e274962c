"""The wire to one endpoint: a request as a plain dictionary, the reply as the raw chunks of its event stream.

Imports openai, which takes a second: itself to be imported only once a model is really asked.
"""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Final

from httpx2 import HTTPError, InvalidURL  # openai's own HTTP client, which lets some of its errors through
from openai import APIConnectionError, APIError, AsyncOpenAI, AsyncStream, OpenAIError, Timeout

from agent_core.domain.errors import ModelError
from agent_core.llm.config import ModelConfig
from agent_core.llm.errors import body_error, model_error
from skillmesh import __version__

MAX_BODY_BYTES: Final = 16 * 1024 * 1024


class Endpoint:
    """One HTTP client, kept open; retries are the caller's. Raises ModelError where address or key can be none."""

    def __init__(self, config: ModelConfig) -> None:
        if not (config.api_key.isascii() and config.api_key.isprintable()):  # such as one with its file's line end
            raise ModelError("OPENAI_API_KEY holds characters that no key has, such as a line end. Correct it.")
        self._config = config
        try:
            self._client = AsyncOpenAI(
                api_key=config.api_key or "none",
                base_url=config.base_url,
                max_retries=0,
                default_headers={"User-Agent": f"skillmesh/{__version__}"},
            )
        except (InvalidURL, ValueError) as error:
            raise model_error(InvalidURL(str(error)), config, time.time()) from None

    async def chunks(
        self, body: Mapping[str, object], headers: Mapping[str, str], deadline: float, finished: Callable[[], bool]
    ) -> AsyncGenerator[object, None]:
        """Every chunk of the reply, parsed and unchecked; a reply that is no stream is one chunk.

        `deadline` is monotonic time; `finished` says whether the reply is complete, after which a server that keeps
        the connection open is not waited for. Raises ModelError.
        """
        try:
            stream = await self._open(body, headers, deadline)
            try:
                kind = stream.response.headers.get("content-type", "").lower()
                if "json" in kind and "ndjson" not in kind:
                    yield await self._whole(stream, deadline)
                    return
                if "html" in kind:
                    raise ModelError(
                        f"The model endpoint {self._config.shown_url} answered with a web page ({kind}) instead of an "
                        "event stream. Correct OPENAI_BASE_URL; it usually ends in /v1."
                    )
                while (chunk := await self._next(stream, deadline, finished)) is not None:
                    yield chunk
            finally:
                await stream.close()
        except (OpenAIError, InvalidURL, ValueError, RecursionError) as error:
            raise model_error(error, self._config, time.time()) from None  # its text may repeat the key

    async def close(self) -> None:
        await self._client.close()

    async def _open(
        self, body: Mapping[str, object], headers: Mapping[str, str], deadline: float
    ) -> AsyncStream[object]:
        if self._config.server[0] is None:  # such as a port above 65535, which fails deep in the connecting
            raise InvalidURL(self._config.shown_url)
        left = deadline - time.monotonic()
        if left <= 0:
            raise self._out_of_time()
        idle = min(self._config.idle_timeout, left)
        timeout = Timeout(idle, connect=min(self._config.connect_timeout, left))
        try:
            async with asyncio.timeout(left):
                return await self._client.post(
                    "/chat/completions",
                    cast_to=object,
                    body=body,
                    options={"headers": dict(headers), "timeout": timeout},
                    stream=True,
                    stream_cls=AsyncStream[object],
                )
        except TimeoutError:
            raise self._out_of_time() from None

    async def _next(self, stream: AsyncStream[object], deadline: float, finished: Callable[[], bool]) -> object | None:
        left = deadline - time.monotonic()
        done = finished()
        try:
            async with asyncio.timeout(min(left, self._config.linger) if done else left):
                return await anext(stream)
        except StopAsyncIteration:
            return None
        except TimeoutError:
            if done:
                return None
            raise self._out_of_time() from None
        except (OpenAIError, ValueError):
            if done:  # the reply is whole; what broke came after it
                return None
            raise

    async def _whole(self, stream: AsyncStream[object], deadline: float) -> object:
        body = bytearray()
        try:
            async with asyncio.timeout(deadline - time.monotonic()):
                async for piece in stream.response.aiter_bytes():
                    body += piece
                    if len(body) > MAX_BODY_BYTES:
                        raise ModelError(f"The model endpoint {self._config.shown_url} sent more than 16 MiB.")
        except TimeoutError:
            raise self._out_of_time() from None
        except HTTPError:
            raise APIConnectionError(request=stream.response.request) from None
        reply: object = json.loads(body)
        if isinstance(reply, dict) and reply.get("error"):
            error = APIError("error in the reply", stream.response.request, body=reply["error"])
            raise body_error(error, self._config)
        return reply

    def _out_of_time(self) -> ModelError:
        return ModelError(f"The model endpoint {self._config.shown_url} did not finish within the time of the run.")
