from collections.abc import AsyncIterator

import grpc
import pytest
from google.protobuf.any_pb2 import Any
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status
from grpc_status import rpc_status
from hypothesis import given
from hypothesis import strategies as st

from skillmesh.errors import RULES, ErrorKind
from skillmesh.status import Violation, WireError, from_rpc_error, to_status

LONG_TEXT = st.text(st.characters(), max_size=3_000)  # surrogates, too


def as_client_sees(status: grpc.Status) -> grpc.aio.AioRpcError:
    trailers = grpc.aio.Metadata(*status.trailing_metadata)
    return grpc.aio.AioRpcError(status.code, grpc.aio.Metadata(), trailers, details=status.details)


def bare(code: grpc.StatusCode, details: str) -> grpc.aio.AioRpcError:
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), grpc.aio.Metadata(), details=details)


@given(
    st.sampled_from(ErrorKind),
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=100),
    st.none() | st.integers(0, 10_000).map(lambda n: n / 1000),
    st.lists(st.builds(Violation, st.text(max_size=20), st.text(max_size=20)), max_size=4),
)
def test_an_error_crosses_the_wire_unchanged(
    kind: ErrorKind, message: str, retry_after: float | None, violations: list[Violation]
) -> None:
    read = from_rpc_error(as_client_sees(to_status(WireError(kind, message, retry_after, violations))))
    assert read == WireError(kind, message, retry_after, tuple(violations), kind.value.upper())


def test_a_message_too_long_for_a_header_is_cut() -> None:
    status = to_status(WireError(ErrorKind.CRASHED, "x" * 100_000))
    assert len(status.details) == 1_500
    assert status.details.endswith("...")
    assert status.code.name == RULES[ErrorKind.CRASHED].status


@pytest.mark.parametrize(
    ("code", "details", "kind"),
    [
        (grpc.StatusCode.UNAVAILABLE, "failed to connect to all addresses; last error: ...", ErrorKind.CONNECT_FAILED),
        (grpc.StatusCode.UNAVAILABLE, "Socket closed", ErrorKind.UNAVAILABLE),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "Sent message larger than max (5 vs. 4)", ErrorKind.MESSAGE_TOO_LARGE),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "Received message larger than max (5 vs. 4)", ErrorKind.REPLY_TOO_LARGE),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "", ErrorKind.OVERLOADED),
        (grpc.StatusCode.ALREADY_EXISTS, "there", ErrorKind.UNKNOWN),
    ],
)
def test_what_grpc_itself_reports_is_told_apart(code: grpc.StatusCode, details: str, kind: ErrorKind) -> None:
    assert from_rpc_error(bare(code, details)).kind is kind


@given(LONG_TEXT, st.lists(st.builds(Violation, LONG_TEXT, LONG_TEXT), max_size=40))
def test_any_error_fits_into_the_headers_that_clients_take(message: str, violations: list[Violation]) -> None:
    status = to_status(WireError(ErrorKind.INVALID_ARGUMENTS, message, violations=violations))
    trailers = dict(status.trailing_metadata)
    assert len(trailers["grpc-status-details-bin"]) * 4 / 3 + 1_500 < 8 * 1024


def test_details_of_another_domain_are_not_ours() -> None:
    status = Status(code=grpc.StatusCode.UNAVAILABLE.value[0], message="no")
    status.details.add().Pack(ErrorInfo(reason="OUTCOME_UNKNOWN", domain="example.com"))
    read = from_rpc_error(as_client_sees(rpc_status.to_status(status)))
    assert (read.kind, read.reason) == (ErrorKind.UNAVAILABLE, None)


@pytest.mark.parametrize(("seconds", "read"), [(2**62, float(2**62)), (-(2**62), 0.0), (2, 2.0)])
def test_a_wait_of_any_length_can_be_read(seconds: int, read: float) -> None:
    status = Status(code=grpc.StatusCode.RESOURCE_EXHAUSTED.value[0], message="later")
    detail = Any()
    detail.Pack(RetryInfo(retry_delay=Duration(seconds=seconds)))
    status.details.append(detail)
    error = from_rpc_error(as_client_sees(rpc_status.to_status(status)))
    assert (error.kind, error.retry_after) == (ErrorKind.OVERLOADED, read)


def test_unreadable_details_leave_the_status_to_speak() -> None:
    trailers = grpc.aio.Metadata(("grpc-status-details-bin", b"\xff\xff\xff"))
    error = grpc.aio.AioRpcError(grpc.StatusCode.INTERNAL, grpc.aio.Metadata(), trailers, details="broken")
    assert from_rpc_error(error) == WireError(ErrorKind.CRASHED, "broken")


@pytest.fixture
async def refusing_server() -> AsyncIterator[str]:
    async def refuse(_request: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
        error = WireError(ErrorKind.OVERLOADED, "busy: 忙", 1.5, (Violation("a.b", "is no number"),))
        await context.abort_with_status(to_status(error))
        raise AssertionError

    server = grpc.aio.server()
    handlers: dict[str, grpc.RpcMethodHandler[bytes, bytes]]
    handlers = {"Refuse": grpc.unary_unary_rpc_method_handler(refuse)}
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("test.Refusing", handlers)])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    yield f"127.0.0.1:{port}"
    await server.stop(None)


async def test_an_error_crosses_a_real_wire(refusing_server: str) -> None:
    async with grpc.aio.insecure_channel(refusing_server) as channel:
        refuse: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary("/test.Refusing/Refuse")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await refuse(b"", timeout=5)
    read = from_rpc_error(caught.value)
    assert read.kind is ErrorKind.OVERLOADED
    assert read.message == "busy: 忙"
    assert read.retry_after == 1.5
    assert read.violations == (Violation("a.b", "is no number"),)
