# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory of a context, allocated and freed without a queue."""

import gc
import threading
from collections.abc import Callable

import pytest

from tests.helpers.calls import LevelZeroCalls
from tests.helpers.gates import hold
from tests.helpers.usm import KINDS, MIB, TIMEOUT_NS, alloc, finish, pool_of, read, repeat_until
from urasync_l0 import (
    KEEP_EVERYTHING,
    Allocation,
    Context,
    InvalidMemObjectError,
    InvalidUsmSizeError,
    InvalidValueError,
    Pool,
    Queue,
    UrError,
    UsmPoolFlag,
    UsmType,
    default_context,
)
from urasync_l0.result import InvalidArgumentError, InvalidDeviceError
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze.result import ZeResult

UNKNOWN = int(ZeResult.ERROR_UNKNOWN)
ZERO = UsmPoolFlag.ZERO_INITIALIZE_BLOCK


def allocate(
    context: Context, kind: UsmType, nbytes: int, pool: Pool | None = None, alignment: int = 0
) -> Allocation:
    if kind is UsmType.HOST:
        return context.alloc_host(nbytes, pool=pool, alignment=alignment)
    method = context.alloc_device if kind is UsmType.DEVICE else context.alloc_shared
    return method(nbytes, pool=pool, alignment=alignment)


@pytest.mark.needs_execution("data is read back")
def test_every_queue_can_use_it_at_once(
    context: Context, queue: Queue, other_queue: Queue, kind: UsmType
) -> None:
    allocation = allocate(context, kind, 5000)
    assert (allocation.nbytes, allocation.queue, allocation.context) == (5000, None, context)
    queue.fill(allocation, b"\x07", 2500)
    other_queue.fill(allocation, b"\x08", 2500, offset=2500)
    finish(other_queue)
    assert read(queue, allocation) == b"\x07" * 2500 + b"\x08" * 2500
    allocation.free()
    assert allocation.is_freed
    assert pool_of(queue, kind).used_bytes == 0


def test_never_memory_that_a_queue_may_still_use(
    context: Context, queue: Queue, controls: Controls, kind: UsmType
) -> None:
    """What is freed on a queue is the host's only when that is complete."""
    pool = context.create_pool(release_threshold=KEEP_EVERYTHING)
    first = alloc(queue, kind, 3 * MIB, pool=pool)
    address = first.ptr
    with hold(controls, queue):
        queue.fill(first, b"\x01")
        first.free()
        second = allocate(context, kind, 3 * MIB, pool)
        assert second.ptr != address
    finish(queue)
    third = allocate(context, kind, 3 * MIB, pool)
    assert third.ptr == address


def test_free_waits_for_what_the_queues_were_given(
    context: Context, queue: Queue, controls: Controls, kind: UsmType
) -> None:
    """ORD-8 and the text of urUSMFree: used until then, and idle, not pending, afterwards."""
    allocation = allocate(context, kind, MIB)
    pool = pool_of(queue, kind)
    with hold(controls, queue) as held:
        queue.fill(allocation, b"\x01")
        thread = threading.Thread(target=allocation.free)
        thread.start()
        # The thread places a marker behind the fill before it waits.
        repeat_until(lambda: bool(queue.order.markers), lambda: None)
        assert thread.is_alive()
        assert pool.used_bytes == MIB
        held.release()
        thread.join(TIMEOUT_NS / 1e9)
        assert not thread.is_alive()
    numbers = pool.statistics()
    assert (numbers.used, numbers.pending) == (0, 0)
    assert numbers.idle >= MIB


def test_a_queue_may_free_it(context: Context, queue: Queue, kind: UsmType) -> None:
    allocation = allocate(context, kind, 4096)
    event = queue.free(allocation, event=True)
    assert event.wait(TIMEOUT_NS)
    with pytest.raises(InvalidMemObjectError):
        allocation.free()


def test_the_context_may_free_what_a_queue_allocated(
    context: Context, queue: Queue, kind: UsmType
) -> None:
    allocation = alloc(queue, kind, 4096)
    context.free(allocation)
    assert allocation.is_freed
    again = alloc(queue, kind, 4096)
    context.free(again.ptr)
    assert again.is_freed
    for target in (again, again.ptr, again.ptr + 1, 12345):
        with pytest.raises(InvalidMemObjectError):
            context.free(target)


def test_dropped_memory_is_freed_when_the_queues_are_there(
    context: Context, queue: Queue, controls: Controls, kind: UsmType
) -> None:
    """PY-6: collection frees nothing that a queue may still use, and waits for nobody."""
    allocation = allocate(context, kind, MIB)
    pool = pool_of(queue, kind)
    with hold(controls, queue):
        queue.fill(allocation.ptr, b"\x01", MIB)  # by its address, which keeps no object alive
        del allocation
        gc.collect()
        context.create_pool().close()  # any call works off what was dropped
        assert pool.used_bytes == MIB
    finish(queue)
    finish(queue)
    assert pool.used_bytes == 0


def test_dropped_memory_waits_for_all_queues(
    context: Context, queue: Queue, other_queue: Queue, controls: Controls, kind: UsmType
) -> None:
    """ORD-8: one queue that is there is not enough; a marker that fails loses nothing."""
    allocation = allocate(context, kind, MIB)
    pool = pool_of(queue, kind)
    with hold(controls, other_queue):
        queue.fill(allocation.ptr, b"\x01", MIB // 2)
        other_queue.fill(allocation.ptr + MIB // 2, b"\x01", MIB // 2)
        controls.fail("zeCommandListAppendSignalEvent", 1, UNKNOWN, times=0)
        del allocation
        gc.collect()
        context.create_pool().close()  # any call works off what was dropped
        controls.clear_failures()
        finish(queue)
        assert pool.used_bytes == MIB
    finish(other_queue)
    finish(queue)
    assert pool.used_bytes == 0


def test_dropped_memory_does_not_pile_up(context: Context, queue: Queue, kind: UsmType) -> None:
    """MEM-4: without any synchronisation, later drops free the earlier ones."""
    postponed = context.native.postponed
    for _ in range(500):
        allocation = allocate(context, kind, 70_000)
        queue.fill(allocation.ptr, b"\x01", 70_000)
        del allocation
    # The queue may be far behind; as it catches up, drops alone have to notice.
    repeat_until(lambda: len(postponed) < 10, lambda: allocate(context, kind, 256))
    finish(queue)
    assert pool_of(queue, kind).used_bytes == 0


def test_free_that_fails_leaves_the_memory_in_use(
    context: Context, queue: Queue, controls: Controls, kind: UsmType
) -> None:
    """ERR-8: the next free works."""
    allocation = allocate(context, kind, MIB)
    queue.fill(allocation.ptr, b"\x01", MIB)
    controls.fail("zeCommandListAppendSignalEvent", 1, UNKNOWN)
    with pytest.raises(UrError):
        allocation.free()
    controls.clear_failures()
    assert not allocation.is_freed
    assert pool_of(queue, kind).used_bytes == MIB
    allocation.free()
    assert pool_of(queue, kind).used_bytes == 0


@pytest.mark.parametrize("flags", [ZERO, ZERO | UsmPoolFlag.READ_ONLY_EXP], ids=["zero", "both"])
def test_preparation_that_fails_loses_no_memory(
    context: Context, queue: Queue, controls: Controls, kind: UsmType, flags: UsmPoolFlag
) -> None:
    """ERR-8: whichever call fails, nothing stays in use, and the next allocation is zero."""
    pool = context.create_pool(flags=flags)
    allocate(context, kind, 5000, pool).free()  # makes the queue that zeroes
    finish(queue)
    with LevelZeroCalls() as calls:
        allocate(context, kind, 5000, pool).free()
    for entry in calls.counts:
        finish(queue)
        controls.fail(entry, 1, UNKNOWN)
        try:
            allocate(context, kind, 5000, pool).free()
        except UrError:
            assert pool.used_bytes == 0
        controls.clear_failures()
        allocation = allocate(context, kind, 5000, pool)
        assert read(queue, allocation) == bytes(5000)
        allocation.free()
    assert pool.used_bytes == 0
    pool.core.check()


def test_zeroing_leaves_other_pools_alone(context: Context, queue: Queue) -> None:
    """An allocation is no synchronisation: it gives nobody's memory back."""
    kept = context.default_pool()
    kept.release_threshold = KEEP_EVERYTHING
    queue.alloc_device(8 * MIB).free()
    finish(queue)
    kept.release_threshold = 0
    context.alloc_device(100, pool=context.create_pool(flags=ZERO)).free()
    assert kept.reserved_bytes == 8 * MIB


@pytest.mark.parametrize("alignment", [1, 64, 256, 512, 4096, 65536])
def test_alignment(context: Context, kind: UsmType, alignment: int) -> None:
    allocations = [allocate(context, kind, 100, alignment=alignment) for _ in range(3)]
    assert all(a.ptr % alignment == 0 for a in allocations)
    assert len({a.ptr for a in allocations}) == 3
    for allocation in allocations:
        allocation.free()


@pytest.mark.parametrize("alignment", [-1, 3, 768, 131072])
def test_no_such_alignment(context: Context, kind: UsmType, alignment: int) -> None:
    with pytest.raises(InvalidValueError, match=str(alignment)):
        allocate(context, kind, 100, alignment=alignment)


def test_a_buffer_gives_no_large_alignment(context: Context, queue: Queue) -> None:
    """Refused with nothing changed, unless the address happens to fit."""
    pool = context.create_pool_in(queue.alloc_device(MIB))
    with pytest.raises(InvalidValueError, match="65536"):
        context.alloc_device(100, pool=pool, alignment=65536)
    assert pool.used_bytes == 0
    pool.close()


@pytest.mark.needs_execution("data is read back")
@pytest.mark.parametrize("flags", list(UsmPoolFlag), ids=lambda flag: flag.name.lower())
def test_pool_flags_hold(context: Context, queue: Queue, kind: UsmType, flags: UsmPoolFlag) -> None:
    """ORD-12: zeros are there when the call returns; the other flags change nothing of it."""
    pool = context.create_pool(flags=flags, release_threshold=KEEP_EVERYTHING)
    dirty = alloc(queue, kind, 5000, pool=pool)
    address = dirty.ptr
    queue.fill(dirty, b"\xab")
    dirty.free()
    finish(queue)
    allocation = allocate(context, kind, 5000, pool)
    assert allocation.ptr == address
    if flags is UsmPoolFlag.ZERO_INITIALIZE_BLOCK:
        assert read(queue, allocation) == bytes(5000)
    allocation.free()


def test_errors(context: Context, queue: Queue, make_context: Callable[..., Context]) -> None:
    pool = context.create_pool(0)
    for size in (0, -1, 2**64):
        with pytest.raises(InvalidUsmSizeError):
            context.alloc_device(size)
    with pytest.raises(InvalidArgumentError):
        context.alloc_host(100, pool=pool)
    with pytest.raises(InvalidDeviceError):
        context.alloc_device(100, device=99)
    other = make_context()
    with pytest.raises(InvalidValueError):
        other.alloc_device(100, pool=pool)
    allocation = other.alloc_device(100)
    with pytest.raises(InvalidMemObjectError):
        context.free(allocation)
    with pytest.raises(InvalidValueError, match="name one"):
        allocation.free(event=True)
    pool.close()
    with pytest.raises(InvalidValueError):
        context.alloc_device(100, pool=pool)
    allocation.free()
    assert queue.id


def test_what_an_address_belongs_to(context: Context, queue: Queue) -> None:
    pool = context.create_pool(0)
    for kind in KINDS:
        chosen = None if kind is UsmType.HOST else pool
        allocation = alloc(queue, kind, 1000, pool=chosen)
        found = context.find_allocation(allocation.ptr)
        assert found is not None
        assert (found.base, found.nbytes, found.kind) == (allocation.ptr, 1000, kind)
        assert found.device is (None if kind is UsmType.HOST else queue.device)
        assert found.pool is (context.host_pool if chosen is None else pool)
        assert context.find_allocation(allocation.ptr + 999) == found
        allocation.free()
        assert context.find_allocation(found.base) is None
    assert context.find_allocation(0) is None


# -- the current pool ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [UsmType.DEVICE, UsmType.SHARED], ids=["device", "shared"])
def test_current_pool_serves_who_names_none(context: Context, queue: Queue, kind: UsmType) -> None:
    """MT-6, LIFE-8: also queues that were there before, and the default can be set again."""
    default = context.default_pool()
    assert context.current_pool() is default
    pool = context.create_pool(0)
    context.set_current_pool(pool)
    assert context.current_pool() is pool
    assert context.default_pool() is default
    first = alloc(queue, kind, 4096)
    second = alloc(context.create_queue(), kind, 4096, event=True)
    third = allocate(context, kind, 4096)
    assert (pool.used_bytes, default.used_bytes) == (3 * 4096, 0)
    context.set_current_pool(default)
    fourth = alloc(queue, kind, 4096)
    assert (pool.used_bytes, default.used_bytes) == (3 * 4096, 4096)
    for allocation in (first, second, third, fourth):
        allocation.free()


def test_host_memory_does_not_follow_the_current_pool(context: Context, queue: Queue) -> None:
    pool = context.create_pool()
    context.set_current_pool(pool)
    allocation = queue.alloc_host(4096)
    assert (pool.used_bytes, context.host_pool.used_bytes) == (0, 4096)
    allocation.free()


@pytest.mark.needs_execution("data is read back")
def test_closed_pool_gives_way_to_the_default(context: Context, queue: Queue) -> None:
    """LIFE-5: what it gave stays valid."""
    pool = context.create_pool(0)
    context.set_current_pool(pool)
    kept = queue.alloc_device(4096)
    pool.close()
    assert context.current_pool() is context.default_pool()
    other = queue.alloc_device(4096)
    assert context.default_pool().used_bytes == 4096
    queue.fill(kept, b"\x05")
    assert read(queue, kept) == b"\x05" * 4096
    kept.free()
    other.free()


def test_pool_closed_in_the_middle_of_an_allocation(
    context: Context, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who names no pool never hears that the current one was closed meanwhile."""
    pool = context.create_pool(0)
    context.set_current_pool(pool)
    allocate_in_core = pool.core.allocate

    def close_first(*arguments: object, **keywords: object) -> object:
        pool.close()
        return allocate_in_core(*arguments, **keywords)  # type: ignore[arg-type]

    monkeypatch.setattr(pool.core, "allocate", close_first)
    allocation = queue.alloc_device(4096)
    assert allocation.pool is context.default_pool()
    allocation.free()


def test_which_pools_can_be_current(
    context: Context, queue: Queue, make_context: Callable[..., Context]
) -> None:
    """LIFE-8: a failed call leaves the current pool as it was."""
    good = context.create_pool()
    context.set_current_pool(good)
    closed = context.create_pool(0)
    closed.close()
    buffer = queue.alloc_device(MIB)
    inside = context.create_pool_in(buffer)
    for bad in (closed, inside, make_context().create_pool(), context.host_pool):
        with pytest.raises((InvalidValueError, InvalidArgumentError)):
            context.set_current_pool(bad)
        assert context.current_pool() is good
    with pytest.raises(InvalidDeviceError):
        context.set_current_pool(good, 99)
    inside.close()


# -- the context that a process shares -------------------------------------------------------------


def test_a_library_uses_the_pool_that_the_application_set(adapter: str, context: Context) -> None:
    """MT-6: neither hands the other a context or a pool."""
    assert not context.is_closed  # Level Zero is initialised with the suite's driver
    shared = default_context(adapter)
    pool = shared.create_pool()
    shared.set_current_pool(pool)

    def library() -> Allocation:
        return default_context(adapter).create_queue().alloc_device(4096)

    allocation = library()
    assert pool.used_bytes == 4096
    assert allocation.context is shared
    allocation.free()
    shared.close()
    again = default_context(adapter)
    assert again is not shared
    again.close()


def test_threads_share_one_context(adapter: str, context: Context) -> None:
    assert not context.is_closed
    found: list[Context] = []
    threads = [
        threading.Thread(target=lambda: found.append(default_context(adapter))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(map(id, found))) == 1
    found[0].close()
