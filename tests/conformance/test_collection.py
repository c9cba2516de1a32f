# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Garbage collection never calls the driver, and leaves nothing behind."""

import gc
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.helpers.calls import LevelZeroCalls
from tests.helpers.gates import hold
from tests.helpers.usm import alloc, finish, pool_of, repeat_until
from urasync_l0 import Context, Queue, UsmType
from urasync_l0.software_driver.controls import Controls


@pytest.fixture
def _eager_collection() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(1)
    yield
    gc.set_threshold(*before)


def test_a_dropped_allocation_is_freed_by_the_next_call(queue: Queue, kind: UsmType) -> None:
    pool = pool_of(queue, kind)
    allocation = alloc(queue, kind, 1000)
    address = allocation.ptr
    with LevelZeroCalls() as calls:
        del allocation
    assert calls.total == 0
    assert pool.used_bytes == 1024
    again = alloc(queue, kind, 1000)
    assert again.ptr == address
    assert pool.used_bytes == 1024
    again.free()


def test_cycles(queue: Queue, kind: UsmType) -> None:
    class Node:
        def __init__(self) -> None:
            self.me = self
            self.allocation = alloc(queue, kind, 1000)
            self.event = queue.record()

    for _ in range(10):
        Node()
    with LevelZeroCalls() as calls:
        gc.collect()
    assert calls.total == 0
    finish(queue)
    assert pool_of(queue, kind).used_bytes == 0


@pytest.mark.usefixtures("_eager_collection")
def test_collection_inside_the_allocator(queue: Queue, kind: UsmType) -> None:
    """PY-1."""
    for n in range(2000):
        cycle: list[Any] = [alloc(queue, kind, 100 + n % 977)]
        cycle.append(cycle)
    del cycle
    gc.collect()
    finish(queue)
    assert pool_of(queue, kind).used_bytes == 0


def test_dropped_in_another_thread(
    controls: Controls, queue: Queue, other_queue: Queue, kind: UsmType
) -> None:
    """PY-6: freed in the order of the queue that allocated it."""
    holder = [alloc(queue, kind, 4096)]
    with hold(controls, queue):
        queue.fill(holder[0], b"\x01")
        thread = threading.Thread(target=holder.clear)
        thread.start()
        thread.join()
        other_queue.record().release()  # does the free
        assert pool_of(queue, kind).statistics().pending >= 4096
        other = alloc(other_queue, kind, 4096)
        own = alloc(queue, kind, 4096)
        assert other.ptr != own.ptr
    for allocation in (other, own):
        allocation.free()


def test_dropped_after_its_queue_was_closed(queue: Queue, kind: UsmType) -> None:
    """PY-6: if that queue is gone, its work is complete and the memory idle."""
    allocation = alloc(queue, kind, 1000)
    other = queue.context.create_queue()
    queue.close()
    del allocation
    other.record().release()
    numbers = pool_of(other, kind).statistics()
    assert (numbers.used, numbers.pending) == (0, 0)


def test_dropped_after_it_was_freed_by_address(queue: Queue, kind: UsmType) -> None:
    first = alloc(queue, kind, 1000)
    queue.free(first.ptr)
    second = alloc(queue, kind, 1000)
    assert second.ptr == first.ptr
    del first
    queue.record().release()
    assert pool_of(queue, kind).used_bytes == 1024
    second.free()


def test_memory_of_dropped_allocations_is_found_when_it_runs_out(
    make_context: Callable[..., Context], kind: UsmType
) -> None:
    """MEM-1: what collection left behind counts before an error is given."""
    context = make_context()
    queue = context.create_queue()
    pool = context.create_pool(maximum_size=8 << 20)
    first = alloc(queue, kind, 8 << 20, pool=pool)
    del first
    alloc(queue, kind, 8 << 20, pool=pool).free()
    pool.close()


def test_a_dropped_pool_is_closed(controls: Controls, context: Context, queue: Queue) -> None:
    pool = context.create_pool(release_threshold=2**40)
    core = pool.core
    allocation = queue.alloc_device(1000, pool=pool)
    del pool
    finish(queue)
    closed = [core.is_closed]  # the allocation holds it
    allocation.free()
    del allocation
    finish(queue)
    closed.append(core.is_closed)
    assert closed == [False, True]
    finish(queue)
    assert core.statistics().reserved == 0


def test_dropped_while_a_copy_on_another_queue_waits(
    controls: Controls, queue: Queue, other_queue: Queue
) -> None:
    """PY-7: a pending copy holds the allocation that it reads."""
    target = bytearray(4096)
    allocation = queue.alloc_device(4096)
    queue.fill(allocation, b"\x21")
    finish(queue)
    with hold(controls, other_queue) as held:
        other_queue.memcpy(target, allocation)
        del allocation
        gc.collect()
        with queue.alloc_device(4096) as other:
            queue.fill(other, b"\x99")
            finish(queue)
        held.release()
        finish(other_queue)
    assert bytes(target) == b"\x21" * 4096
    finish(other_queue)
    assert pool_of(queue, UsmType.DEVICE).used_bytes == 0


def test_a_dropped_context_is_closed(
    controls: Controls, adapter: str, make_context: Callable[..., Context]
) -> None:
    before = controls.live_objects()["context"]

    def use() -> None:
        context = Context(adapter)
        queue = context.create_queue()
        with queue.alloc_device(100) as allocation:
            queue.fill(allocation, b"\x01")
        finish(queue)

    for _ in range(5):
        use()
        gc.collect()
    repeat_until(
        lambda: controls.live_objects()["context"] == before, lambda: make_context().close()
    )
