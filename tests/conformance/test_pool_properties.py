# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a pool was made with: flags, limits, a buffer of the user, ways of reuse."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.helpers.calls import LevelZeroCalls
from tests.helpers.gates import hold
from tests.helpers.usm import KINDS, MIB, TIMEOUT_NS, alloc, finish, read
from urasync_l0 import (
    KEEP_EVERYTHING,
    Context,
    InvalidValueError,
    OutOfMemoryError,
    Queue,
    ReusePolicy,
    UrError,
    UsmPoolFlag,
    UsmType,
)
from urasync_l0.ze.result import ZeResult

if TYPE_CHECKING:
    from urasync_l0.software_driver.controls import Controls

ZERO = UsmPoolFlag.ZERO_INITIALIZE_BLOCK
ADVISE = "zeCommandListAppendMemAdvise"


@pytest.mark.needs_execution("data is read back")
@pytest.mark.parametrize("event", [False, True], ids=["no event", "event"])
def test_zero_initialised_memory_is_zero_each_time(
    queue: Queue, context: Context, kind: UsmType, event: bool
) -> None:
    """ORD-12: fresh and recycled alike."""
    pool = context.create_pool(flags=ZERO)
    for _ in range(2):
        allocation = alloc(queue, kind, 5000, pool=pool, event=event)
        assert read(queue, allocation) == bytes(5000)
        queue.fill(allocation, b"\xab")
        address = allocation.ptr
        allocation.free()
        again = alloc(queue, kind, 5000, pool=pool, event=event)
        assert again.ptr == address
        assert read(queue, again) == bytes(5000)
        again.free()


def test_zeros_come_after_the_wait_list_and_before_the_event(
    queue: Queue, other_queue: Queue, context: Context, controls: "Controls"
) -> None:
    pool = context.create_pool(flags=ZERO)
    old = queue.alloc_device(4096, pool=pool)
    with hold(controls, queue) as held:
        queue.fill(old, b"\xff")
        freed = queue.free(old, event=True)
        new = other_queue.alloc_device(4096, pool=pool, wait=[freed], event=True)
        assert new.ptr == old.ptr
        assert new.event is not None
        assert not new.event.is_complete()
        held.release()
        assert new.event.wait(TIMEOUT_NS)
        assert read(other_queue, new) == bytes(4096)
    new.free()


def test_failed_zeroing_gives_the_memory_back(
    queue: Queue, context: Context, controls: "Controls"
) -> None:
    """ERR-8: the block is in the pool as before."""
    pool = context.create_pool(flags=ZERO, release_threshold=KEEP_EVERYTHING)
    queue.alloc_device(4096, pool=pool).free()
    before = pool.statistics()
    controls.fail("zeCommandListAppendMemoryFill", 1, 0x70000003)
    with pytest.raises(OutOfMemoryError):
        queue.alloc_device(4096, pool=pool)
    assert pool.statistics() == before
    queue.alloc_device(4096, pool=pool).free()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name.lower())
def test_read_only_is_advice_for_shared_memory(
    queue: Queue, context: Context, kind: UsmType
) -> None:
    pool = context.create_pool(flags=UsmPoolFlag.READ_ONLY_EXP)
    with LevelZeroCalls() as calls:
        allocation = alloc(queue, kind, 5000, pool=pool, event=True)
    assert calls.of(ADVISE) == (1 if kind is UsmType.SHARED else 0)
    assert allocation.event is not None
    assert allocation.event.wait(TIMEOUT_NS)
    allocation.free()


def test_native_pool_flag_is_accepted(queue: Queue, context: Context) -> None:
    pool = context.create_pool(flags=UsmPoolFlag.USE_NATIVE_MEMORY_POOL_EXP)
    with queue.alloc_device(64, pool=pool) as allocation:
        assert allocation.pool is pool


def test_pool_in_a_buffer_stays_inside(queue: Queue, context: Context, kind: UsmType) -> None:
    with alloc(queue, kind, 4 * MIB + 256) as buffer:
        finish(queue)
        pool = context.create_pool_in(buffer)
        with LevelZeroCalls() as calls:
            pieces = [alloc(queue, kind, MIB, pool=pool) for _ in range(4)]
        assert calls.total == 0
        for piece in pieces:
            assert buffer.ptr < piece.ptr
            assert piece.ptr + piece.nbytes <= buffer.ptr + buffer.nbytes
        with pytest.raises(OutOfMemoryError):
            alloc(queue, kind, 1, pool=pool)
        assert pool.statistics().reserved == 4 * MIB
        for piece in pieces:
            piece.free()
        finish(queue)
        assert pool.statistics().reserved == 4 * MIB, "the memory is the user's"
        pool.trim_to(0)
        assert pool.statistics().reserved == 4 * MIB
        pool.close()


def test_pool_in_a_buffer_of_another_context_is_refused(
    queue: Queue, context: Context, adapter: str
) -> None:
    with (
        Context(adapter, context.driver_name) as other,
        queue.alloc_device(4096) as buffer,
        pytest.raises(InvalidValueError, match="another"),
    ):
        other.create_pool_in(buffer)
    with queue.alloc_device(64) as tiny, pytest.raises(InvalidValueError, match="too small"):
        context.create_pool_in(tiny)


def test_large_allocations_are_not_pooled(queue: Queue, context: Context, kind: UsmType) -> None:
    """The limits descriptor: above its largest pooled size, memory does not stay."""
    pool = context.create_pool(maximum_pooled=MIB, release_threshold=KEEP_EVERYTHING)
    small = alloc(queue, kind, MIB, pool=pool)
    kept = pool.reserved_bytes
    large = alloc(queue, kind, MIB + 1, pool=pool)
    assert pool.reserved_bytes > kept
    small.free()
    large.free()
    finish(queue)
    assert pool.reserved_bytes == kept


def test_driver_is_asked_for_no_less_than_the_minimum(
    queue: Queue, context: Context, kind: UsmType
) -> None:
    """The limits descriptor: the smallest driver allocation."""
    pool = context.create_pool(minimum_driver_allocation=16 * MIB)
    with alloc(queue, kind, 256, pool=pool):
        assert pool.reserved_bytes == 16 * MIB


def test_memory_of_another_queue_when_the_pool_is_full(
    queue: Queue, other_queue: Queue, context: Context, controls: "Controls"
) -> None:
    """ORD-5: a wait is inserted; without that, the call waits; without that, it fails."""
    limit = 4 * MIB
    for policy, answer in (
        (ReusePolicy(), "inserted_waits"),
        (ReusePolicy(by_waiting=False), "ladder_waits"),
        (ReusePolicy(by_waiting=False, wait_when_exhausted=False), "out_of_memory"),
    ):
        pool = context.create_pool(policy=policy, maximum_size=limit)
        with hold(controls, queue) as held:
            first = queue.alloc_device(3 * MIB, pool=pool)
            first.free()
            queue.record()
            if answer == "ladder_waits":
                held.release()
            if answer == "out_of_memory":
                with pytest.raises(OutOfMemoryError) as raised:
                    other_queue.alloc_device(3 * MIB, pool=pool)
                assert raised.value.limit == limit
                assert raised.value.pending == 3 * MIB
            else:
                second = other_queue.alloc_device(3 * MIB, pool=pool)
                assert second.ptr == first.ptr
                second.free()
        numbers = pool.statistics()
        assert numbers.reserved == limit
        if answer != "ladder_waits" or not numbers.reused_polled:
            assert getattr(numbers, answer) == 1
        finish(queue)
        finish(other_queue)
        pool.close()


@pytest.mark.parametrize("name", ["maximum_size", "release_threshold", "maximum_pooled"])
def test_sizes_are_whole_numbers(context: Context, name: str) -> None:
    arguments: dict[str, Any] = {name: 1.5}
    with pytest.raises(TypeError):
        context.create_pool(**arguments)
    with pytest.raises(InvalidValueError, match=name):
        context.create_pool(**{**arguments, name: -1})


def test_advice_that_is_queued_keeps_the_memory_pending(
    queue: Queue, context: Context, controls: "Controls"
) -> None:
    """ERR-8: when the zeroing after it fails, nobody gets or gives back what the advice is for."""
    flags = UsmPoolFlag.ZERO_INITIALIZE_BLOCK | UsmPoolFlag.READ_ONLY_EXP
    pool = context.create_pool(flags=flags)
    with hold(controls, queue):
        controls.fail("zeCommandListAppendMemoryFill", 1, int(ZeResult.ERROR_UNKNOWN))
        with pytest.raises(UrError):
            queue.alloc_shared(MIB, pool=pool)
        numbers = pool.statistics()
        assert (numbers.used, numbers.requested, numbers.pending) == (0, 0, MIB)
        pool.trim_to(0)
        assert pool.reserved_bytes == numbers.reserved
    finish(queue)
    assert pool.reserved_bytes == 0
    pool.core.check()


def test_trim_finishes_just_the_queue_that_it_is_told(
    queue: Queue, other_queue: Queue, context: Context, controls: "Controls"
) -> None:
    """PY-9: what another queue has not completed stays, until all are finished."""
    pool = context.create_pool(release_threshold=KEEP_EVERYTHING)
    for each in (queue, other_queue):
        with_work = each.alloc_device(4 * MIB, pool=pool)
        each.fill(with_work, b"\x01")
        with_work.free()
    with hold(controls, other_queue):
        pool.trim_to(0, sync=queue)
        assert pool.statistics().pending == 4 * MIB
        assert pool.reserved_bytes == 4 * MIB
    pool.trim_to(0, sync="all")
    assert pool.reserved_bytes == 0


def test_many_rounds_leave_nothing(
    queue: Queue, context: Context, controls: "Controls", kind: UsmType
) -> None:
    """STAT-6: neither by the pool's numbers nor by the driver's own account.

    How many events serve in turn depends on how soon each is seen to be complete; they stay few.
    """
    pool = context.create_pool()

    def round_trip() -> tuple[object, ...]:
        sizes = (100, 70_000, 3 * MIB)
        for allocation in [alloc(queue, kind, size, pool=pool, event=True) for size in sizes]:
            queue.free(allocation, event=True)
        finish(queue)
        pool.trim_to(0)
        numbers = pool.statistics()
        objects = controls.live_objects()
        assert objects.pop("event", 0) <= 64
        objects.pop("event_pool", None)
        return numbers.used, numbers.pending, numbers.reserved, objects

    first = round_trip()
    assert first[:3] == (0, 0, 0)
    for _ in range(200):
        assert round_trip() == first


@pytest.mark.parametrize(("limit", "nbytes"), [(MIB, 4096), (MIB, MIB), (3 * MIB, 5 * MIB // 2)])
@pytest.mark.parametrize(
    "expanding",
    [pytest.param("on", marks=pytest.mark.needs_execution("memory is mapped", run=False)), "off"],
)
def test_limits_that_are_no_multiple_of_a_page_can_be_used_up(
    make_context: Callable[..., Context], expanding: str, limit: int, nbytes: int
) -> None:
    """MEM-10: a limit is in bytes, however the memory comes."""
    context = make_context(expanding_segments=expanding)
    queue = context.create_queue()
    pool = context.create_pool(maximum_size=limit)
    for _ in range(3):
        allocation = queue.alloc_device(nbytes, pool=pool)
        assert pool.reserved_bytes <= limit
        allocation.free()
    with pytest.raises(OutOfMemoryError):
        queue.alloc_device(limit + 1, pool=pool)
