# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Allocate, use, read back and free; reuse on the same queue."""

from collections.abc import Callable

import pytest

from tests.helpers.calls import LevelZeroCalls
from tests.helpers.usm import MIB, alloc, finish, pool_of, read
from urasync_l0 import (
    Context,
    InvalidMemObjectError,
    InvalidUsmSizeError,
    InvalidValueError,
    Queue,
    UrResult,
    UsmType,
)
from urasync_l0.result import InvalidArgumentError
from urasync_l0.ze import memory as ze_memory


@pytest.mark.parametrize("nbytes", [1, 7, 64, 256, 4096, 3 * MIB + 5])
@pytest.mark.needs_execution("data is read back")
def test_memory_holds_what_was_written(queue: Queue, kind: UsmType, nbytes: int) -> None:
    with alloc(queue, kind, nbytes) as allocation:
        assert (allocation.nbytes, allocation.kind, allocation.queue) == (nbytes, kind, queue)
        assert allocation.ptr % 256 == 0
        queue.fill(allocation, b"\xa5")
        assert read(queue, allocation) == b"\xa5" * nbytes


@pytest.mark.needs_execution("data is read back")
def test_live_allocations_do_not_overlap(queue: Queue, kind: UsmType) -> None:
    allocations = [alloc(queue, kind, 1000 + n) for n in range(50)]
    for n, allocation in enumerate(allocations):
        queue.fill(allocation, bytes([n]))
    for n, allocation in enumerate(allocations):
        assert read(queue, allocation) == bytes([n]) * (1000 + n)
    for allocation in allocations:
        allocation.free()


def test_same_queue_reuse_is_immediate(queue: Queue, kind: UsmType) -> None:
    """ORD-3: the same memory again, with no event work."""
    first = alloc(queue, kind, 5000)
    address = first.ptr
    first.free()
    with LevelZeroCalls() as calls:
        second = alloc(queue, kind, 5000)
    assert second.ptr == address
    assert calls.total == 0
    second.free()


def test_warm_pairs_make_no_level_zero_call(queue: Queue, kind: UsmType) -> None:
    """PERF-3."""
    alloc(queue, kind, 4096).free()
    with LevelZeroCalls() as calls:
        for _ in range(1000):
            alloc(queue, kind, 4096).free()
    # A free that stays pending may be asked about now and then, but 1000 pairs reuse one block.
    assert calls.total == 0


def test_numbers(queue: Queue, kind: UsmType) -> None:
    """STAT-2, STAT-3: used counts rounded bytes and falls at the free; requested is as asked."""
    pool = pool_of(queue, kind)
    assert pool.statistics().reserved == 0
    allocation = alloc(queue, kind, 1)
    numbers = pool.statistics()
    assert (numbers.used, numbers.requested) == (256, 1)
    assert numbers.reserved >= 256
    allocation.free()
    numbers = pool.statistics()
    assert (numbers.used, numbers.requested, numbers.used_high) == (0, 0, 256)
    assert numbers.pending + numbers.idle == numbers.reserved
    finish(queue)
    numbers = pool.statistics()
    assert (numbers.pending, numbers.idle, numbers.reserved) == (0, 0, 0)


def test_free_by_address(queue: Queue, kind: UsmType) -> None:
    allocation = alloc(queue, kind, 100)
    queue.free(allocation.ptr)
    assert allocation.is_freed
    assert pool_of(queue, kind).used_bytes == 0


def test_free_on_another_queue(queue: Queue, other_queue: Queue, kind: UsmType) -> None:
    """Any queue of the context may free; the freeing queue may have the memory at once."""
    allocation = alloc(queue, kind, 3000)
    address = allocation.ptr
    finish(queue)
    allocation.free(queue=other_queue)
    with LevelZeroCalls() as calls:
        again = alloc(other_queue, kind, 3000)
    assert again.ptr == address
    assert calls.total == 0
    again.free()


@pytest.mark.parametrize("nbytes", [0, -1])
def test_no_size(queue: Queue, kind: UsmType, nbytes: int) -> None:
    with LevelZeroCalls() as calls, pytest.raises(InvalidUsmSizeError):
        alloc(queue, kind, nbytes)
    assert calls.total == 0


@pytest.mark.parametrize("nbytes", [1 << 62, 1 << 63, 2**64 - 511, 2**64 - 1, 2**70])
def test_huge_sizes(queue: Queue, kind: UsmType, nbytes: int) -> None:
    """ERR-4, ERR-5: no rounding error, no ladder, and the pool still works."""
    with LevelZeroCalls() as calls, pytest.raises(InvalidUsmSizeError, match=str(nbytes)):
        alloc(queue, kind, nbytes)
    assert calls.total == 0
    alloc(queue, kind, 100).free()


def test_above_the_largest_allocation(queue: Queue, kind: UsmType) -> None:
    with pytest.raises(InvalidUsmSizeError):
        alloc(queue, kind, queue.device.max_allocation + 1)


def test_a_size_is_a_whole_number(queue: Queue, kind: UsmType) -> None:
    with pytest.raises(TypeError):
        alloc(queue, kind, 1.5)  # type: ignore[arg-type]


def test_double_free(queue: Queue, other_queue: Queue, kind: UsmType) -> None:
    """ERR-9."""
    allocation = alloc(queue, kind, 100)
    allocation.free()
    before = pool_of(queue, kind).statistics()
    attempts: tuple[Callable[[], object], ...] = (
        allocation.free,
        lambda: queue.free(allocation.ptr),
        lambda: other_queue.free(allocation),
    )
    for attempt in attempts:
        with pytest.raises(InvalidMemObjectError):
            attempt()
    assert pool_of(queue, kind).statistics() == before


def test_a_freed_allocation_does_not_free_its_successor(queue: Queue, kind: UsmType) -> None:
    first = alloc(queue, kind, 100)
    first.free()
    second = alloc(queue, kind, 100)
    assert second.ptr == first.ptr
    with pytest.raises(InvalidMemObjectError):
        first.free()
    assert not second.is_freed
    second.free()


@pytest.mark.parametrize("offset", [1, 256, 99])
def test_interior_pointers(queue: Queue, kind: UsmType, offset: int) -> None:
    """ERR-7."""
    allocation = alloc(queue, kind, 1000)
    with LevelZeroCalls() as calls, pytest.raises(InvalidMemObjectError, match="inside"):
        queue.free(allocation.ptr + offset, event=True)
    assert calls.total == 0
    allocation.free()


@pytest.mark.parametrize("address", [0, 1, 0xDEAD0000, 2**64 - 256])
def test_foreign_pointers(queue: Queue, address: int) -> None:
    """ERR-7."""
    with LevelZeroCalls() as calls, pytest.raises(InvalidMemObjectError):
        queue.free(address, event=True)
    assert calls.total == 0


def test_pool_argument_of_a_free(context: Context, queue: Queue, kind: UsmType) -> None:
    """A free whose pool argument does not own the pointer changes nothing."""
    own = context.create_pool()
    allocation = alloc(queue, kind, 100, pool=own)
    with LevelZeroCalls() as calls, pytest.raises(InvalidValueError) as caught:
        queue.free(allocation, pool=pool_of(queue, kind), event=True)
    assert caught.value.code is UrResult.INVALID_VALUE
    assert calls.total == 0
    assert own.used_bytes == 256
    queue.free(allocation, pool=own)
    assert own.used_bytes == 0
    own.close()


def test_host_memory_from_a_device_pool(context: Context, queue: Queue) -> None:
    """ERR-11: the same code in both adapters."""
    pool = context.create_pool(device=0)
    with pytest.raises(InvalidArgumentError) as caught:
        queue.alloc_host(100, pool=pool)
    assert caught.value.code is UrResult.INVALID_ARGUMENT
    pool.close()


@pytest.mark.needs_execution("data is read back")
def test_closed_pool(context: Context, queue: Queue, kind: UsmType) -> None:
    """LIFE-5: no new allocations, live ones stay valid, the memory goes with the last free."""
    pool = context.create_pool()
    allocation = alloc(queue, kind, 100, pool=pool)
    pool.close()
    with pytest.raises(InvalidValueError):
        alloc(queue, kind, 100, pool=pool)
    with pytest.raises(InvalidValueError):
        pool.close()
    queue.fill(allocation, b"\x11")
    assert read(queue, allocation) == b"\x11" * 100
    allocation.free()
    finish(queue)
    assert pool.reserved_bytes == 0


def test_default_pools_are_not_closed(context: Context) -> None:
    for pool in (context.default_pool(), context.host_pool):
        with pytest.raises(InvalidValueError):
            pool.close()


def test_pool_sizes_are_checked(context: Context) -> None:
    pool = context.create_pool(release_threshold=1, maximum_size=2)
    assert (pool.release_threshold, pool.maximum_size) == (1, 2)
    for name in ("release_threshold", "maximum_size"):
        with pytest.raises(InvalidValueError, match=name):
            setattr(pool, name, -1)
    with pytest.raises(InvalidValueError):
        pool.trim_to(-1)
    pool.close()


def test_representations(context: Context, queue: Queue, kind: UsmType) -> None:
    with alloc(queue, kind, 100) as allocation:
        assert kind.name in repr(allocation)
        assert "100 bytes" in repr(allocation)
        assert hex(allocation.ptr) in repr(allocation)
    assert "freed" in repr(allocation)
    assert context.adapter_name in repr(context)
    assert str(queue.id) in repr(queue)
    assert context.default_pool().name in repr(context.default_pool())
    closed = context.create_pool(), context.create_queue()
    assert "closed" not in repr(closed)
    for each in closed:
        each.close()
        assert repr(each).endswith(", closed)")
    count = len(context.devices)
    assert f" {count} device{'s' * (count > 1)}, " in repr(context)


def test_memory_is_of_the_kind_that_was_asked_for(queue: Queue, kind: UsmType) -> None:
    """What the driver says of the pointer: on a GPU, only some of it is the host's to read."""
    with alloc(queue, kind, 4096) as allocation:
        known = ze_memory.get_alloc_properties(queue.context.native.handle, allocation.ptr)
    assert known.type.name == kind.name
