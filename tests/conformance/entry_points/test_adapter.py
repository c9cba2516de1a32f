# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entry points of the adapter itself."""

import threading
from typing import Any

from tests.helpers.entries import Client, refused, written
from urasync_l0 import InvalidValueError, UrResult, last_error
from urasync_l0.entry_points import Adapter
from urasync_l0.enums import AdapterInfo, Backend
from urasync_l0.out import Out


def adapter_info(client: Client, prop_name: AdapterInfo) -> Any:
    out: Out[Any] = Out()
    client.adapter.urAdapterGetInfo(client.adapter, prop_name, 4, out, None)
    return written(out)


def test_there_is_one_adapter(client: Client) -> None:
    """Each request that is given the handle adds a reference to it; a count alone does not."""
    references = adapter_info(client, AdapterInfo.REFERENCE_COUNT)
    number: Out[int] = Out()
    client.adapter.urAdapterGet(0, None, number)
    assert written(number) == 1
    assert adapter_info(client, AdapterInfo.REFERENCE_COUNT) == references
    for room in (1, 5):
        adapters: Out[tuple[Adapter, ...]] = Out()
        client.adapter.urAdapterGet(room, adapters, number)
        assert (written(adapters), number.value) == ((client.adapter,), 1)
    client.adapter.urAdapterRetain(client.adapter)
    before = adapter_info(client, AdapterInfo.REFERENCE_COUNT)
    for _ in range(3):
        client.adapter.urAdapterRelease(client.adapter)
    assert adapter_info(client, AdapterInfo.REFERENCE_COUNT) == before - 3


def test_arguments_of_the_list(client: Client) -> None:
    adapters: Out[tuple[Adapter, ...]] = Out()
    number: Out[int] = Out()
    with refused(UrResult.INVALID_SIZE, adapters, number):
        client.adapter.urAdapterGet(0, adapters, number)
    with refused(UrResult.INVALID_NULL_POINTER):
        client.adapter.urAdapterGet(0, None, None)
    with refused(UrResult.INVALID_NULL_POINTER, number):
        client.adapter.urAdapterGet(1, None, number)


def test_what_it_is(client: Client, adapter: str) -> None:
    assert adapter_info(client, AdapterInfo.BACKEND) == Backend.LEVEL_ZERO
    assert adapter_info(client, AdapterInfo.VERSION) == {"legacy": 1, "v2": 2}[adapter]


def test_last_error_is_of_the_thread(client: Client) -> None:
    """The message of what became a bare code, which another thread's errors do not touch."""
    last_error.record(InvalidValueError("The first thing went wrong."))

    def fail() -> None:
        last_error.record(InvalidValueError("Something else went wrong."))

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    message: Out[str] = Out()
    error: Out[int] = Out()
    client.adapter.urAdapterGetLastError(client.adapter, message, error)
    assert written(message) == "The first thing went wrong."
    assert written(error) == UrResult.INVALID_VALUE
