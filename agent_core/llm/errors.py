"""Where the openai SDK's errors, and those it lets through, become ModelError: one sentence that says what to do.

Imports openai, which takes a second: itself to be imported only once a model is really asked.
"""

import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Final

from httpx2 import InvalidURL
from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError

from agent_core.domain.errors import ModelError, PromptTooLongError
from agent_core.llm.config import ModelConfig

_MAX_DETAIL_CHARS: Final = 300
_RETRYABLE_STATUSES: Final = frozenset({408, 409, 425, 429})
_TOO_LONG_CODES: Final = frozenset({"context_length_exceeded", "exceed_context_size_error"})
_TOO_LONG_WORDS: Final = ("context length", "context size", "context window", "prompt is too long", "too many tokens")
_CONNECT_CAUSES: Final = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout"})


def model_error(error: Exception, config: ModelConfig, now: float) -> ModelError:
    """`now` is wall-clock time, which Retry-After's dates are told in."""
    where = f"The model endpoint {config.shown_url}"
    match error:
        case ModelError():
            return error
        case InvalidURL():
            return ModelError("OPENAI_BASE_URL is no URL that can be asked. Correct it; it usually ends in /v1.")
        case APITimeoutError():
            return ModelError(f"{where} was silent for too long.", retryable=True)
        case APIConnectionError() if type(error.__cause__).__name__ in _CONNECT_CAUSES:
            return ModelError(
                f"{where} cannot be reached. Check OPENAI_BASE_URL and that something listens there.", retryable=True
            )
        case APIConnectionError():
            return ModelError(f"{where} broke the connection before its reply was complete.", retryable=True)
        case APIStatusError():
            told = retry_after(error.response.headers, now)
            return _for_status(error.status_code, error, config, told)
        case APIError():
            return body_error(error, config)
        case _:
            return ModelError(f"{where} sent something that is not JSON in its reply.", retryable=True)


def body_error(error: APIError, config: ModelConfig) -> ModelError:
    """An error object in a reply whose HTTP status said 200."""
    code = error.code or ""
    if code.isdecimal() and len(code) == 3:
        return _for_status(int(code), error, config, None)
    detail = _detail(error, config)
    if _too_long(error, detail):
        return _prompt_too_long(config, detail, None)
    message = f"The model endpoint {config.shown_url} failed while it replied: {detail}."
    return ModelError(message, retryable=error.type != "invalid_request_error")


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that the endpoint asks to wait (RFC 9110 section 10.2.3); None where it says nothing usable."""
    for name, unit in (("retry-after-ms", 1_000.0), ("retry-after", 1.0)):
        text = headers.get(name, "").strip()
        if not text:
            continue
        try:
            seconds = float(text) / unit
        except ValueError:
            seconds = _seconds_until(text, now)
        if math.isfinite(seconds) and seconds > 0:
            return seconds
    return None


def _seconds_until(date: str, now: float) -> float:
    try:
        return parsedate_to_datetime(date).timestamp() - now
    except (ValueError, OverflowError):
        return 0.0


def _for_status(status: int, error: APIError, config: ModelConfig, told: float | None) -> ModelError:
    where = f"The model endpoint {config.shown_url}"
    detail = _detail(error, config)
    if status in (400, 413, 422) and (status == 413 or _too_long(error, detail)):
        return _prompt_too_long(config, detail, status)
    if error.code == "insufficient_quota" or status == 402:
        return ModelError(
            f"{where} says that the quota is used up ({status}). Check its plan and billing.", status=status
        )
    if status == 429:
        asks = f" and asks to wait {told:g} s" if told else ""
        return ModelError(f"{where} limits requests (429){asks}.", retryable=True, status=status, retry_after=told)
    if status >= 500 or status in _RETRYABLE_STATUSES:
        return ModelError(f"{where} failed ({status}): {detail}.", retryable=True, status=status, retry_after=told)
    return ModelError(f"{where} {_refusal(status, detail, config)}", status=status)


def _refusal(status: int, detail: str, config: ModelConfig) -> str:
    match status:
        case 401 if not config.api_key:
            return "wants an API key (401). Set OPENAI_API_KEY."
        case 401:
            return "refuses the API key (401). Check OPENAI_API_KEY and that it belongs to OPENAI_BASE_URL."
        case 403:
            return f"does not let this API key use the model {config.model!r} (403). Check OPENAI_API_KEY's rights."
        case 404:
            return (
                f"does not know the model {config.model!r} or the path (404). "
                "Set SKILLMESH_MODEL to a model it serves, or correct OPENAI_BASE_URL."
            )
        case _:
            return f"refused the request ({status}): {detail}."


def _prompt_too_long(config: ModelConfig, detail: str, status: int | None) -> PromptTooLongError:
    return PromptTooLongError(
        f"The conversation does not fit the context window of {config.model!r}: {detail}. "
        "Ask for less at once, or use a model with a larger window.",
        status=status,
    )


def _too_long(error: APIError, detail: str) -> bool:
    if error.code in _TOO_LONG_CODES or error.type in _TOO_LONG_CODES:
        return True
    said = detail.lower()
    return any(words in said for words in _TOO_LONG_WORDS)


def _detail(error: APIError, config: ModelConfig) -> str:
    """The endpoint's own words: one line, bounded, without the key should it repeat it."""
    body = error.body
    said: object = None
    if isinstance(body, dict):
        said = body.get("message") or body.get("detail")
    elif isinstance(body, str) and not body.lstrip().startswith("<"):
        said = body
    text = " ".join(said.split()) if isinstance(said, str) else ""
    if config.api_key:
        text = text.replace(config.api_key, "***")
    if len(text) > _MAX_DETAIL_CHARS:
        text = text[:_MAX_DETAIL_CHARS] + "..."
    return text.rstrip(".") or "it gave no reason"
