import grpc
import pytest

from skill_services.sdk.errors import CallFailedError
from skill_services.sdk.runtime import Incoming
from skillmesh.errors import ErrorKind
from skillmesh.status import Violation, WireError, from_rpc_error
from skillmesh.v1.result_pb2 import Result
from skillmesh.v1.skill_service_pb2 import InvokeRequest
from tests.support.fake_runtime import served


@pytest.mark.parametrize("message", ["x" * 5_000, "中" * 2_000, "%" * 2_000])
async def test_a_long_error_reaches_the_caller_as_what_it_is(message: str) -> None:
    async def behaviour(_incoming: Incoming) -> Result:
        violations = tuple(Violation(f"items[{index}]", message) for index in range(32))
        raise CallFailedError(WireError(ErrorKind.INVALID_ARGUMENTS, message, violations=violations))

    async with served(behaviour) as mesh:
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await mesh.stub.invoke(InvokeRequest(skill="echo"), timeout=5)
    read = from_rpc_error(raised.value)
    assert read.kind is ErrorKind.INVALID_ARGUMENTS
    assert read.message.endswith("...")
    assert read.message[0] == message[0]
    assert read.violations[0].path == "items[0]"
