# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A copy of what a pool holds, taken in one short section of its lock.

The section only copies numbers, and creates no object for each block: what is to be known of blocks
goes into one flat list. That keeps it short, and keeps collection, which may run any program's
code, from being set off by every few hundred blocks while the lock is held.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from urasync_l0.pool.block import BlockState
from urasync_l0.pool.statistics import PoolStatistics

if TYPE_CHECKING:
    from urasync_l0.pool.pool import HeapKey, Pool
    from urasync_l0.pool.segment import Segment

BLOCK_FIELDS = 7
"""Numbers in `SegmentCopy.blocks` for each block: address, size, state, requested bytes, number of
its allocation, id of the queue that freed a pending block or allocated one in use, stamp."""


@dataclass(slots=True)
class SegmentCopy:
    """One segment. Sizes are bytes.

    ``page_size`` is 0 for a segment that is one allocation of the driver. ``regions`` holds the
    start and the end of each mapped region, ``blocks`` `BLOCK_FIELDS` numbers for each block.
    """

    key: HeapKey
    address: int
    size: int
    page_size: int
    is_pooled: bool
    is_owned: bool
    regions: list[int] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)


@dataclass(slots=True)
class PoolCopy:
    """One pool at one moment.

    ``births`` is the number of its latest allocation. ``pending`` holds, for each queue with
    pending blocks: its id, how many they are, their bytes, and their first and last stamp.
    """

    statistics: PoolStatistics
    births: int
    is_closed: bool
    release_threshold: int
    maximum_size: int
    segments: list[SegmentCopy] = field(default_factory=list)
    pending: list[tuple[int, int, int, int, int]] = field(default_factory=list)


def copy_pool(pool: Pool, *, blocks: bool) -> PoolCopy:
    """Copy a pool's numbers, and its blocks if wanted. Takes the pool's lock once."""
    with pool.lock:
        copy = PoolCopy(
            pool.numbers(),
            pool.tally.births,
            pool.is_closed,
            pool.release_threshold,
            pool.maximum_size,
        )
        for heap, source in pool.sources.items():
            page_size = source.step if source.virtual is not None else 0
            is_pooled = pool.is_pooled(heap)
            for segment in heap.segments:
                each = SegmentCopy(
                    heap.key, segment.address, segment.size, page_size, is_pooled, segment.owned
                )
                copy.segments.append(each)
                _copy_regions(segment, each, blocks=blocks)
            for order, view in heap.views.items():
                if view.pending:
                    nbytes = sum(block.size for block in view.pending)
                    first, last = next(iter(view.pending)), next(reversed(view.pending))
                    copy.pending.append(
                        (order.id, len(view.pending), nbytes, first.stamp, last.stamp)
                    )
    return copy


def _copy_regions(segment: Segment, copy: SegmentCopy, *, blocks: bool) -> None:
    edge = BlockState.EDGE
    add = copy.blocks.append
    for region in segment.regions:
        copy.regions.append(region.start)
        copy.regions.append(region.end)
        if not blocks:
            continue
        block = region.left.next
        while (state := block.state) is not edge:
            add(block.address)
            add(block.size)
            add(state)
            add(block.requested)
            add(block.born)
            order = block.order
            add(block.owner if order is None else order.id)
            add(block.stamp)
            block = block.next
