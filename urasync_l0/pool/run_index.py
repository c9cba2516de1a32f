# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The free memory of a heap as one queue sees it: maximal runs of adjacent blocks safe for it.

Members are the pending blocks that are safe for the queue, by its own order or by its clock, and
the idle blocks that touch one of them. A run of idle memory alone is the heap's to find: idle
neighbours are one block. So a block that becomes idle concerns only the queues of its two
neighbours, however many queues there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from urasync_l0.pool.block import Block, BlockState
from urasync_l0.pool.fields import NOTHING, Clock
from urasync_l0.pool.size_index import SizeIndex

if TYPE_CHECKING:
    from urasync_l0.pool.order import QueueOrder

_FREE = (BlockState.PENDING, BlockState.IDLE)
"""What may be part of a run."""


class RunIndex:
    """Runs of memory safe for one queue, and the queue's own pending blocks, oldest first.

    ``newest_stamp`` is that of the queue's latest free. ``unmarked_frees`` and ``unmarked_bytes``
    count what the queue freed since a marker was placed.
    """

    __slots__ = (
        "_ends",
        "_starts",
        "clock",
        "newest_stamp",
        "order",
        "pending",
        "sizes",
        "unmarked_bytes",
        "unmarked_frees",
    )

    def __init__(self, order: QueueOrder, *, lowest: bool) -> None:
        self.order = order
        self.pending: dict[Block, None] = {}
        self.newest_stamp = 0
        self.unmarked_frees = 0
        self.unmarked_bytes = 0
        self.clock: Clock = NOTHING
        self.sizes = SizeIndex(lowest=lowest)
        self._starts: dict[int, int] = {}
        self._ends: dict[int, int] = {}

    def enter(self, block: Block) -> None:
        """Make a pending block safe for the queue; idle blocks beside it become part of its run."""
        block.views = (*block.views, self)
        self._add_between(*self._with_idle(block))

    def leave(self, block: Block) -> None:
        """Undo `enter`. The block's own ``views`` are left for the caller to set."""
        first, last = self._with_idle(block)
        self.cut(first, first.address, last.end, last.next)

    def add(self, block: Block) -> None:
        """Make a block part of the runs, joining those that it touches."""
        self._add_between(block, block)

    def _with_idle(self, block: Block) -> tuple[Block, Block]:
        """The first and the last of a block and the idle blocks beside it whose membership in the
        runs hangs on it alone."""
        first = last = block
        neighbour = block.previous
        if neighbour.state is BlockState.IDLE and self not in neighbour.previous.views:
            first = neighbour
        neighbour = block.next
        if neighbour.state is BlockState.IDLE and self not in neighbour.next.views:
            last = neighbour
        return first, last

    def _add_between(self, first: Block, last: Block) -> None:
        """Make the blocks from ``first`` to ``last`` part of the runs, joining those that they
        touch.

        Regions may lie side by side by chance: a run ends where its region does.
        """
        start = first.address
        end = last.end
        if first.previous.state in _FREE:
            left = self._ends.pop(start, None)
            if left is not None:
                first = self.sizes.remove(start - left, left)
                start = left
        if last.next.state in _FREE:
            right = self._starts.pop(end, None)
            if right is not None:
                self.sizes.remove(right - end, end)
                end = right
        self._starts[start] = end
        self._ends[end] = start
        self.sizes.add(end - start, start, first)

    def remove(self, block: Block) -> None:
        """Take a block out of its run; what was on either side stays."""
        self.cut(block, block.address, block.end, block.next)

    def cut(self, block: Block, low: int, high: int, after: Block) -> int:
        """Take what lies between two addresses out of a block's run, and return where that ends.

        ``after`` is the block at ``high``; what was on either side stays.
        """
        starts = self._starts
        first = block
        while first.address not in starts:
            first = first.previous
            assert first.state is not BlockState.EDGE, f"{block} is in no run of {self.order}"
        start = first.address
        end = starts.pop(start)
        del self._ends[end]
        self.sizes.remove(end - start, start)
        if start < low:
            starts[start] = low
            self._ends[low] = start
            self.sizes.add(low - start, start, first)
        if high < end:
            starts[high] = end
            self._ends[end] = high
            self.sizes.add(end - high, high, after)
        return min(high, end)

    def runs(self) -> list[tuple[int, int]]:
        """Return every run as (address, size in bytes), lowest first. For tests and snapshots."""
        return sorted((start, end - start) for start, end in self._starts.items())
