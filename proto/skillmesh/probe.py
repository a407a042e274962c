"""Asks a process whether it serves, by grpc.health.v1, as Consul's gRPC check does."""

import grpc
from grpc_health.v1 import health_pb2

from skillmesh.conventions import client_options

_MAX_REPLY_BYTES = 64 * 1024


async def serving(target: str, service: str, *, timeout: float, tls: bool = False) -> tuple[bool, str]:
    """Whether `service` (empty: the whole process) is SERVING, and a word on it; bounded by `timeout` seconds.

    One connection a question: a process that stopped accepting is found out, too.
    """
    options = client_options(_MAX_REPLY_BYTES)
    channel = (
        grpc.aio.secure_channel(target, grpc.ssl_channel_credentials(), options)
        if tls
        else grpc.aio.insecure_channel(target, options)
    )
    async with channel:
        check: grpc.aio.UnaryUnaryMultiCallable[health_pb2.HealthCheckRequest, health_pb2.HealthCheckResponse]
        check = channel.unary_unary(  # as the generated stub has it, whose types leave its methods out
            "/grpc.health.v1.Health/Check",
            request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
            response_deserializer=health_pb2.HealthCheckResponse.FromString,
        )
        try:
            reply = await check(health_pb2.HealthCheckRequest(service=service), timeout=timeout)
        except grpc.aio.AioRpcError as error:
            return False, f"{error.code().name}: {error.details()}"
    name = health_pb2.HealthCheckResponse.ServingStatus.Name(reply.status)
    return reply.status == health_pb2.HealthCheckResponse.SERVING, "success" if name == "SERVING" else name
