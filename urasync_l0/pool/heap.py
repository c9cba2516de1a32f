# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A heap: the blocks of one memory kind on one device.

Who may take which of them, and the invariants, stand in ``heap_blocks``; here is what is needed now
and then: undoing, what other queues freed, and cutting pieces out for the driver.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from urasync_l0.pool.block import BlockState, Undo
from urasync_l0.pool.order import QueueOrder
from urasync_l0.pool.structure import HeapBlocks

if TYPE_CHECKING:
    from urasync_l0.pool.block import Block
    from urasync_l0.pool.run_index import RunIndex
    from urasync_l0.pool.segment import Segment

_IN_USE = BlockState.IN_USE
_PENDING = BlockState.PENDING
_IDLE = BlockState.IDLE


class Heap(HeapBlocks):
    """Blocks of one kind and device. Sizes are bytes; guarded by the pool's lock."""

    @property
    def held_bytes(self) -> int:
        """All of its memory, whatever its state."""
        return self.used_bytes + self.pending_bytes + self.idle_bytes

    def put_back(self, block: Block, undo: Undo) -> None:
        """Undo `take`: the pieces are what they were, with their stamps."""
        self.used_bytes -= block.size
        address = block.address
        pieces: list[Block] = []
        for noted in undo.pieces:
            piece = self.new_block(address, noted.size, _IN_USE)
            piece.insert_before(block)
            pieces.append(piece)
            address += noted.size
        block.unlink()
        for piece, noted in zip(pieces, undo.pieces, strict=True):
            if noted.order is None or noted.stamp <= noted.order.completed:
                self.set_idle(piece)
                continue
            rest = piece.next
            if rest.state is _PENDING and rest.age == noted.age:
                # The last piece was a part: it is one with what was left of the same free.
                self._remove_pending(rest)
                rest.unlink()
                piece.size += rest.size
            piece.age = noted.age
            self.pending_bytes += piece.size
            view = self.view(noted.order)
            self._set_pending(piece, view, noted.stamp)
            for other in self.views.values():
                if other is not view and other.clock.get(noted.order, 0) >= noted.stamp:
                    other.enter(piece)
            view.pending = dict.fromkeys(sorted(view.pending, key=_age))

    def crowding_views(self) -> list[RunIndex]:
        """Return the views whose queues should get a marker; the caller sees to it."""
        self.crowded = False
        return [view for view in self.views.values() if view.pending and self._is_crowding(view)]

    def mark(self, view: RunIndex) -> int:
        """Note that a marker is being placed on the view's queue; return the stamp to cover."""
        view.unmarked_bytes = 0
        view.unmarked_frees = 0
        return next(reversed(view.pending)).stamp if view.pending else 0

    def foreign_fit(self, view: RunIndex, size: int) -> dict[QueueOrder, int]:
        """Find memory that other queues freed: for each, the stamp that a marker must cover.

        A run that is safe for one other queue comes first, because one wait serves it; otherwise
        the lowest stretch of free blocks, whoever freed them. Empty when there is neither.
        """
        best: tuple[int, Block] | None = None
        owner: QueueOrder | None = None
        for other in self.views.values():
            if other is not view and other.order.is_open:
                fit = other.sizes.find(size)
                if fit is not None and (best is None or fit[0] < best[0]):
                    best, owner = fit, other.order
        if self.is_whole and (best is None or best[0] != size):
            return {}
        if best is None or owner is None:
            return self._foreign_stretch(view, size)
        stamp = 0
        for block in _covering(best[1], size):
            if block.state is _PENDING:
                # What is the other queue's only by its clock needs a marker that knows that clock.
                stamp = max(stamp, block.stamp if block.order is owner else owner.sequence + 1)
        return {owner: stamp}

    def _foreign_stretch(self, view: RunIndex, size: int) -> dict[QueueOrder, int]:
        """Find the lowest stretch of free blocks; who has to be waited for to take it."""
        for first in self._stretches(size):
            stamps: dict[QueueOrder, int] = {}
            for block in _covering(first, size):
                order = block.order
                if order is not None and view not in block.views and order.is_open:
                    stamps[order] = max(block.stamp, stamps.get(order, 0))
            if stamps:
                return stamps
        return {}

    def _stretches(self, size: int) -> Iterator[Block]:
        """Yield the first block of each stretch of free blocks that holds ``size`` bytes."""
        for segment in self.segments:
            for region in segment.regions:
                first: Block | None = None
                length = 0
                for block in region.blocks():
                    if block.state is _IN_USE:
                        first, length = None, 0
                        continue
                    if first is None:
                        first = block
                    length += block.size
                    if length >= size:
                        yield first
                        break

    def withdraw_range(self, block: Block, start: int, end: int) -> Block:
        """Cut ``start`` to ``end`` out of an idle block, as a linked block without state."""
        self._withdraw(block)
        self.idle_bytes -= end - start
        middle = self.new_block(start, end - start, _IN_USE)
        tail_size = block.end - end
        if start > block.address:
            block.size = start - block.address
            middle.insert_before(block.next)
            if tail_size:
                tail = self.new_block(end, tail_size, _IDLE)
                tail.insert_before(middle.next)
                self._offer(tail)
            self._offer(block)
        elif tail_size:
            middle.insert_before(block)
            block.address = end
            block.size = tail_size
            self._offer(block)
        else:
            middle.insert_before(block)
            block.unlink()
        return middle

    def idle_blocks(self, size: int) -> list[Block]:
        """Return the idle blocks of at least ``size`` bytes, highest address first."""
        return sorted(self.idle.at_least(size), key=_address, reverse=True)

    def safe_before(self, edge: Block, order: QueueOrder) -> int:
        """Return how many bytes before the block ``edge`` form a run safe for ``order``'s queue."""
        view = self.views.get(order)
        start = edge.address
        block = edge.previous
        while block.state is _IDLE or (view is not None and view in block.views):
            start = block.address
            block = block.previous
        return edge.address - start

    def safe_after(self, edge: Block, order: QueueOrder) -> int:
        """Return how many bytes after the block ``edge`` form a run safe for ``order``'s queue."""
        view = self.views.get(order)
        end = edge.end
        block = edge.next
        while block.state is _IDLE or (view is not None and view in block.views):
            end = block.end
            block = block.next
        return end - edge.end

    def clear(self) -> list[Segment]:
        """Forget all blocks, whatever their state; return the segments, for their memory to go."""
        segments = self.segments
        self.segments = []
        self._forget_blocks()
        return segments


def _age(block: Block) -> int:
    return block.age


def _address(block: Block) -> int:
    return block.address


def _covering(first: Block, size: int) -> Iterator[Block]:
    """Yield the blocks that the first ``size`` bytes from a block on lie in."""
    block = first
    while size > 0:
        yield block
        size -= block.size
        block = block.next
