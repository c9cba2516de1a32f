# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pools under the names of other allocators: PY-8. Every number is that of `Pool.statistics`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.helpers.gates import hold
from tests.helpers.usm import MIB
from urasync_l0 import (
    KEEP_EVERYTHING,
    Context,
    InvalidMemObjectError,
    InvalidValueError,
    OutOfMemoryError,
    Pool,
    Queue,
    UnsupportedFeatureError,
    use_pool,
)
from urasync_l0.software_driver.controls import Controls
from urasync_l0.views import (
    CupyMemoryPool,
    RmmMemoryResource,
    TorchMemory,
    get_per_device_resource,
    set_per_device_resource,
)


@pytest.fixture
def pool(context: Context) -> Pool:
    """A pool that is the current one and keeps what it has."""
    made = context.create_pool(0, release_threshold=KEEP_EVERYTHING)
    context.set_current_pool(made)
    return made


# -- CuPy ------------------------------------------------------------------------------------------


def test_cupy_numbers(pool: Pool, queue: Queue) -> None:
    view = CupyMemoryPool(pool)
    assert (view.used_bytes(), view.free_bytes(), view.total_bytes()) == (0, 0, 0)
    assert view.n_free_blocks() == 0
    held = [queue.alloc_device(4096) for _ in range(3)]
    queue.free(held[1])
    numbers = pool.statistics()
    assert view.used_bytes() == numbers.used == 2 * 4096
    assert view.total_bytes() == numbers.reserved > 0
    assert view.free_bytes() == numbers.idle + numbers.pending == numbers.reserved - numbers.used
    assert view.n_free_blocks() == 2  # between the two, and behind them
    assert repr(pool) in repr(view)


def test_cupy_free_all_blocks(
    pool: Pool, queue: Queue, other_queue: Queue, controls: Controls
) -> None:
    """PY-9: only what is complete, unless a queue is named, and then that of this queue."""
    view = CupyMemoryPool(pool)
    queue.alloc_device(MIB).free()
    with hold(controls, other_queue):
        other = other_queue.alloc_device(MIB)
        other_queue.fill(other, b"\1")
        other.free()
        view.free_all_blocks(queue)
        assert pool.statistics().pending >= MIB
        assert view.total_bytes() > 0
    view.free_all_blocks(other_queue)
    assert view.total_bytes() == 0


def test_cupy_limit(context: Context, pool: Pool) -> None:
    view = CupyMemoryPool(pool)
    assert view.get_limit() == 0
    view.set_limit(4 * MIB)
    assert view.get_limit() == pool.maximum_size == 4 * MIB
    view.set_limit(fraction=0.5)
    assert pool.device is not None
    assert view.get_limit() == pool.device.total_memory // 2
    general = CupyMemoryPool(context.create_pool())
    general.set_limit(fraction=1)
    assert general.get_limit() == sum(device.total_memory for device in context.devices)
    for wrong in ({}, {"size": 1, "fraction": 0.1}, {"fraction": 0}, {"fraction": 1.1}):
        with pytest.raises(InvalidValueError):
            view.set_limit(**wrong)
    view.set_limit(size=0)
    assert view.get_limit() == 0


# -- RMM -------------------------------------------------------------------------------------------


def test_rmm_resource(pool: Pool, queue: Queue, other_queue: Queue) -> None:
    view = RmmMemoryResource(pool)
    assert view.allocate(0, queue) == 0
    view.deallocate(0, 0, queue)
    first, second = view.allocate(1000, queue), view.allocate(2000, queue)
    view.deallocate(first, 1000, other_queue)
    numbers = pool.statistics()
    assert view.get_statistics() == (2048, 1, 3072, 2)
    assert view.get_statistics() == (
        numbers.used,
        numbers.allocations - numbers.frees,
        numbers.used_high,
        numbers.allocations,
    )
    assert view.pool_size() == numbers.reserved
    with pytest.raises(InvalidMemObjectError):
        view.deallocate(first, 1000, queue)
    with pytest.raises(InvalidValueError):
        RmmMemoryResource(pool.context.create_pool(0)).deallocate(second, 2000, queue)
    view.deallocate(second, 0, queue)  # the size says nothing
    assert view.get_statistics().current_count == 0


def test_rmm_current_resource(context: Context, queue: Queue) -> None:
    assert get_per_device_resource(context).pool is context.default_pool()
    view = RmmMemoryResource(context.create_pool(0))
    set_per_device_resource(context, view)
    assert get_per_device_resource(context).pool is view.pool
    with queue.alloc_device(64) as allocation:
        assert allocation.pool is view.pool


# -- PyTorch ---------------------------------------------------------------------------------------

KEYS = {
    *("active_bytes.all.current", "allocated_bytes.all.current", "allocated_bytes.all.peak"),
    *("allocation.all.allocated", "allocation.all.current", "allocation.all.freed"),
    *("num_alloc_retries", "num_ooms", "requested_bytes.all.current"),
    *("reserved_bytes.all.current", "reserved_bytes.all.peak"),
}


def test_torch_numbers_before_the_first_use(context: Context) -> None:
    assert TorchMemory(context).memory_stats() == dict.fromkeys(KEYS, 0)


def test_torch_numbers(context: Context, pool: Pool, queue: Queue) -> None:
    view = TorchMemory(context)
    held = queue.alloc_device(1000)
    queue.alloc_device(3000).free()
    numbers = pool.statistics()
    stats = view.memory_stats()
    assert set(stats) == KEYS
    assert stats["allocated_bytes.all.current"] == view.memory_allocated() == numbers.used == 1024
    assert stats["allocated_bytes.all.peak"] == view.max_memory_allocated() == 4096
    assert stats["active_bytes.all.current"] == numbers.used + numbers.pending
    assert stats["requested_bytes.all.current"] == numbers.requested == 1000
    assert stats["reserved_bytes.all.current"] == view.memory_reserved() == numbers.reserved
    assert stats["reserved_bytes.all.peak"] == view.max_memory_reserved() == numbers.reserved_high
    assert (stats["allocation.all.allocated"], stats["allocation.all.freed"]) == (2, 1)
    view.reset_peak_memory_stats(0)
    assert view.max_memory_allocated() == view.memory_allocated() == 1024
    assert view.max_memory_reserved() == view.memory_reserved()
    held.free()


def test_torch_peaks_are_reset(context: Context, pool: Pool, queue: Queue) -> None:
    view = TorchMemory(context)
    queue.alloc_device(8 * MIB).free()
    queue.finish()
    pool.trim_to(0)
    assert view.max_memory_reserved() >= 8 * MIB
    view.reset_peak_memory_stats()
    assert view.max_memory_reserved() == view.memory_reserved() == 0
    assert view.max_memory_allocated() == 0


def test_torch_counts_of_exhaustion(context: Context, pool: Pool, queue: Queue) -> None:
    pool.maximum_size = 4 * MIB
    view = TorchMemory(context)
    queue.alloc_shared(3 * MIB).free()
    queue.finish()
    with queue.alloc_device(3 * MIB):  # what is idle of another kind must go first
        for _ in range(2):
            with pytest.raises(OutOfMemoryError):
                queue.alloc_device(3 * MIB)
    stats = view.memory_stats()
    assert (stats["num_alloc_retries"], stats["num_ooms"]) == (1, 2)


def test_torch_empty_cache_waits(
    context: Context, pool: Pool, queue: Queue, other_queue: Queue
) -> None:
    for each in (queue, other_queue):
        with each.alloc_device(MIB) as allocation:
            each.fill(allocation, b"\1")
    view = TorchMemory(context)
    assert view.memory_reserved() >= MIB
    view.empty_cache()
    assert view.memory_reserved() == pool.reserved_bytes == 0


def test_torch_is_about_the_current_pool(context: Context, queue: Queue) -> None:
    view = TorchMemory(context)
    with use_pool(context.create_pool(0)), queue.alloc_device(1000):
        assert view.memory_allocated() == 1024
    assert view.memory_allocated() == 0


def test_torch_memory_of_the_device(
    context: Context, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = TorchMemory(context)
    device = context.devices[0]
    assert view.get_per_process_memory_fraction() == 1
    view.set_per_process_memory_fraction(0.25)
    assert pool.maximum_size == device.total_memory // 4
    assert view.get_per_process_memory_fraction() == 0.25
    view.set_per_process_memory_fraction(1)
    assert pool.maximum_size == 0
    with pytest.raises(InvalidValueError):
        view.set_per_process_memory_fraction(0)
    monkeypatch.setattr(type(device), "free_memory", 5)
    assert view.mem_get_info() == (5, device.total_memory)
    monkeypatch.setattr(type(device), "free_memory", None)
    with pytest.raises(UnsupportedFeatureError, match="does not tell the free memory"):
        view.mem_get_info()


def test_one_device_of_several(make_context: Callable[..., Context]) -> None:
    context = make_context(devices=None)
    view = TorchMemory(context)
    last = context.devices[-1]
    queue = context.create_queue(last)
    with queue.alloc_device(1000):
        assert view.memory_allocated(last) == 1024
        assert view.memory_allocated() == (1024 if last is context.devices[0] else 0)
