# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A block: one piece of a segment, with its neighbours, its state and its stamp."""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from urasync_l0.pool.heap import Heap
    from urasync_l0.pool.order import QueueOrder
    from urasync_l0.pool.run_index import RunIndex

GRANULE = 256
"""Requests round up to this many bytes."""


class BlockState(IntEnum):
    """What a block is to the pool."""

    IN_USE = 0
    """Handed out."""
    PENDING = 1
    """Freed in queue order; not known complete. Has a stamp; never merges."""
    IDLE = 2
    """Free and complete: safe for every queue. Two idle neighbours are always one block."""
    EDGE = 3
    """No memory: the end of a mapped region, so that every block has two neighbours."""


class Reuse(Enum):
    """Where a block came from: the least safe of its pieces. The value names the pool's count."""

    IDLE = "reused_idle"
    """Known complete."""
    OWN = "reused_own"
    """Freed on the same queue."""
    CLOCK = "reused_clock"
    """Freed on a queue that this one is ordered after."""


class Block:
    """A piece of driver memory. Guarded by the lock of the pool that owns it.

    ``address`` and ``size`` are bytes, multiples of `GRANULE`; ``requested`` is what the caller
    asked for. ``order`` and ``stamp`` name the free of a pending block. ``views`` are the run
    indexes of the queues for which a pending block is safe. ``age`` counts frees in the heap, and
    ``born`` allocations in the pool: it tells one use of a block from the next. ``owner`` is the id
    of the queue that allocated it last.
    """

    __slots__ = (
        "address",
        "age",
        "born",
        "heap",
        "next",
        "order",
        "owner",
        "previous",
        "requested",
        "size",
        "stamp",
        "state",
        "undo",
        "views",
    )

    def __init__(self, heap: Heap, address: int, size: int, state: BlockState) -> None:
        self.heap = heap
        self.address = address
        self.size = size
        self.state = state
        self.requested = 0
        self.order: QueueOrder | None = None
        self.stamp = 0
        self.age = 0
        self.born = 0
        self.owner = 0
        self.views: tuple[RunIndex, ...] = ()
        self.undo: Undo | None = None
        self.previous: Block = self
        self.next: Block = self

    @property
    def end(self) -> int:
        """The address right after the block."""
        return self.address + self.size

    def insert_before(self, follower: Block) -> None:
        """Link this block in front of ``follower``."""
        self.previous = follower.previous
        self.next = follower
        self.previous.next = self
        follower.previous = self

    def unlink(self) -> None:
        """Take this block out of its region's list."""
        self.previous.next = self.next
        self.next.previous = self.previous

    def __repr__(self) -> str:
        stamp = f", freed on queue {self.order.id} at {self.stamp}" if self.order else ""
        return f"Block({self.address:#x}, {self.size} bytes, {self.state.name}{stamp})"


class Piece:
    """What one part of a block was before it was taken, so that it can be put back."""

    __slots__ = ("age", "order", "size", "stamp")

    def __init__(self, block: Block, size: int) -> None:
        self.size = size
        self.order = block.order
        self.stamp = block.stamp
        self.age = block.age


class Undo:
    """What an allocation changed: its pieces as they were, its growth in bytes and segments, the
    peaks before it, how often peaks had been reset by then, and the counts that it is in."""

    __slots__ = ("counted", "grown", "pieces", "reserved_high", "resets", "segments", "used_high")

    def __init__(self) -> None:
        self.counted: list[str] = []
        self.pieces: list[Piece] = []
        self.grown = 0
        self.segments = 0
        self.resets = 0
        self.used_high = 0
        self.reserved_high = 0
