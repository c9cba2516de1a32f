# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What outlives what: queues, events, memory and pools, in the order in which clients let go."""

import gc
from collections.abc import Callable

import pytest

from tests.helpers.entries import Client, refused, written
from tests.helpers.gates import hold
from tests.helpers.usm import MIB
from urasync_l0 import Context, Device, Event, Pool, Queue, UrResult, UsmType
from urasync_l0.enums import EventInfo, UsmPoolInfo
from urasync_l0.out import Out
from urasync_l0.software_driver.controls import Controls


def test_memory_of_released_queues_is_idle(
    client: Client, context: Context, device: Device, make_queue: Callable[[], Queue], kind: UsmType
) -> None:
    """LIFE-2: released while its frees are pending; the next queue takes the memory at once."""
    pool = client.create_pool(context)
    client.adapter.urUSMPoolSetInfoExp(pool, UsmPoolInfo.RELEASE_THRESHOLD_EXP, 2**64 - 1, 8)
    given = set()
    for _ in range(100):
        queue = make_queue()
        mem = client.alloc_only(queue, kind, 1000, pool=pool)
        given.add(mem)
        client.release(client.fill(queue, mem, b"\x01", 1000))
        client.free_only(queue, mem)
        client.adapter.urQueueRelease(queue)
        assert pool.statistics().pending == 0
    assert len(given) == 1
    client.adapter.urUSMPoolRelease(pool)


@pytest.mark.needs_execution("data is read back")
def test_release_of_a_queue_completes_it(
    client: Client, make_queue: Callable[[], Queue], queue: Queue, kind: UsmType
) -> None:
    """LIFE-2: what was enqueued is done when the release returns."""
    other = make_queue()
    mem = client.alloc_only(other, kind, 4 * MIB)
    target = bytearray(4 * MIB)
    client.release(client.fill(other, mem, b"\x21", 4 * MIB))
    client.adapter.urEnqueueUSMMemcpy(other, False, target, mem, 4 * MIB, 0, None, None)
    client.adapter.urQueueRelease(other)
    assert target == b"\x21" * (4 * MIB)
    client.free_only(queue, mem)


@pytest.mark.needs_execution("data is read back")
def test_memory_outlives_its_queue(
    client: Client, make_queue: Callable[[], Queue], queue: Queue, kind: UsmType
) -> None:
    """LIFE-3: any queue of the context frees it, and gets it again at once."""
    other = make_queue()
    mem, allocated = client.alloc(other, kind, 1000)
    client.adapter.urQueueRelease(other)
    filled = client.fill(queue, mem, b"\x42", 1000, wait=[allocated])
    assert client.read(queue, mem, 1000) == b"\x42" * 1000
    client.free_only(queue, mem)
    again = client.alloc_only(queue, kind, 1000)
    assert again == mem
    client.free_only(queue, again)
    client.release(allocated, filled)


@pytest.mark.needs_execution("an event must be seen complete", run=False)
def test_events_outlive_their_queue(
    client: Client, make_queue: Callable[[], Queue], queue: Queue, kind: UsmType
) -> None:
    """They are complete then; wait lists, waits and queries take them as before."""
    other = make_queue()
    mem, allocated = client.alloc(other, kind, 1000)
    freed = client.free(other, mem)
    client.adapter.urQueueRelease(other)
    client.adapter.urEventWait(2, [allocated, freed])
    again, ordered = client.alloc(queue, kind, 1000, wait=[freed])
    status: Out[int] = Out()
    client.adapter.urEventGetInfo(freed, EventInfo.COMMAND_EXECUTION_STATUS, 4, status, None)
    assert written(status) == 0
    client.free_only(queue, again)
    client.release(allocated, freed, ordered)


def test_order_outlives_events(
    client: Client, queue: Queue, other_queue: Queue, controls: Controls, kind: UsmType
) -> None:
    """ORD-10: an event released right after it was waited for still orders, and is not reused."""
    mem, allocated = client.alloc(queue, kind, MIB)
    target = bytearray(MIB)
    with hold(controls, queue):
        filled = client.fill(queue, mem, b"\x31", MIB, wait=[allocated])
        client.adapter.urEnqueueUSMMemcpy(other_queue, False, target, mem, MIB, 1, [filled], None)
        client.release(allocated, filled)
        for _ in range(100):
            passing: Out[Event] = Out()
            client.adapter.urEnqueueEventsWait(other_queue, 0, None, passing)
            client.release(written(passing))
        assert target == bytes(MIB)
    client.adapter.urQueueFinish(other_queue)
    assert target == b"\x31" * MIB
    client.free_only(queue, mem)


def test_references_of_queues_and_events(
    client: Client, make_queue: Callable[[], Queue], kind: UsmType
) -> None:
    """MEM-5: one reference on return; retained handles live until the last release."""
    queue = make_queue()
    mem, allocated = client.alloc(queue, kind, 64)
    client.adapter.urEventRetain(allocated)
    client.adapter.urQueueRetain(queue)
    client.release(allocated)
    client.adapter.urQueueRelease(queue)
    client.free_only(queue, mem)
    client.adapter.urEventWait(1, [allocated])
    client.release(allocated)
    with refused(UrResult.INVALID_EVENT):
        client.adapter.urEventRelease(allocated)
    client.adapter.urQueueRelease(queue)
    with refused(UrResult.INVALID_QUEUE):
        client.adapter.urQueueRelease(queue)


def test_a_pool_keeps_its_context(client: Client, device: Device) -> None:
    """LIFE-8: dropped by everyone, the context serves the pool and the queue on it."""
    context = client.create_context([device])
    pool = client.create_pool(context, device)
    queue = client.create_queue(context, device)
    del context
    gc.collect()
    mem = client.alloc_only(queue, UsmType.DEVICE, 64, pool=pool)
    assert client.pool_info(pool, UsmPoolInfo.USED_CURRENT_EXP) == 256
    client.free_only(queue, mem)
    client.adapter.urQueueRelease(queue)
    context = client.pool_info(pool, UsmPoolInfo.CONTEXT)
    client.adapter.urUSMPoolRelease(pool)
    client.adapter.urContextRelease(context)
    assert context.is_closed


def test_dropped_handles_are_collected(
    client: Client, context: Context, device: Device, queue: Queue
) -> None:
    """What a Python client drops without a release leaves nothing behind (see the fixture)."""
    pool: Pool | None = client.create_pool(context, device)
    assert pool is not None
    client.adapter.urUSMPoolRetain(pool)
    mem, allocated = client.alloc(queue, UsmType.DEVICE, 64, pool=pool)
    client.adapter.urEventRetain(allocated)
    client.free_only(queue, mem)
    del pool, allocated
    gc.collect()
    client.adapter.urQueueFinish(queue)
