# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Segments and their regions: where memory begins and ends."""

from __future__ import annotations

from tests.helpers.pool_fakes import FakeDriver, FakeQueue, World
from urasync_l0.enums import UsmType
from urasync_l0.pool import HeapSource, Pool, PoolRegistry

MIB = 1 << 20
DEVICE = (UsmType.DEVICE, 0)


def test_run_ends_with_its_segment() -> None:
    """Two segments side by side, free on one queue, are not one run."""
    driver = FakeDriver()
    world = World()
    registry = PoolRegistry(world.domain)
    pool = Pool(registry, {DEVICE: HeapSource(driver)}, release_threshold=64 * MIB)
    queue = FakeQueue(world, driver.calls)
    pair = [pool.allocate(queue.order, DEVICE, 2 * MIB) for _ in range(2)]
    assert pair[1].address == pair[0].end, "the fake driver should give neighbours"
    for block in pair:
        pool.free(registry.claim(block.address), queue.order, queue.order.sequence + 1)
    pool.check()
    whole = pool.allocate(queue.order, DEVICE, 3 * MIB)
    assert whole.address not in (pair[0].address, pair[1].address)
    assert pool.statistics().reserved == 8 * MIB
    pool.check()
