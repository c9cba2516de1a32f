# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The front of a pool: the allocations and frees that take one look and no driver.

Most do. `Pool` has the rest: what happens when nothing is at hand, and everything but these two.
The class in C of the same name does the same; ``structure`` chooses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from urasync_l0.pool.fields import EVERYTHING, NOTHING

if TYPE_CHECKING:
    from threading import Lock

    from urasync_l0.enums import UsmType
    from urasync_l0.pool.block import Block
    from urasync_l0.pool.heap import Heap
    from urasync_l0.pool.order import OrderDomain, QueueOrder
    from urasync_l0.pool.registry import PoolRegistry
    from urasync_l0.pool.structure import Tally


class PoolFront:
    """The part of a `Pool` that every allocation and free passes. Sizes are bytes.

    ``usual`` has the heap of each kind and device with the largest request that it serves;
    ``epoch`` is that of the domain when completion was noted last; ``limit`` bounds the driver
    memory, 0 is none; ``by_clock`` says whether memory of queues that a queue is ordered after may
    be reused, ``by_polling`` whether queues are asked how far they are.
    """

    __slots__ = (
        *("by_clock", "by_polling", "domain", "epoch", "is_closed", "limit"),
        *("lock", "registry", "tally", "usual"),
    )
    lock: Lock
    domain: OrderDomain
    registry: PoolRegistry
    tally: Tally
    usual: dict[tuple[UsmType, int], tuple[Heap, int]]
    epoch: int
    limit: int
    by_clock: bool
    by_polling: bool
    is_closed: bool

    def take_at_once(self, order: QueueOrder, key: tuple[UsmType, int], size: int) -> Block | None:
        """Hand out pooled memory if that takes one look, as most allocations do.

        None when `Pool.allocate` has to be asked, which does the rest or says what is wrong. The
        block cannot be given back, only freed.
        """
        usual = self.usual.get(key)
        if usual is None:
            return None
        heap, largest = usual
        limit = self.limit
        if not 0 < size <= largest or heap.crowded or (limit and size > limit):
            return None
        registry = self.registry
        with self.lock:
            if self.is_closed:
                return None
            if self.epoch != self.domain.epoch:
                self.note_completion()
            clock = order.clock if self.by_clock else NOTHING
            block = heap.hand_out(order, clock, size, self.tally)
            if block is None:
                return None
            observer = registry.observer
            if observer is not None:
                observer.allocated(block, order)
        registry.live[block.address] = block
        return block

    def free(self, block: Block, order: QueueOrder, stamp: int) -> None:
        """Take a block back that was freed on ``order``'s queue at ``stamp``.

        The caller has taken it out of the live table (`PoolRegistry.claim`). Cannot fail, and
        appends nothing.
        """
        with self.lock:
            block.heap.take_back(block, order, stamp, self.tally)
            observer = self.registry.observer
            if observer is not None:
                observer.freed(block, order)
            if order.completed >= EVERYTHING:
                self.note_completion()
        if self.is_closed:
            self.finish_if_closed()

    def note_completion(self) -> None:
        """Make idle what its queue is known to have passed. The caller holds the lock."""
        raise NotImplementedError

    def finish_if_closed(self) -> None:
        """Finish a pool that was closed before. The caller holds no lock."""
        raise NotImplementedError
