"""Asking an instance for its skills."""

from typing import Final

import grpc

from agent_core.domain.errors import CallError
from agent_core.domain.ports import Description
from agent_core.domain.skill import Instance
from agent_core.transport.channels import Channels
from agent_core.transport.descriptors import describe_all
from skillmesh import status
from skillmesh.v1.skill_service_pb2 import DescribeRequest

TIMEOUT_SECONDS: Final = 5.0


class GrpcDescribe:
    """Implements ports.Describe over the channels that calls use, so the first call finds one open."""

    def __init__(self, channels: Channels, *, timeout: float = TIMEOUT_SECONDS) -> None:
        self._channels = channels
        self._timeout = timeout

    async def __call__(self, instance: Instance) -> Description:
        """Raises CallError where the instance does not answer, in time, with something readable."""
        line = self._channels.line(instance)
        try:
            response = await line.stub.describe(DescribeRequest(), timeout=self._timeout, wait_for_ready=False)
        except grpc.aio.AioRpcError as error:
            wire = status.from_rpc_error(error)
            raise CallError(
                wire.kind, f"{instance.service} on {instance.id} did not describe its skills: {wire.message}."
            ) from error
        finally:
            line.release()
        return describe_all(response.skills)
