"""Channels and servers that nobody has instrumented behind our back.

OpenTelemetry's global gRPC instrumentation replaces `grpc.aio.insecure_channel` and `grpc.aio.server`. Its client
interceptor keeps a cancelled RPC running (open-telemetry/opentelemetry-python-contrib#3271) and would add a second
span to each hop that is traced here already, so the originals are taken from where grpc defines them.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import grpc

Options = Sequence[tuple[str, int]]


def open_channel(target: str, options: Options) -> grpc.aio.Channel:
    """A plain-text channel; connects at its first call, in the running loop."""
    make: Callable[..., grpc.aio.Channel] = _original("grpc.aio._channel", "insecure_channel")
    return make(target, options=options)


def make_server(options: Options, maximum_concurrent_rpcs: int) -> grpc.aio.Server:
    make: Callable[..., grpc.aio.Server] = _original("grpc.aio._server", "server")
    return make(options=options, maximum_concurrent_rpcs=maximum_concurrent_rpcs)


def _original(module: str, name: str) -> Any:  # noqa: ANN401  # a function of grpc's, typed where it is used
    return getattr(sys.modules.get(module), name, None) or getattr(grpc.aio, name)
