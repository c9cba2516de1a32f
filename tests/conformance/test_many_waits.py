# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wait lists with events of several queues: each of them holds the command back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.helpers.gates import hold
from tests.helpers.usm import TIMEOUT_NS, finish
from urasync_l0 import Allocation, Context, Event, Queue

if TYPE_CHECKING:
    from urasync_l0.software_driver.controls import Controls

Command = Callable[[Queue, Allocation, list[Event]], object]

COMMANDS: dict[str, Command] = {
    "alloc": lambda queue, _, waits: queue.alloc_device(64, wait=waits),
    "free": lambda queue, target, waits: queue.free(target, wait=waits),
    "fill": lambda queue, target, waits: queue.fill(target, b"\x02", wait=waits),
    "memcpy": lambda queue, target, waits: queue.memcpy(target, b"\x02" * 64, wait=waits),
    "wait": lambda queue, _, waits: queue.wait(waits),
}


@pytest.mark.parametrize("first", [0, 1], ids=["first runs", "second runs"])
@pytest.mark.parametrize("name", COMMANDS)
def test_all_queues_of_a_wait_list_hold_the_command_back(
    context: Context, controls: Controls, name: str, first: int
) -> None:
    """ORD-6: not only the first, and not only the last."""
    queue, *others = (context.create_queue() for _ in range(3))
    target = queue.alloc_device(64)
    finish(queue)
    with hold(controls, others[0]) as one, hold(controls, others[1]) as two:
        waits = [other.record() for other in others]
        kept = COMMANDS[name](queue, target, waits)
        after = queue.record()
        (one, two)[first].release()
        assert others[first].finish(TIMEOUT_NS)
        assert not after.is_complete(), "the other queue is still held"
        (two, one)[first].release()
        assert after.wait(TIMEOUT_NS)
    del kept


def test_a_transfers_wait_orders_later_allocations(
    queue: Queue, other_queue: Queue, controls: Controls
) -> None:
    """ORD-5b: a wait counts wherever it was appended."""
    old = queue.alloc_device(5000)
    target = other_queue.alloc_device(64)
    address = old.ptr
    with hold(controls, queue):
        queue.fill(old, b"\x01")
        freed = queue.free(old, event=True)
        other_queue.fill(target, b"\x01", wait=[freed])
        new = other_queue.alloc_device(5000)
        assert new.ptr == address
        assert new.pool.statistics().reused_clock == 1
    finish(other_queue)
