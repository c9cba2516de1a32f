# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a heap is what it says it is: every block, index and number compared with the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from urasync_l0.pool.block import Block, BlockState

if TYPE_CHECKING:
    from urasync_l0.pool.heap import Heap
    from urasync_l0.pool.run_index import RunIndex
    from urasync_l0.pool.segment import Segment


def check_heap(heap: Heap) -> None:
    """Raise `AssertionError` if an invariant of a heap is broken. The caller holds the lock."""
    blocks: list[Block] = []
    for segment in heap.segments:
        for region in segment.regions:
            address = region.start
            for block in region.blocks():
                assert block.address == address, f"gap or overlap at {block}"
                assert block.previous.next is block is block.next.previous
                both_idle = block.state is BlockState.IDLE is block.previous.state
                assert not both_idle, f"{block} and {block.previous} did not merge"
                address = block.end
                blocks.append(block)
            assert address == region.end
        _check_mappings(segment)
    for state, total in (
        (BlockState.IN_USE, heap.used_bytes),
        (BlockState.PENDING, heap.pending_bytes),
        (BlockState.IDLE, heap.idle_bytes),
    ):
        found = sum(block.size for block in blocks if block.state is state)
        assert found == total, f"{found} bytes {state.name}, counted {total}"
    idle = {block for block in blocks if block.state is BlockState.IDLE}
    assert set(heap.idle.at_least(1)) == idle
    assert heap.idle.count == len(idle)
    pending = {block for block in blocks if block.state is BlockState.PENDING}
    assert {block for view in heap.views.values() for block in view.pending} == pending
    for block in pending:
        assert block.order is not None
        assert block in heap.views[block.order].pending
        assert block.views[0] is heap.views[block.order]
        assert block.stamp <= heap.views[block.order].newest_stamp
        assert len(set(block.views)) == len(block.views)
        assert all(heap.views[view.order] is view for view in block.views), "a view that is gone"
    assert all(not block.views for block in blocks if block.state is not BlockState.PENDING)
    for view in heap.views.values():
        stamps = [block.stamp for block in view.pending]
        assert stamps == sorted(stamps), f"pending blocks of {view.order} are out of order"
        assert view.runs() == _runs_by_hand(blocks, view), f"runs of {view.order}"


def _check_mappings(segment: Segment) -> None:
    """Mappings, if the segment has any, cover its regions, each of them inside one."""
    if not segment.mappings:
        return
    for end, mapping in segment.mappings.items():
        region = segment.region_of(mapping.address)
        assert mapping.segment is segment
        assert mapping.end == end
        assert region is not None, f"{mapping} is of no region"
        assert mapping.end <= region.end, f"{mapping} reaches beyond its region"
    mapped = sum(mapping.size for mapping in segment.mappings.values())
    assert mapped == sum(region.end - region.start for region in segment.regions)


def _runs_by_hand(blocks: list[Block], view: RunIndex) -> list[tuple[int, int]]:
    """Find the runs of a view from the blocks alone."""
    runs: list[tuple[int, int]] = []
    for block in blocks:
        beside = view in block.previous.views or view in block.next.views
        if not (view in block.views or (block.state is BlockState.IDLE and beside)):
            continue
        starts_region = block.previous.state is BlockState.EDGE
        if runs and runs[-1][0] + runs[-1][1] == block.address and not starts_region:
            runs[-1] = (runs[-1][0], runs[-1][1] + block.size)
        else:
            runs.append((block.address, block.size))
    return sorted(runs)
