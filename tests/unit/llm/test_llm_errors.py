"""Each way in which an endpoint fails is one sentence that says what to do, and never shows the key."""

from email.utils import formatdate

import pytest
from httpx2 import ConnectError, ReadError, Request, Response
from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError

from agent_core.domain.errors import ModelError, PromptTooLongError
from agent_core.llm.config import ModelConfig
from agent_core.llm.errors import model_error, retry_after

KEY = "sk-secret-123"
CONFIG = ModelConfig(model="m-1", base_url="https://user:pass@model.test/v1?token=x", api_key=KEY)
REQUEST = Request("POST", "https://model.test/v1/chat/completions")
NOW = 1_800_000_000.0


def of_status(status: int, error: object = None, config: ModelConfig = CONFIG, **headers: str) -> ModelError:
    response = Response(status, headers={k.replace("_", "-"): v for k, v in headers.items()}, request=REQUEST)
    return model_error(APIStatusError("raw", response=response, body=error), config, NOW)


def of_body(body: object) -> ModelError:
    return model_error(APIError("raw", REQUEST, body=body), CONFIG, NOW)


@pytest.mark.parametrize(
    ("status", "says", "retryable"),
    [
        (400, "refused the request (400): it gave no reason", False),
        (401, "Check OPENAI_API_KEY", False),
        (403, "'m-1'", False),
        (404, "SKILLMESH_MODEL", False),
        (408, "failed (408)", True),
        (429, "limits requests (429)", True),
        (500, "failed (500)", True),
        (529, "failed (529)", True),
        (302, "refused the request (302)", False),
    ],
)
def test_each_status_has_its_sentence(status: int, says: str, retryable: bool) -> None:
    error = of_status(status)
    assert says in str(error)
    assert (error.retryable, error.status) == (retryable, status)
    assert "https://model.test/v1" in str(error)


def test_a_missing_key_is_told_apart_from_a_wrong_one() -> None:
    assert "Set OPENAI_API_KEY" in str(of_status(401, config=ModelConfig(model="m")))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
def test_neither_key_nor_credentials_in_the_url_are_shown(status: int) -> None:
    error = of_status(status, {"message": f"Incorrect key {KEY} given"})
    for shown in (str(error), repr(error), repr(CONFIG)):
        assert KEY not in shown
    assert "pass" not in str(error)
    assert "token" not in str(error)


def test_the_endpoints_own_words_are_one_bounded_line() -> None:
    assert "(400): line one line two." in str(of_status(400, {"message": "line one\nline two."}))
    assert len(str(of_status(400, {"message": "x" * 5_000}))) < 500
    assert "(422): no such field." in str(of_status(422, {"detail": "no such field"}))
    assert "(500): plain text." in str(of_status(500, "plain text"))
    assert "(502): it gave no reason." in str(of_status(502, "<html>bad gateway</html>"))


def test_a_used_up_quota_is_not_asked_again() -> None:
    error = of_status(429, {"code": "insufficient_quota", "message": "x"})
    assert not error.retryable
    assert "billing" in str(error)
    assert "quota" in str(of_status(402))


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"code": "context_length_exceeded", "message": "x"}),
        (400, {"type": "exceed_context_size_error", "message": "x"}),
        (400, {"message": "This model's maximum context length is 8192 tokens"}),
        (413, None),
    ],
)
def test_a_conversation_that_is_too_long_is_told_apart(status: int, body: object) -> None:
    assert isinstance(of_status(status, body), PromptTooLongError)


def test_an_error_in_a_stream_is_read_like_one_in_a_status() -> None:
    assert of_body({"code": 429, "message": "slow down"}).status == 429
    assert of_body({"message": "overloaded", "type": "server_error"}).retryable
    assert not of_body({"message": "bad", "type": "invalid_request_error"}).retryable
    assert isinstance(of_body({"code": "context_length_exceeded", "message": "x"}), PromptTooLongError)
    assert "it gave no reason" in str(of_body("?" * 0))


def connection_error(cause: Exception) -> APIConnectionError:
    error = APIConnectionError(request=REQUEST)
    error.__cause__ = cause
    return error


def test_connection_failures_name_the_url_and_may_pass() -> None:
    refused = model_error(connection_error(ConnectError("x")), CONFIG, NOW)
    assert "https://model.test/v1 cannot be reached" in str(refused)
    assert "OPENAI_BASE_URL" in str(refused)
    broken = model_error(connection_error(ReadError("x")), CONFIG, NOW)
    assert "broke the connection" in str(broken)
    silent = model_error(APITimeoutError(REQUEST), CONFIG, NOW)
    assert "silent" in str(silent)
    garbled = model_error(ValueError("x"), CONFIG, NOW)
    assert "not JSON" in str(garbled)
    assert refused.retryable
    assert broken.retryable
    assert silent.retryable
    assert garbled.retryable


def test_an_error_of_ours_stays_as_it_is() -> None:
    ours = ModelError("ours")
    assert model_error(ours, CONFIG, NOW) is ours


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "3600"}, 3600.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": formatdate(NOW + 3, usegmt=True)}, 3.0),
        ({"retry-after": formatdate(NOW - 3, usegmt=True)}, None),
        ({"retry-after": "0"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "abc"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e999"}, None),
        ({"retry-after": "Wed, 99 Foo 2026 25:61:61 GMT"}, None),
        ({"retry-after-ms": "x", "retry-after": "4"}, 4.0),
        ({}, None),
    ],
)
def test_retry_after_is_obeyed_where_it_can_be_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


def test_the_wait_asked_for_is_in_the_error() -> None:
    error = of_status(429, retry_after="3600")
    assert error.retry_after == 3600
    assert "asks to wait 3600 s" in str(error)


def test_the_server_is_told_for_telemetry() -> None:
    assert CONFIG.server == ("model.test", 443)
    assert ModelConfig(model="m", base_url="http://127.0.0.1:7500/v1").server == ("127.0.0.1", 7500)
