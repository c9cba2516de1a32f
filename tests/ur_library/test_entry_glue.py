# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python functions behind the C entries, without a library around them."""

from collections.abc import Callable
from typing import Any, cast

import pytest

from urasync_l0.entry_points import Adapter
from urasync_l0.out import Out
from urasync_l0.ur_library.entry_glue import make_functions

HEADER = """
ur_result_t urEnqueueUSMDeviceAllocExp(ur_queue_handle_t queue, ur_usm_pool_handle_t pool,
                                       size_t size, void **mem, ur_event_handle_t *event);
ur_result_t urEnqueueUSMFreeExp(ur_queue_handle_t queue, ur_usm_pool_handle_t pool, void *mem,
                                uint32_t num_events_in_wait_list, ur_event_handle_t *event);
"""


class _Adapter:
    """Gives and takes one address, and refuses another queue."""

    def __init__(self, address: int) -> None:
        self.address = address
        self.freed: list[int] = []

    def urEnqueueUSMDeviceAllocExp(
        self, queue: Any, pool: Any, size: int, mem: Out[int], event: Any
    ) -> None:
        assert (queue, pool, event) == ("queue", None, None)
        if not size:
            raise ValueError("nothing")
        mem.value = self.address

    def urEnqueueUSMFreeExp(self, queue: Any, pool: Any, mem: int, count: int, event: Any) -> None:
        assert (queue, pool, count, event) == ("queue", None, 0, None)
        self.freed.append(mem)


def functions(adapter: _Adapter) -> dict[str, Callable[..., int]]:
    names: dict[str, object] = {
        "queue_table": {1: "queue"},
        "Out": Out,
        "failed": lambda name, error: 64,
    }
    return make_functions(HEADER, cast(Adapter, adapter), names)


@pytest.mark.parametrize("address", [0x1000, 0x7FFF_FFFF_F000, 0xFFFF_8001_0000_0100])
def test_plain_calls_give_and_take_any_address(address: int) -> None:
    """Intel's driver gives addresses with the highest bit set."""
    adapter = _Adapter(address)
    made = functions(adapter)
    assert made["plain_urEnqueueUSMDeviceAllocExp"](1, 64) == address
    assert made["plain_urEnqueueUSMFreeExp"](1, address) == 0
    assert adapter.freed == [address]


def test_a_result_of_a_plain_call_is_odd() -> None:
    made = functions(_Adapter(0x1000))
    assert made["plain_urEnqueueUSMDeviceAllocExp"](1, 0) == 2 * 64 + 1
    assert made["plain_urEnqueueUSMFreeExp"](2, 0x1000) == 2 * 64 + 1  # no such queue
