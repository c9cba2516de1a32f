# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A pool: memory handed out and taken back in the order of queues.

This is the core of the project. `Pool.allocate` shows the search order in one place; everything
below it is one step of that search. The core knows no driver: memory, markers and waits come
through the protocols in ``driver_memory`` and ``order``.

Invariants
----------
* A block is handed to a queue only when everything that used it before is ordered before whatever
  that queue is given from now on (see ``heap``).
* ``used + pending + idle == reserved`` whenever no driver call of this pool is under way, and
  ``0 <= used <= reserved <= reserved_high`` always.
* A call that raises has changed nothing: no number, no block, no driver object.
* No pending memory goes back to the driver, and none in use.

Locks: ``Pool._lock`` guards the heaps and the numbers. No driver call and no other lock is taken
while it is held, except the leaf lock of the order domain. Driver calls happen between two
sections of the lock; what they work on was taken out of the heap in the first.

Not promised: which of several equally good runs is taken; that a queue finds memory that another
thread's growth is just moving; fairness between threads that wait for memory.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from urasync_l0.enums import UsmType
from urasync_l0.pool.block import GRANULE, Block, BlockState, Undo
from urasync_l0.pool.heap import Heap
from urasync_l0.pool.heap_source import HeapSource
from urasync_l0.pool.order import NOTHING, Mark, QueueOrder, joined
from urasync_l0.pool.reserve import Refusal, Reserve
from urasync_l0.pool.segment import Segment
from urasync_l0.pool.statistics import PoolStatistics, new_counts
from urasync_l0.result import (
    InvalidArgumentError,
    InvalidUsmSizeError,
    InvalidValueError,
    OutOfHostMemoryError,
    OutOfMemoryError,
    UrError,
)

if TYPE_CHECKING:
    from urasync_l0.pool.registry import PoolRegistry

HeapKey = tuple[UsmType, int]
"""Kind of memory and index of the device in its context; host memory has index -1."""

INFINITE_NS = 2**64 - 1
"""A host wait without end, in nanoseconds."""

_MARKERS_AT_MOST = 16
"""The core does not place a further marker on a queue that has this many outstanding."""

_QUERIES_AT_ONCE = 4
"""How many markers of one queue a search queries."""

_PATIENCE_NS = 100_000
"""How long, in nanoseconds, a search that found nothing waits for each queue's markers: about what
new memory costs. An idle queue reaches a marker sooner, and a busy one is not waited for."""

_SPRAWL = 2
"""New memory beyond this multiple of the highest use comes after step 4 ..."""

_SPRAWL_BYTES = 32 << 20
"""... unless the pool stays below this many bytes."""

_QUEUES_AT_ONCE = 8
"""How many queues a search waits for."""


@dataclass(frozen=True)
class ReusePolicy:
    """Which ways of reuse a pool may take beyond a queue's own order.

    by_clock
        Memory of another queue that this queue is already ordered after.
    by_polling
        Memory that turns out to be complete when markers are placed and queried.
    by_waiting
        Memory of another queue, with a wait for it appended, when there is no new memory.
    wait_when_exhausted
        Let the call block until pending memory is complete, as the last step before an error.
    """

    by_clock: bool = True
    by_polling: bool = True
    by_waiting: bool = True
    wait_when_exhausted: bool = True


class Request:
    """One allocation on its way through the search."""

    __slots__ = ("heap", "limited", "marks", "order", "requested", "size", "undo")

    def __init__(
        self, heap: Heap, order: QueueOrder, requested: int, marks: tuple[Mark, ...], undoable: bool
    ) -> None:
        self.heap = heap
        self.order = order
        self.requested = requested
        self.size = (requested + (GRANULE - 1)) & -GRANULE
        self.marks = marks
        self.limited = False  # whether it was the pool's limit, not the driver, that said no
        self.undo = Undo() if undoable else None


class Pool:
    """Memory of some kinds and devices, handed out in queue order. Any thread may call.

    Parameters
    ----------
    registry
        The pools of the context; this pool enters itself.
    sources
        Where the memory of each kind and device comes from.
    release_threshold
        Bytes of driver memory that a synchronisation leaves to the pool.
    maximum_size
        Limit in bytes on the driver memory of the pool, over all its kinds; 0 is no limit.
    maximum_pooled
        Allocations of more bytes than this get driver memory of their own, which goes back at the
        next synchronisation after they are freed and complete, whatever the threshold; None is no
        limit.
    """

    def __init__(
        self,
        registry: PoolRegistry,
        sources: Mapping[HeapKey, HeapSource],
        *,
        name: str = "pool",
        release_threshold: int = 0,
        maximum_size: int = 0,
        maximum_pooled: int | None = None,
        policy: ReusePolicy | None = None,
    ) -> None:
        self.name = name
        self.release_threshold = release_threshold
        self.policy = policy or ReusePolicy()
        self._registry = registry
        self._domain = registry.domain
        self._live = registry.live
        self._maximum_pooled = maximum_pooled
        self._heaps: dict[HeapKey, Heap] = {}
        self._unpooled: dict[HeapKey, Heap] = {}
        self._sources: dict[Heap, HeapSource] = {}
        for key, source in sources.items():
            heap = self._heaps[key] = Heap(self, key, one_range=source.has_one_range)
            self._sources[heap] = source
            if maximum_pooled is not None and source.buffer is None:
                heap = self._unpooled[key] = Heap(self, key, one_range=False)
                self._sources[heap] = HeapSource(source.memory)
        self._lock = threading.Lock()
        self._counts = new_counts()
        self._reserve = Reserve(self._lock, self._counts, maximum_size)
        self._epoch = self._domain.epoch
        self._closed = False
        self._used = 0
        self._used_high = 0
        self._requested = 0
        for heap, source in self._sources.items():
            if source.buffer is not None:
                self._reserve.adopt(heap, *source.buffer)
        registry.add(self)

    def __repr__(self) -> str:
        return f"Pool({self.name!r}, {self._used} of {self._reserve.held} bytes in use)"

    # -- allocate ----------------------------------------------------------------------------------

    def allocate(
        self,
        order: QueueOrder,
        key: HeapKey,
        size: int,
        marks: tuple[Mark, ...] = (),
        *,
        undoable: bool = True,
    ) -> Block:
        """Hand out ``size`` bytes to ``order``'s queue, for what it is given from now on.

        ``marks`` are those of the events that the caller appends waits for right after this call.
        With ``undoable``, the caller may undo it by `give_back`, should a later step fail.
        Appends nothing to the queue, except a wait when no other memory is left, and places
        markers on queues that have freed a lot since their last one.

        Raises
        ------
        UrError
            ``INVALID_VALUE`` for a closed pool, ``INVALID_ARGUMENT`` for a kind or device that the
            pool does not serve, ``INVALID_USM_SIZE`` for zero bytes or more than the device gives.
        OutOfMemoryError
            When neither driver nor limit leave room after every step that may free some.
        """
        heap = self._heap_for(key, size)
        if not self.policy.by_clock:
            marks = ()
        request = Request(heap, order, size, marks, undoable)
        if heap.crowded:
            self._mark(heap)
        block = (
            self._take(request)
            or self._take_complete(request)
            or (self._is_sprawling(request) and self._take_after_wait(request))
            or self._take_new(request)
            or self._take_after_wait(request)
            or self._take_exhausted(request)
        )
        if not block:
            raise self._out_of_memory(request)
        self._live[block.address] = block
        return block

    def _take(self, request: Request) -> Block | None:
        """Step 1: the smallest run of blocks idle, or safe by the queue's own order or clock."""
        with self._lock:
            if self._epoch != self._domain.epoch:
                self._note_completion()
            block = self._take_locked(request)
            if block is not None:
                self._count_reuse(request.heap.last_reuse.value, block)
            return block

    def _take_locked(self, request: Request) -> Block | None:
        heap = request.heap
        order = request.order
        view = heap.view(order)
        clock = order.clock if self.policy.by_clock else NOTHING
        if view.clock is not clock:
            heap.absorb(view, clock)
        if request.marks:
            # Those waits are not appended yet: until then nobody else may rely on them.
            added = heap.absorb(view, joined(clock, request.marks, order))
            block = heap.take(view, request.size, request.undo)
            heap.forget(view, added, clock)
        else:
            block = heap.take(view, request.size, request.undo)
        if block is None:
            return None
        undo = block.undo = request.undo
        block.requested = request.requested
        self._counts["allocations"] += 1
        self._requested += request.requested
        used = self._used = self._used + block.size
        if undo is not None:
            undo.used_high = self._used_high
        if used > self._used_high:
            self._used_high = used
        return block

    def _count_reuse(self, name: str, block: Block) -> None:
        """Count a way of reuse; `give_back` takes it off again."""
        self._counts[name] += 1
        if block.undo is not None:
            block.undo.counted.append(name)

    def _take_complete(self, request: Request) -> Block | None:
        """Step 2: what turns out to be complete when markers are placed and queried."""
        if not self.policy.by_polling or not self._poll(request.heap):
            return None
        block = self._take(request)
        if block is not None:
            self._count_reuse("reused_polled", block)
        return block

    def _is_sprawling(self, request: Request) -> bool:
        """Tell whether new memory would be more than twice what was ever in use: then a wait of
        one queue for another comes first."""
        with self._lock:
            in_use = max(self._used_high, self._used + request.size)
            return self._reserve.held + request.size > max(_SPRAWL * in_use, _SPRAWL_BYTES)

    def _take_new(self, request: Request) -> Block | None:
        """Step 3: new driver memory; None if the limit or the driver says no."""
        heap = request.heap
        grown = self._reserve.grow(
            heap,
            self._sources[heap],
            request.order,
            request.size,
            lambda: self._take_locked(request),
            request.undo,
        )
        if isinstance(grown, Block):
            return grown
        request.limited = grown is Refusal.LIMIT
        return None

    def _take_after_wait(self, request: Request) -> Block | None:
        """Step 4: pending memory of another queue, with a wait for its marker appended."""
        if not self.policy.by_waiting:
            return None
        heap = request.heap
        with self._lock:
            found = heap.foreign_fit(heap.view(request.order), request.size)
        if found is None:
            return None
        other, stamp = found
        marker = other.marker_covering(stamp)
        try:
            request.order.operations.append_wait(marker.event)
        finally:
            other.drop_marker(marker)
        with self._lock:
            self._counts["inserted_waits"] += 1
        # Where the policy takes no notice of clocks, this wait still counts.
        request.marks = (*request.marks, marker.mark)
        block = self._take(request)
        if block is not None:
            self._count_reuse("reused_waited", block)
        return block

    def _take_exhausted(self, request: Request) -> Block | None:
        """Step 5: give idle memory back, wait for the oldest frees; search again after each."""
        if self._registry.reclaim():
            block = self._take(request)
            if block is not None:
                return block
        # The memory of other pools is no help against this pool's own limit.
        pools = self._registry.pools_from(self)
        for pool in pools:
            if pool is not self and request.limited:
                break
            if pool.release_idle(request.heap, self._missing(request)):
                block = self._take_new(request)
                if block is not None:
                    return block
        if not self.policy.wait_when_exhausted:
            return None
        for pool in pools:
            if pool is not self and request.limited:
                break
            while pool.wait_for_oldest(request.order):
                block = self._take(request)
                if block is None:
                    pool.release_idle(request.heap, self._missing(request))
                    block = self._take_new(request)
                if block is not None:
                    return block
        return None

    def _missing(self, request: Request) -> int:
        """Return how many bytes less would have to be held for the request to be served anew."""
        size = self._sources[request.heap].rounded(request.size)
        if request.limited:
            with self._lock:
                size -= self._reserve.allowed()
        return size

    def give_back(self, block: Block) -> None:
        """Undo `allocate`: memory, stamps and numbers are what they were before."""
        self._live.pop(block.address, None)
        undo = block.undo
        assert undo is not None
        with self._lock:
            self._used -= block.size
            self._requested -= block.requested
            for name in ("allocations", *undo.counted):
                self._counts[name] -= 1
            if self._used_high == self._used + block.size:
                self._used_high = max(self._used, undo.used_high)
            block.heap.put_back(block, undo)
        if undo.grown:
            self._reserve.shrink(block.heap, self._sources[block.heap], undo)
        if self._closed:
            self._finish_closing()

    # -- free --------------------------------------------------------------------------------------

    def free(self, block: Block, order: QueueOrder, stamp: int) -> None:
        """Take a block back that was freed on ``order``'s queue at ``stamp``.

        The caller has taken it out of the live table (`PoolRegistry.claim`). Cannot fail, and
        appends nothing.
        """
        with self._lock:
            self._used -= block.size
            self._requested -= block.requested
            self._counts["frees"] += 1
            block.undo = None
            block.heap.free(block, order, stamp)
            if not order.is_open:
                self._note_completion()
        if self._closed:
            self._finish_closing()

    # -- completion --------------------------------------------------------------------------------

    def settle(self) -> None:
        """After a synchronisation: note what is complete, and give idle memory above the release
        threshold back to the driver."""
        with self._lock:
            self._note_completion()
            excess = self._reserve.held > self.release_threshold
        if self._unpooled:
            unpooled = [(heap, self._sources[heap]) for heap in self._unpooled.values()]
            self._reserve.release(unpooled, 0, at_least=False)
        if excess:
            self._reserve.release(self._heaps_and_sources(), self.release_threshold, at_least=False)
        if self._closed:
            self._finish_closing()

    def _note_completion(self) -> None:
        self._epoch = self._domain.epoch
        for heap in self._sources:
            heap.note_completion()

    def _poll(self, heap: Heap) -> bool:
        """Place markers where queues have unmarked frees, query, and tell whether any completed."""
        with self._lock:
            freed = [view for view in heap.views.values() if view.pending]
            stamps = [(view.order, heap.mark(view)) for view in freed]
        orders = [view.order for view in freed]
        progressed = _place_and_query(stamps, orders)
        for order in orders[:_QUEUES_AT_ONCE]:
            with suppress(UrError):
                progressed |= order.wait_for_marker(_PATIENCE_NS)
        return progressed

    def _mark(self, heap: Heap) -> None:
        """Place markers on the queues with many unmarked frees, and query those before."""
        with self._lock:
            stamps = [(view.order, heap.mark(view)) for view in heap.crowding_views()]
            freed = [view.order for view in heap.views.values() if view.pending]
        _place_and_query(stamps, freed)

    # -- giving memory back to the driver ----------------------------------------------------------

    def trim_to(self, keep: int) -> None:
        """Give idle memory back to the driver while more than ``keep`` bytes are reserved.

        Never goes below ``keep``, never blocks, never touches used or pending memory.
        """
        with self._lock:
            self._note_completion()
            self._counts["trims"] += 1
        self._reserve.release(self._heaps_and_sources(), keep, at_least=True)

    def release_idle(self, growing: Heap, size: int) -> bool:
        """Give ``size`` bytes of idle memory back to the driver, or a bit more; tell if any.

        Leaves the heap that is to grow alone where that can move its idle pages itself.
        """
        heaps = [
            (heap, source)
            for heap, source in self._heaps_and_sources()
            if heap is not growing or source.virtual is None
        ]
        with self._lock:
            self._note_completion()
            keep = max(0, self._reserve.held - size)
        released = self._reserve.release(heaps, keep, at_least=False)
        if released:
            with self._lock:
                self._counts["ladder_releases"] += 1
        return released > 0

    def wait_for_oldest(self, order: QueueOrder) -> bool:
        """Block until the oldest pending free is complete, those of ``order``'s queue first.

        Tells whether there was one. Returns False also when what is pending cannot be waited for.
        """
        with self._lock:
            oldest = [
                (view.order is not order, next(iter(view.pending)).age, view)
                for heap in self._sources
                for view in heap.views.values()
                if view.pending
            ]
            if not oldest:
                return False
            view = min(oldest, key=_priority)[2]
            freed_on = view.order
            stamp = next(iter(view.pending)).stamp
        if freed_on.is_open and stamp > freed_on.completed:
            marker = freed_on.marker_covering(stamp)
            try:
                if not marker.event.wait(INFINITE_NS):
                    return False
                freed_on.retire(marker)
            finally:
                freed_on.drop_marker(marker)
        with self._lock:
            self._counts["ladder_waits"] += 1
            self._note_completion()
        return True

    def close(self) -> None:
        """Refuse new allocations. The memory goes back when the last block is freed and complete.

        Raises ``INVALID_VALUE`` when the pool is closed already.
        """
        with self._lock:
            if self._closed:
                raise InvalidValueError(f"pool {self.name!r} is already destroyed")
            self._closed = True
            self._note_completion()
        self._finish_closing()

    def _finish_closing(self) -> None:
        with self._lock:
            self._note_completion()
            busy = self._reserve.under_way > 0
            busy |= any(heap.used_bytes or heap.pending_bytes for heap in self._sources)
        if not busy:
            self._registry.remove(self)
            self._reserve.abandon_all(self._heaps_and_sources())

    def abandon(self) -> None:
        """Give everything back, also what is in use: the context ends, and all queues are idle."""
        self._closed = True
        with self._lock:
            self._used = self._requested = 0
        self._reserve.abandon_all(self._heaps_and_sources())

    # -- numbers -----------------------------------------------------------------------------------

    @property
    def is_closed(self) -> bool:
        """Whether the pool was destroyed."""
        return self._closed

    @property
    def maximum_size(self) -> int:
        """Limit in bytes on the driver memory of the pool, over all its kinds; 0 is no limit."""
        return self._reserve.limit

    @maximum_size.setter
    def maximum_size(self, size: int) -> None:
        self._reserve.limit = size

    def statistics(self) -> PoolStatistics:
        """Return the numbers of this moment."""
        with self._lock:
            return PoolStatistics(
                **self._counts,
                used=self._used,
                used_high=self._used_high,
                requested=self._requested,
                pending=sum(heap.pending_bytes for heap in self._sources),
                idle=sum(heap.idle_bytes for heap in self._sources),
                reserved=self._reserve.held,
                reserved_high=self._reserve.high,
            )

    def reset_peak_used(self) -> None:
        """Set the peak of used bytes to the present value."""
        with self._lock:
            self._used_high = self._used

    def reset_peak_reserved(self) -> None:
        """Set the peak of reserved bytes to the present value."""
        with self._lock:
            self._reserve.high = self._reserve.held

    # -- helpers -----------------------------------------------------------------------------------

    def _heaps_and_sources(self) -> list[tuple[Heap, HeapSource]]:
        return list(self._sources.items())

    def find(self, address: int) -> Block | None:
        """Return the block in use that holds ``address``, which may lie inside it."""
        with self._lock:
            for heap in self._sources:
                for segment in heap.segments:
                    if segment.address <= address < segment.end:
                        return _block_at(segment, address)
        return None

    def check(self) -> None:
        """Raise `AssertionError` if an invariant of the pool or its heaps is broken. For tests."""
        with self._lock:
            for heap in self._sources:
                heap.check()
            heaps = self._sources
            assert self._used == sum(heap.used_bytes for heap in heaps)
            held = sum(heap.used_bytes + heap.pending_bytes + heap.idle_bytes for heap in heaps)
            assert held == self._reserve.held

    def _heap_for(self, key: HeapKey, size: int) -> Heap:
        """Return the heap that serves a request; raise if none can. Checks come before effects."""
        if self._closed:
            raise InvalidValueError(f"pool {self.name!r} was destroyed and gives no memory")
        heap = self._heaps.get(key)
        if heap is None:
            kind, device = key
            served = ", ".join(f"{k.name} on device {d}" for k, d in self._heaps)
            raise InvalidArgumentError(
                f"pool {self.name!r} has no {kind.name} memory of device {device}; it has {served}"
            )
        if self._maximum_pooled is not None and size > self._maximum_pooled:
            heap = self._unpooled.get(key, heap)
        largest = self._sources[heap].memory.maximum_allocation
        if not 0 < size <= largest:
            raise InvalidUsmSizeError(
                f"cannot allocate {size} bytes: the device gives 1 to {largest} bytes at once"
            )
        return heap

    def _out_of_memory(self, request: Request) -> OutOfMemoryError:
        with self._lock:
            self._counts["out_of_memory"] += 1
        kind, device = request.heap.key
        now = self.statistics()
        limit = self.maximum_size or None
        error = OutOfHostMemoryError if kind is UsmType.HOST else OutOfMemoryError
        where = "host" if kind is UsmType.HOST else f"device {device}"
        return error(
            f"no {request.requested} bytes of {kind.name} memory left for {where} in pool "
            f"{self.name!r}: {now.used} used, {now.pending} pending, {now.idle} idle, "
            f"{now.reserved} reserved, limit {'none' if limit is None else limit}",
            requested=request.requested,
            used=now.used,
            pending=now.pending,
            idle=now.idle,
            reserved=now.reserved,
            limit=limit,
            device=None if kind is UsmType.HOST else where,
        )


def _place_and_query(stamps: list[tuple[QueueOrder, int]], freed: list[QueueOrder]) -> bool:
    """Make sure that markers cover the stamps, query, and tell whether any completed.

    Markers only help to notice completion: what ails a queue shows in its own next call.
    """
    progressed = False
    for order, stamp in stamps:
        if order.completed < stamp and len(order.markers) < _MARKERS_AT_MOST:
            with suppress(UrError):
                order.drop_marker(order.marker_covering(stamp))
    for order in freed:
        with suppress(UrError):
            progressed |= order.poll_markers(_QUERIES_AT_ONCE)
    return progressed


def _priority(entry: tuple[bool, int, object]) -> tuple[bool, int]:
    return entry[:2]


def _block_at(segment: Segment, address: int) -> Block | None:
    region = segment.region_of(address)
    if region is None:
        return None
    for block in region.blocks():
        if address < block.end:
            return block if block.state is BlockState.IN_USE else None
    return None
