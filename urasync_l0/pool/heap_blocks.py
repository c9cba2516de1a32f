# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The part of a heap that every allocation and free passes: who may take which block.

A block is *safe* for a queue when it is idle, when the queue itself freed it, or when the queue's
clock covers its stamp. A request takes a run of adjacent safe blocks that holds it (``size_index``
says which): the front of the run goes to the request, and what is left of the last block keeps its
own stamp.

Invariants (checked by ``invariants``, which the tests call after every step):

* the blocks of a region follow each other without gap or overlap;
* two neighbours are never both idle; pending blocks never merge;
* an idle block is in ``idle``; a pending block is in the ``pending`` of the queue that freed it and
  a member of the runs of every queue in its ``views``, the first of them its own queue's;
* the byte counts are the sums over the blocks.

Nothing here calls a driver or takes a lock: the pool holds its lock around every method. The
classes in ``compiled`` do the same in C; ``structure`` chooses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from urasync_l0.pool.block import GRANULE, Block, BlockState, Piece, Reuse, Undo
from urasync_l0.pool.fields import Clock
from urasync_l0.pool.run_index import RunIndex
from urasync_l0.pool.size_index import SizeIndex
from urasync_l0.pool.tally import Tally

if TYPE_CHECKING:
    from urasync_l0.pool.order import QueueOrder
    from urasync_l0.pool.pool import HeapKey, Pool
    from urasync_l0.pool.segment import Segment

_IN_USE = BlockState.IN_USE
_PENDING = BlockState.PENDING
_IDLE = BlockState.IDLE

_MARK_EVERY = 64
"""A queue with this many pending frees since its last marker gets one at the next allocation."""

_MARK_SHARE = 160
"""So does one whose unmarked frees are more than this part of a heap that several queues use ..."""

_MARK_BYTES = 32 << 10
"""... and more than so many bytes, so that small amounts are freed and reused without a call."""


class HeapBlocks:
    """Blocks of one kind and device: the base of `Heap`. Sizes are bytes; guarded by the pool's
    lock.

    ``one_range`` says that the memory lies in one range of addresses, where low ones are preferred;
    ``whole``, that every request has a segment of its own, of just its size.
    """

    def __init__(
        self, pool: Pool, key: HeapKey, *, one_range: bool = False, whole: bool = False
    ) -> None:
        self.pool = pool
        self.key = key
        self.segments: list[Segment] = []
        self.idle = SizeIndex(lowest=one_range)
        self._one_range = one_range
        self.is_whole = whole
        self.views: dict[QueueOrder, RunIndex] = {}
        self.used_bytes = 0
        self.pending_bytes = 0
        self.idle_bytes = 0
        self.crowded = False
        self.frees = 0
        self.last_reuse = Reuse.IDLE

    def new_block(self, address: int, size: int, state: BlockState) -> Block:
        """Make a block of this heap, linked nowhere yet."""
        return Block(self, address, size, state)  # type: ignore[arg-type]  # always a Heap

    # -- the usual allocation and free -------------------------------------------------------------

    def hand_out(
        self, order: QueueOrder, clock: Clock, requested: int, tally: Tally
    ) -> Block | None:
        """Hand out pooled memory to ``order``'s queue, whose clock is given, and count it.

        The first step of a search in one, for what no event comes with and nobody undoes. None if
        no run holds that many bytes.
        """
        view = self.view(order)
        if view.clock is not clock:
            self.absorb(view, clock)
        block = self.take(view, (requested + (GRANULE - 1)) & -GRANULE, None)
        if block is None:
            return None
        block.undo = None
        block.owner = order.id
        tally.handed_out(block, requested)
        reuse = self.last_reuse
        if reuse is Reuse.OWN:
            tally.reused_own += 1
        elif reuse is Reuse.IDLE:
            tally.reused_idle += 1
        else:
            tally.reused_clock += 1
        return block

    def take_back(self, block: Block, order: QueueOrder, stamp: int, tally: Tally) -> None:
        """Make a block in use pending, as `free`, and count it."""
        tally.taken_back(block)
        block.undo = None
        self.free(block, order, stamp)

    # -- handing out -------------------------------------------------------------------------------

    def take(self, view: RunIndex, size: int, undo: Undo | None) -> Block | None:
        """Hand out ``size`` bytes that are safe for the view's queue; None if no run holds them.

        With ``undo``, the pieces are noted there as they were.
        """
        fit = self.idle.find(size)
        own = view.sizes.find(size)
        if own is not None and (fit is None or own[0] <= fit[0] or self._holds(own, fit[1])):
            fit = own
        if fit is None or (self.is_whole and fit[0] != size):
            return None
        return self._carve(fit[1], size, view.order, undo)

    def _holds(self, own: tuple[int, Block], block: Block) -> bool:
        """Tell whether an idle block is just the end of the run that ``own`` found by its size.

        By size alone the part would beat the whole, and a queue that frees and allocates in turn
        would walk on through the segment.
        """
        size, first = own
        return not self._one_range and first.address < block.address < first.address + size

    def _carve(self, first: Block, size: int, order: QueueOrder, undo: Undo | None) -> Block:
        """Turn ``size`` bytes from the start of ``first`` on into one block in use."""
        reuse = Reuse.IDLE
        before = first.previous
        address = first.address
        missing = size
        block = first
        while True:
            state = block.state
            views = block.views
            taken = block.size if block.size < missing else missing
            if undo is not None:
                undo.pieces.append(Piece(block, taken))
            if state is _IDLE:
                self._withdraw(block)
                self.idle_bytes -= taken
            else:
                for view in views:
                    view.leave(block)
                block.views = ()
                self.pending_bytes -= taken
                if block.order is not order:
                    reuse = Reuse.CLOCK
                elif reuse is Reuse.IDLE:
                    reuse = Reuse.OWN
            block.state = _IN_USE
            missing -= taken
            if taken < block.size:
                break
            if state is _PENDING:
                assert block.order is not None
                del self.views[block.order].pending[block]
                block.order = None
            if not missing:
                break
            block = block.next
        self.used_bytes += size
        self.last_reuse = reuse
        if taken == block.size:
            used = block
            used.address = address
            used.size = size
            used.previous = before
            before.next = used
            return used
        block.address += taken
        block.size -= taken
        used = self.new_block(address, size, _IN_USE)
        used.previous = before
        used.next = block
        before.next = used
        block.previous = used
        block.state = state
        if state is _IDLE:
            self._offer(block)
        else:
            for view in views:
                view.enter(block)
        return used

    # -- taking back -------------------------------------------------------------------------------

    def free(self, block: Block, order: QueueOrder, stamp: int) -> None:
        """Make a block in use pending: freed on ``order``'s queue at ``stamp``, or later.

        Another thread's free with a later stamp may have come first. This one takes that stamp
        then, so that a queue's pending blocks are in the order of their stamps.
        """
        view = self.view(order)
        if stamp < view.newest_stamp:
            stamp = view.newest_stamp
        else:
            view.newest_stamp = stamp
        self.used_bytes -= block.size
        self.pending_bytes += block.size
        self.frees += 1
        block.age = self.frees
        self._set_pending(block, view, stamp)
        view.unmarked_frees += 1
        view.unmarked_bytes += block.size
        if not self.crowded:
            self.crowded = self._is_crowding(view)

    def _set_pending(self, block: Block, view: RunIndex, stamp: int) -> None:
        block.state = _PENDING
        block.order = view.order
        block.stamp = stamp
        view.pending[block] = None
        view.enter(block)

    def set_idle(self, block: Block) -> None:
        """Make a linked block without state idle, one with the idle blocks beside it."""
        self.idle_bytes += block.size
        block.state = _IDLE
        block.requested = 0
        left = block.previous
        if left.state is _IDLE:
            self._withdraw(left)
            left.unlink()
            block.address = left.address
            block.size += left.size
        right = block.next
        if right.state is _IDLE:
            self._withdraw(right)
            right.unlink()
            block.size += right.size
        self._offer(block)

    # -- order and completion ----------------------------------------------------------------------

    def view(self, order: QueueOrder) -> RunIndex:
        """Return the runs as ``order``'s queue sees them, made if need be."""
        view = self.views.get(order)
        if view is None:
            view = self.views[order] = RunIndex(order, lowest=self._one_range)
        return view

    def absorb(self, view: RunIndex, clock: Clock) -> list[Block]:
        """Make what ``clock`` covers safe for the view's queue; return the blocks that this adds.

        The view remembers ``clock``, so that blocks are looked at once for every wait.
        """
        known = view.clock
        added: list[Block] = []
        for other, number in clock.items():
            seen = known.get(other, 0)
            freed = self.views.get(other)
            if freed is None or number <= seen:
                continue
            for block in reversed(freed.pending):
                if block.stamp <= seen:
                    break
                if block.stamp <= number and view not in block.views:
                    view.enter(block)
                    added.append(block)
        view.clock = clock
        return added

    def forget(self, view: RunIndex, added: list[Block], clock: Clock) -> None:
        """Undo `absorb` for those of the added blocks that are still pending."""
        view.clock = clock
        for block in added:
            if block.state is _PENDING and view in block.views:
                view.leave(block)
                block.views = tuple(other for other in block.views if other is not view)

    def note_completion(self) -> None:
        """Make pending blocks whose queue has passed their stamp idle, those side by side as one.

        Until then, a pending block without an order is a complete one.
        """
        complete: list[Block] = []
        finished: list[QueueOrder] = []
        for order, view in self.views.items():
            completed = order.completed
            passed = []
            for block in view.pending:
                if block.stamp > completed:
                    break
                passed.append(block)
            for block in passed:
                del view.pending[block]
                block.order = None
            complete += passed
            if not order.is_open:
                finished.append(order)
        # In address order a stretch is at the front of its runs, so that leaving them is one step.
        cut: dict[RunIndex, int] = {}
        for block in sorted(filter(_starts_stretch, complete), key=_address):
            self._complete_stretch(block, cut)
        for order in finished:
            self._drop_view(self.views[order])

    def _complete_stretch(self, first: Block, cut: dict[RunIndex, int]) -> None:
        """Make all complete and idle blocks around the first complete one of them one idle block.

        ``cut`` says up to where runs have been looked through: one has many of these blocks.
        """
        stretch = [first.previous, first] if first.previous.state is _IDLE else [first]
        kept = first
        while True:
            after = stretch[-1].next
            if _is_complete(after):
                kept = after
            elif after.state is not _IDLE:
                break
            stretch.append(after)
        before, address = stretch[0].previous, stretch[0].address
        size = sum(block.size for block in stretch)
        for block in stretch:
            idle = block.state is _IDLE
            for view in (*block.previous.views, *block.next.views) if idle else block.views:
                if cut.get(view, 0) <= block.address:
                    cut[view] = view.cut(block, address, address + size, after)
        for block in stretch:
            if block.state is _IDLE:
                self.idle.remove(block.size, block.address)
            else:
                block.views = ()
                block.state = _IDLE
                self.pending_bytes -= block.size
                self.idle_bytes += block.size
            block.previous, block.next = before, after  # what is gone keeps no other that is
        kept.address = address
        kept.size = size
        kept.requested = 0
        before.next = after.previous = kept
        self._offer(kept)

    def _remove_pending(self, block: Block) -> None:
        """Take a pending block out of every list of such; it stays linked, without state."""
        assert block.order is not None
        del self.views[block.order].pending[block]
        for view in block.views:
            view.leave(block)
        block.views = ()
        block.order = None
        block.state = _IN_USE
        self.pending_bytes -= block.size

    def _is_crowding(self, view: RunIndex) -> bool:
        """Tell whether a queue has freed so much since its last marker that it is time for one.

        A queue alone needs markers only to keep its pending blocks few. Where several queues use
        the heap, the others need to know early what is complete.
        """
        if view.unmarked_frees >= _MARK_EVERY:
            return len(view.pending) >= _MARK_EVERY
        held = self.used_bytes + self.pending_bytes + self.idle_bytes
        return len(self.views) > 1 and view.unmarked_bytes > max(held // _MARK_SHARE, _MARK_BYTES)

    def _drop_view(self, view: RunIndex) -> None:
        """Forget the view of a closed queue."""
        for other in self.views.values():
            for block in other.pending:
                if view in block.views:
                    view.leave(block)
                    block.views = tuple(each for each in block.views if each is not view)
        del self.views[view.order]

    # -- idle blocks and the runs beside them ------------------------------------------------------

    def _offer(self, block: Block) -> None:
        """Enter an idle block into the index and into the runs that it touches."""
        self.idle.add(block.size, block.address, block)
        before = block.previous.views
        for view in before:
            view.add(block)
        for view in block.next.views:
            if view not in before:
                view.add(block)

    def _withdraw(self, block: Block) -> None:
        """Take an idle block out of the index and out of its runs."""
        self.idle.remove(block.size, block.address)
        before = block.previous.views
        for view in before:
            view.remove(block)
        for view in block.next.views:
            if view not in before:
                view.remove(block)

    def _forget_blocks(self) -> None:
        """Have no blocks any more, whatever their state."""
        self.idle = SizeIndex(lowest=self._one_range)
        self.views = {}
        self.used_bytes = self.pending_bytes = self.idle_bytes = 0


def _address(block: Block) -> int:
    return block.address


def _is_complete(block: Block) -> bool:
    """Tell whether `HeapBlocks.note_completion` is about to make a block idle."""
    return block.state is _PENDING and block.order is None


def _starts_stretch(block: Block) -> bool:
    """Tell whether no complete block comes before, but for an idle one between."""
    before = block.previous
    return not _is_complete(before.previous if before.state is _IDLE else before)
