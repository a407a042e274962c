"""The registries that the contract holds for: the development registry, and real Consul where there is a binary."""

import contextlib
import warnings
from collections.abc import AsyncIterator

import consul.aio
import pytest
import pytest_asyncio

from tests.support.consul_agent import consul_agent, find_consul
from tests.support.dev_registry import dev_registry
from tests.support.registry_contract import Registry


@pytest_asyncio.fixture(
    loop_scope="module",
    scope="module",
    params=[
        "development",
        pytest.param(
            "consul",
            marks=[
                pytest.mark.consul,
                pytest.mark.skipif(
                    find_consul() is None, reason="no consul binary: set SKILLMESH_CONSUL_BIN or put consul on PATH"
                ),
            ],
        ),
    ],
)
async def registry(request: pytest.FixtureRequest) -> AsyncIterator[Registry]:
    async with contextlib.AsyncExitStack() as stack:
        if request.param == "consul":
            port = int((await stack.enter_async_context(consul_agent())).http_addr.rpartition(":")[2])
        else:
            port = (await stack.enter_async_context(dev_registry())).port
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "(ssl_context|verify_ssl) is deprecated", DeprecationWarning)
            client = consul.aio.Consul(host="127.0.0.1", port=port)
        stack.push_async_callback(client.close)
        yield Registry(client, request.param)
