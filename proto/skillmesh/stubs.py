"""Typed clients and registration over the generated gRPC code, which carries no types of its own."""

from collections.abc import AsyncIterator, Awaitable
from typing import Protocol

import grpc

from skillmesh.v1 import mesh_service_pb2 as mesh
from skillmesh.v1 import skill_service_pb2 as skill
from skillmesh.v1.mesh_service_pb2_grpc import (
    MeshServiceStub as _MeshServiceStub,
)
from skillmesh.v1.mesh_service_pb2_grpc import (
    add_MeshServiceServicer_to_server as _add_mesh,
)
from skillmesh.v1.skill_service_pb2_grpc import (
    SkillServiceStub as _SkillServiceStub,
)
from skillmesh.v1.skill_service_pb2_grpc import (
    add_SkillServiceServicer_to_server as _add_skill,
)


class SkillServiceStub:
    """The calls of skillmesh.v1.SkillService on one channel; await one with `timeout=` and `metadata=`."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        stub = _SkillServiceStub(channel)
        self.describe: grpc.aio.UnaryUnaryMultiCallable[skill.DescribeRequest, skill.DescribeResponse]
        self.describe = stub.Describe
        self.invoke: grpc.aio.UnaryUnaryMultiCallable[skill.InvokeRequest, skill.InvokeResponse]
        self.invoke = stub.Invoke
        self.invoke_stream: grpc.aio.UnaryStreamMultiCallable[skill.InvokeStreamRequest, skill.InvokeStreamResponse]
        self.invoke_stream = stub.InvokeStream


class MeshServiceStub:
    """The calls of skillmesh.v1.MeshService on one channel."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self.call: grpc.aio.UnaryUnaryMultiCallable[mesh.CallRequest, mesh.CallResponse]
        self.call = _MeshServiceStub(channel).Call


class SkillServicer(Protocol):
    """The server side of skillmesh.v1.SkillService; method names are the wire's."""

    async def Describe(  # noqa: N802
        self,
        request: skill.DescribeRequest,
        context: grpc.aio.ServicerContext[skill.DescribeRequest, skill.DescribeResponse],
    ) -> skill.DescribeResponse: ...

    async def Invoke(  # noqa: N802
        self,
        request: skill.InvokeRequest,
        context: grpc.aio.ServicerContext[skill.InvokeRequest, skill.InvokeResponse],
    ) -> skill.InvokeResponse: ...

    def InvokeStream(  # noqa: N802
        self,
        request: skill.InvokeStreamRequest,
        context: grpc.aio.ServicerContext[skill.InvokeStreamRequest, skill.InvokeStreamResponse],
    ) -> AsyncIterator[skill.InvokeStreamResponse] | Awaitable[None]: ...  # an iterator, or writes to the context


class MeshServicer(Protocol):
    """The server side of skillmesh.v1.MeshService."""

    async def Call(  # noqa: N802
        self,
        request: mesh.CallRequest,
        context: grpc.aio.ServicerContext[mesh.CallRequest, mesh.CallResponse],
    ) -> mesh.CallResponse: ...


def add_skill_service(server: grpc.aio.Server, servicer: SkillServicer) -> None:
    """Serve `servicer` as skillmesh.v1.SkillService."""
    _add_skill(servicer, server)


def add_mesh_service(server: grpc.aio.Server, servicer: MeshServicer) -> None:
    """Serve `servicer` as skillmesh.v1.MeshService."""
    _add_mesh(servicer, server)
