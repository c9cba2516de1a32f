# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The steps by which a pool finds memory for one allocation; `Pool.allocate` has their order.

Each step that may complete frees or bring memory ends in a search of the pool. The pool's lock is
held around the bookkeeping only; markers, waits and driver memory come without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from urasync_l0.pool.block import GRANULE, Undo
from urasync_l0.pool.heap import Heap
from urasync_l0.pool.order import NOTHING, Mark, QueueOrder, joined
from urasync_l0.pool.reserve import Refusal
from urasync_l0.result import DeviceLostError, UrError

if TYPE_CHECKING:
    from urasync_l0.pool.block import Block
    from urasync_l0.pool.pool import Pool

_MARKERS_AT_MOST = 16
"""The core does not place a further marker on a queue that has this many outstanding."""

_QUERIES_AT_ONCE = 4
"""How many markers of one queue a search queries."""

_SPRAWL = 2
"""New memory beyond this multiple of the highest use comes after step 4 ..."""

_SPRAWL_BYTES = 4 << 20
"""... unless the pool stays below this many bytes."""

_QUEUES_AT_ONCE = 8
"""How many queues a search waits for."""


class Search:
    """One allocation on its way through its pool, for what ``order``'s queue is given next.

    Each ``take`` method is one step: it returns the block, handed out, or None when it found none.
    ``limited`` says whether it was the pool's limit, not the driver, that refused new memory.
    """

    __slots__ = ("heap", "limited", "marks", "order", "pool", "requested", "size", "undo")

    def __init__(
        self,
        pool: Pool,
        heap: Heap,
        order: QueueOrder,
        requested: int,
        marks: tuple[Mark, ...],
        *,
        undoable: bool,
    ) -> None:
        self.pool = pool
        self.heap = heap
        self.order = order
        self.requested = requested
        self.size = (requested + (GRANULE - 1)) & -GRANULE
        self.marks = marks
        self.limited = False
        self.undo = Undo() if undoable else None

    def take(self) -> Block | None:
        """Step 1: a run of blocks that are idle, or safe by the queue's own order or clock."""
        pool = self.pool
        with pool.lock:
            pool.require_open()
            if pool.epoch != pool.domain.epoch:
                pool.note_completion()
            block = self._take_locked()
            if block is not None:
                self._count_reuse(self.heap.last_reuse.value, block)
            return block

    def _take_locked(self) -> Block | None:
        heap = self.heap
        order = self.order
        view = heap.view(order)
        clock = order.clock if self.pool.by_clock else NOTHING
        if view.clock is not clock:
            heap.absorb(view, clock)
        if self.marks:
            # Those waits are not appended yet: until then nobody else may rely on them.
            added = heap.absorb(view, joined(clock, self.marks, order))
            block = heap.take(view, self.size, self.undo)
            heap.forget(view, added, clock)
        else:
            block = heap.take(view, self.size, self.undo)
        if block is None:
            return None
        pool = self.pool
        pool.hand_out(block, self.requested, self.undo)
        block.owner = order.id
        observer = pool.registry.observer
        if observer is not None:
            observer.allocated(block, order)
        return block

    def _count_reuse(self, name: str, block: Block) -> None:
        """Count a way of reuse; `give_back` takes it off again."""
        self.pool.count(name)
        if block.undo is not None:
            block.undo.counted.append(name)

    def take_complete(self) -> Block | None:
        """Step 2: what turns out to be complete when markers are placed and queried."""
        if not self.pool.by_polling or not self._poll():
            return None
        block = self.take()
        if block is not None:
            self._count_reuse("reused_polled", block)
        return block

    def is_sprawling(self) -> bool:
        """Tell whether new memory would be more than twice what was ever in use: then a wait of
        one queue for another comes first."""
        with self.pool.lock:
            tally = self.pool.tally
            in_use = max(tally.used_high, tally.used + self.size)
            return self.pool.reserve.held + self.size > max(_SPRAWL * in_use, _SPRAWL_BYTES)

    def take_new(self) -> Block | None:
        """Step 3: new driver memory; None if the limit or the driver says no."""
        heap = self.heap
        if heap.is_whole:
            # What is idle there fits nothing else, and must not pile up until somebody finishes.
            with _NOTICING:
                self.pool.release_unpooled()
        grown = self.pool.reserve.grow(
            heap,
            self.pool.sources[heap],
            self.order,
            self.size,
            self._take_locked,
            self.undo,
            self.pool.require_open,
        )
        if isinstance(grown, Refusal):
            self.limited = grown is Refusal.LIMIT
            return None
        return grown

    def take_after_wait(self) -> Block | None:
        """Step 4: pending memory of other queues, with waits for their markers appended."""
        if not self.pool.policy.by_waiting or not self.order.is_open:
            return None
        heap = self.heap
        with self.pool.lock:
            found = heap.foreign_fit(heap.view(self.order), self.size)
        if not found:
            return None
        for other, stamp in found.items():
            marker = other.marker_covering(stamp)
            try:
                self.order.operations.append_wait(marker)
                mark = marker.mark
            finally:
                marker.release()
            with self.pool.lock:
                self.pool.counts["inserted_waits"] += 1
            # Where the policy takes no notice of clocks, this wait still counts.
            self.marks = (*self.marks, mark)
        block = self.take()
        if block is not None:
            self._count_reuse("reused_waited", block)
        return block

    def take_exhausted(self) -> Block | None:
        """Step 5: give idle memory back, wait for the oldest frees; search again after each."""
        if self.pool.registry.reclaim():
            block = self.take() or self.take_new()
            if block is not None:
                return block
        # The memory of other pools is no help against this pool's own limit.
        pools = self.pool.registry.pools_from(self.pool)
        for pool in pools:
            if pool is not self.pool and self.limited:
                break
            missing = self._missing()
            if missing <= 0 or pool.release_idle(self.heap, missing, limited=self.limited):
                block = self.take_new()
                if block is not None:
                    return block
        # Other threads may have completed frees meanwhile.
        block = self.take()
        if block is not None:
            return block
        if not self.pool.policy.wait_when_exhausted:
            return None
        for pool in pools:
            if pool is not self.pool and self.limited:
                break
            while pool.wait_for_oldest(self.order, self.heap, limited=self.limited):
                block = self.take()
                if block is None:
                    pool.release_idle(self.heap, self._missing(), limited=self.limited)
                    block = self.take_new()
                if block is not None:
                    return block
        return None

    def _missing(self) -> int:
        """Return how many bytes less would have to be held for the request to be served anew."""
        size = self.pool.sources[self.heap].rounded(self.size)
        if self.limited:
            with self.pool.lock:
                size -= self.pool.reserve.allowed()
        return size

    def _poll(self) -> bool:
        """Place markers where queues have unmarked frees, query, and tell whether any completed."""
        with self.pool.lock:
            freed = [view for view in self.heap.views.values() if view.pending]
            stamps = [(view.order, self.heap.mark(view)) for view in freed]
        progressed = _place_and_query(stamps, [view.order for view in freed])
        if not self.pool.policy.wait_when_exhausted:
            return progressed
        for view in freed[:_QUEUES_AT_ONCE]:
            with _NOTICING:
                progressed |= view.order.wait_a_moment()
        return progressed

    def mark(self) -> None:
        """Place markers on the queues with many unmarked frees, and query those before."""
        with self.pool.lock:
            stamps = [(view.order, self.heap.mark(view)) for view in self.heap.crowding_views()]
            freed = [view.order for view in self.heap.views.values() if view.pending]
        _place_and_query(stamps, freed if self.pool.by_polling else [])


def _place_and_query(stamps: list[tuple[QueueOrder, int]], freed: list[QueueOrder]) -> bool:
    """Make sure that markers cover the stamps, query, and tell whether any completed.

    Markers only help to notice completion: what ails a queue shows in its own next call.
    """
    progressed = False
    for order, stamp in stamps:
        if order.completed < stamp and len(order.markers) < _MARKERS_AT_MOST:
            with _NOTICING:
                order.marker_covering(stamp).release()
    for order in freed:
        if order.markers:
            with _NOTICING:
                progressed |= order.poll_markers(_QUERIES_AT_ONCE)
    return progressed


class _Noticing:
    """Let no error of a marker fail the search, but that the device is lost: all is over then."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> bool:
        return (
            kind is not None and issubclass(kind, UrError) and not issubclass(kind, DeviceLostError)
        )


_NOTICING = _Noticing()
