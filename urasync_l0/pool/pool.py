# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A pool: memory handed out and taken back in the order of queues.

This is the core of the project. `Pool.allocate` shows the search order in one place; ``search``
has the steps. The core knows no driver: memory, markers and waits come
through the protocols in ``driver_memory`` and ``order``.

Invariants
----------
* A block is handed to a queue only when everything that used it before is ordered before whatever
  that queue is given from now on (see ``heap``).
* ``used + pending + idle == reserved`` whenever no driver call of this pool is under way, and
  ``0 <= used <= reserved <= reserved_high`` always.
* A call that raises has changed nothing: no number, no block, no driver object.
* No pending memory goes back to the driver, and none in use.

Locks: ``Pool.lock`` guards the heaps and the numbers. No driver call and no other lock is taken
while it is held, except the leaf lock of the order domain. Driver calls happen between two
sections of the lock; what they work on was taken out of the heap in the first.

Not promised: which of several equally good runs is taken; that a queue finds memory that another
thread's growth is just moving; fairness between threads that wait for memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from urasync_l0.enums import UsmType
from urasync_l0.pool.block import Block, BlockState, Undo
from urasync_l0.pool.heap import Heap
from urasync_l0.pool.heap_source import HeapSource
from urasync_l0.pool.invariants import check_heap
from urasync_l0.pool.order import Mark, QueueOrder
from urasync_l0.pool.reserve import Reserve
from urasync_l0.pool.reuse_policy import ReusePolicy
from urasync_l0.pool.search import Search
from urasync_l0.pool.segment import Segment
from urasync_l0.pool.statistics import PoolStatistics, new_counts
from urasync_l0.pool.structure import Lock, PoolFront, Tally
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


class Pool(PoolFront):
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
        Allocations of more bytes than this get driver memory of their own, as those do that are
        asked for so. It goes back at the next synchronisation after they are freed and complete,
        whatever the threshold, and serves nothing but requests of the same size until then; None
        is no limit.
    """

    heap_type = Heap
    lock_type = Lock
    tally_type = Tally

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
        self.by_clock = self.policy.by_clock
        self.by_polling = self.policy.by_polling
        self.is_closed = False
        self.registry = registry
        self.domain = registry.domain
        self._maximum_pooled = maximum_pooled
        self._heaps: dict[HeapKey, Heap] = {}
        self.usual = {}
        self._unpooled: dict[HeapKey, Heap] = {}
        self.sources: dict[Heap, HeapSource] = {}
        for key, source in sources.items():
            heap = self._heaps[key] = self.heap_type(self, key, one_range=source.has_one_range)
            self.sources[heap] = source
            largest = source.memory.maximum_allocation
            if maximum_pooled is not None:
                largest = min(largest, maximum_pooled)
            self.usual[key] = heap, largest
        self.lock = self.lock_type()
        self.counts = new_counts()
        self.limit = maximum_size
        self.reserve = Reserve(self, self.counts)
        self.epoch = self.domain.epoch
        self._is_abandoned = False
        self.tally = self.tally_type()
        for heap, source in self.sources.items():
            if source.buffer is not None:
                self.reserve.adopt(heap, *source.buffer)
        registry.add(self)

    def __repr__(self) -> str:
        return f"Pool({self.name!r}, {self.tally.used} of {self.reserve.held} bytes in use)"

    # -- allocate ----------------------------------------------------------------------------------

    def allocate(
        self,
        order: QueueOrder,
        key: HeapKey,
        size: int,
        marks: tuple[Mark, ...] = (),
        *,
        undoable: bool = True,
        own: bool = False,
    ) -> Block:
        """Hand out ``size`` bytes to ``order``'s queue, for what it is given from now on.

        ``marks`` are those of the events that the caller appends waits for right after this call.
        With ``undoable``, the caller may undo it by `give_back`, should a later step fail. With
        ``own``, the memory is a driver allocation by itself, as aligned as those are.
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
        heap = self._heap_for(key, size, own=own)
        if not self.by_clock:
            marks = ()
        if self.limit and size > self.limit:
            raise self._out_of_memory(heap, size)  # nothing that the search does could change that
        search = Search(self, heap, order, size, marks, undoable=undoable)
        if heap.crowded:
            search.mark()
        try:
            block = (
                search.take()
                or search.take_complete()
                or (search.is_sprawling() and search.take_after_wait())
                or search.take_new()
                or search.take_after_wait()
                or search.take_exhausted()
            )
        finally:
            self.finish_if_closed()  # meanwhile: what the search brought must not stay
        if not block:
            raise self._out_of_memory(heap, size)
        self.registry.live[block.address] = block
        return block

    def require_open(self) -> None:
        """Raise ``INVALID_VALUE`` if the pool was destroyed."""
        if self.is_closed:
            raise InvalidValueError(f"pool {self.name!r} was destroyed and gives no memory")

    def hand_out(self, block: Block, requested: int, undo: Undo | None) -> None:
        """Note that a search took a block for a caller. The caller holds the lock."""
        block.undo = undo
        if undo is not None:
            undo.used_high = self.tally.used_high
            undo.resets = self.reserve.resets
        self.tally.handed_out(block, requested)

    def count(self, name: str, change: int = 1) -> None:
        """Count something by its name in `PoolStatistics`. The caller holds the lock."""
        if name in self.counts:
            self.counts[name] += change
        else:
            setattr(self.tally, name, getattr(self.tally, name) + change)

    def give_back(self, block: Block) -> None:
        """Undo `allocate`: memory, stamps and numbers are what they were before."""
        self.registry.live.pop(block.address, None)
        undo = block.undo
        assert undo is not None
        with self.lock:
            if self._is_abandoned:
                return  # with everything in it, while the caller was on its way
            tally = self.tally
            tally.used -= block.size
            tally.requested -= block.requested
            for name in ("allocations", *undo.counted):
                self.count(name, -1)
            if tally.used_high == tally.used + block.size:
                before = undo.used_high if undo.resets == self.reserve.resets else 0
                tally.used_high = max(tally.used, before)
            observer = self.registry.observer
            if observer is not None:
                observer.undone(block)
            block.heap.put_back(block, undo)
        if undo.grown:
            self.reserve.shrink(block.heap, self.sources[block.heap], undo)
        self.finish_if_closed()

    # -- completion --------------------------------------------------------------------------------

    def settle(self) -> None:
        """After a synchronisation: note what is complete, and give idle memory above the release
        threshold back to the driver."""
        with self.lock:
            self.note_completion()
            excess = self.reserve.held > self.release_threshold
        if self._unpooled:
            self.release_unpooled()
        if excess:
            self.reserve.release(self._heaps_and_sources(), self.release_threshold, at_least=False)
        if self.is_closed:
            self._finish_closing()

    def release_unpooled(self) -> None:
        """Give idle memory of allocations that are not pooled back to the driver."""
        unpooled = [(heap, self.sources[heap]) for heap in self._unpooled.values()]
        self.reserve.release(unpooled, 0, at_least=False)

    def note_completion(self) -> None:
        """Make idle what its queue is known to have passed. The caller holds the lock."""
        self.epoch = self.domain.epoch
        for heap in self.sources:
            heap.note_completion()

    # -- giving memory back to the driver ----------------------------------------------------------

    def trim_to(self, keep: int) -> None:
        """Give idle memory back to the driver while more than ``keep`` bytes are reserved.

        Never goes below ``keep``, never blocks, never touches used or pending memory.
        """
        with self.lock:
            self.note_completion()
            self.counts["trims"] += 1
        self.reserve.release(self._heaps_and_sources(), keep, at_least=True)

    def release_idle(self, growing: Heap, size: int, *, limited: bool) -> bool:
        """Give ``size`` bytes of idle memory back to the driver, or a bit more; tell if any.

        Leaves the heap that is to grow alone where that can move its idle pages itself. Unless the
        pool's limit is what was met, only memory of the same device, or of the host, is any help.
        """
        heaps = [
            (heap, source)
            for heap, source in self._heaps_and_sources()
            if heap is not growing or source.virtual is None
            if limited or _shares_memory(heap.key, growing.key)
        ]
        heaps.sort(key=lambda entry: entry[0] is not growing)
        with self.lock:
            self.note_completion()
            keep = max(0, self.reserve.held - size)
        released = self.reserve.release(heaps, keep, at_least=False)
        if released:
            with self.lock:
                self.counts["ladder_releases"] += 1
        return released > 0

    def wait_for_oldest(self, order: QueueOrder, growing: Heap, *, limited: bool) -> bool:
        """Block until the oldest pending free is complete, those of ``order``'s queue first.

        Only frees of memory that can help ``growing``, as in `release_idle`. Tells whether there
        was one. Returns False also when what is pending cannot be waited for.
        """
        with self.lock:
            oldest = [
                (view.order is not order, next(iter(view.pending)).age, view)
                for heap in self.sources
                if limited or _shares_memory(heap.key, growing.key)
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
                if not marker.wait(INFINITE_NS):
                    return False
                freed_on.retire(marker)
            finally:
                marker.release()
        with self.lock:
            self.counts["ladder_waits"] += 1
            self.note_completion()
        return True

    def close(self) -> None:
        """Refuse new allocations. The memory goes back when the last block is freed and complete.

        Raises ``INVALID_VALUE`` when the pool is closed already, and the driver's error when it
        does not take memory back; that is tried again at synchronisations and with the context.
        """
        with self.lock:
            if self.is_closed:
                raise InvalidValueError(f"pool {self.name!r} is already destroyed")
            self.is_closed = True
            self.note_completion()
        self._finish_closing()

    def finish_if_closed(self) -> None:
        """Finish a pool that was closed before, if it was. What the driver refuses is tried again
        later: the call that came here did its own work, or fails for a reason of its own."""
        if self.is_closed:
            with suppress(UrError):
                self._finish_closing()

    def _finish_closing(self) -> None:
        """Give everything back if nothing is in use, pending or under way."""
        with self.lock:
            self.note_completion()
            busy = any(heap.used_bytes or heap.pending_bytes for heap in self.sources)
            if busy or not self.reserve.under_way.is_none:
                return
            self.reserve.set_aside(self._heaps_and_sources())
        self.reserve.give_back_aside()
        self.registry.remove(self)

    def stop(self, timeout_ns: int) -> bool:
        """Refuse new allocations, and wait until no other thread is just getting or giving back
        driver memory; False when ``timeout_ns`` nanoseconds were not enough. The context ends."""
        with self.lock:
            self.is_closed = True
        return self.reserve.under_way.have_ended(timeout_ns)

    def abandon(self) -> None:
        """Give everything back, also what is in use: the context ends, and all queues are idle.

        The pool was stopped. A thread that then found it closed and unused may be just doing the
        same; its calls are refused by now, or on their way back.
        """
        self.reserve.under_way.have_ended(INFINITE_NS)
        with self.lock:
            self.is_closed = self._is_abandoned = True
            self.tally.used = self.tally.requested = 0
            self.reserve.set_aside(self._heaps_and_sources())
        self.reserve.give_back_aside()

    # -- numbers -----------------------------------------------------------------------------------

    @property
    def maximum_size(self) -> int:
        """Limit in bytes on the driver memory of the pool, over all its kinds; 0 is no limit."""
        return self.limit

    @maximum_size.setter
    def maximum_size(self, size: int) -> None:
        self.limit = size

    def statistics(self) -> PoolStatistics:
        """Return the numbers of this moment."""
        with self.lock:
            return self.numbers()

    def numbers(self) -> PoolStatistics:
        """Return the numbers of this moment. The caller holds the lock."""
        return PoolStatistics(
            **self.counts,
            **self.tally.counts(),
            used=self.tally.used,
            used_high=self.tally.used_high,
            requested=self.tally.requested,
            pending=sum(heap.pending_bytes for heap in self.sources),
            idle=sum(heap.idle_bytes for heap in self.sources),
            reserved=self.reserve.held,
            reserved_high=self.reserve.high,
        )

    def is_pooled(self, heap: Heap) -> bool:
        """Tell whether a heap of this pool is not the one for allocations of their own."""
        return self._heaps.get(heap.key) is heap

    def reset_peak_used(self) -> None:
        """Set the peak of used bytes to the present value."""
        with self.lock:
            self.tally.used_high = self.tally.used
            self.reserve.resets += 1

    def reset_peak_reserved(self) -> None:
        """Set the peak of reserved bytes to the present value."""
        with self.lock:
            self.reserve.high = self.reserve.held
            self.reserve.resets += 1

    # -- helpers -----------------------------------------------------------------------------------

    def _heaps_and_sources(self) -> list[tuple[Heap, HeapSource]]:
        return list(self.sources.items())

    def find(self, address: int) -> Block | None:
        """Return the block in use that holds ``address``, which may lie inside it."""
        with self.lock:
            for heap in self.sources:
                for segment in heap.segments:
                    if segment.address <= address < segment.end:
                        return _block_at(segment, address)
        return None

    def check(self) -> None:
        """Raise `AssertionError` if an invariant of the pool or its heaps is broken. For tests."""
        with self.lock:
            for heap in self.sources:
                check_heap(heap)
            heaps = self.sources
            assert self.tally.used == sum(heap.used_bytes for heap in heaps)
            held = sum(heap.held_bytes for heap in heaps)
            assert held + self.reserve.aside() == self.reserve.held

    def _heap_for(self, key: HeapKey, size: int, *, own: bool) -> Heap:
        """Return the heap that serves a request; raise if none can. Checks come before effects."""
        self.require_open()
        heap = self._heaps.get(key)
        if heap is None:
            kind, device = key
            served = ", ".join(f"{k.name} on device {d}" for k, d in self._heaps)
            raise InvalidArgumentError(
                f"pool {self.name!r} has no {kind.name} memory of device {device}; it has {served}"
            )
        if own or (self._maximum_pooled is not None and size > self._maximum_pooled):
            heap = self._unpooled.get(key) or self._add_unpooled(key, heap)
        largest = self.sources[heap].memory.maximum_allocation
        if not 0 < size <= largest:
            raise InvalidUsmSizeError(
                f"cannot allocate {size} bytes: the device gives 1 to {largest} bytes at once"
            )
        return heap

    def _add_unpooled(self, key: HeapKey, pooled: Heap) -> Heap:
        """Make the heap of a kind's allocations with memory of their own, at the first of them.

        A pool in the user's buffer has just that; its own heap serves then.
        """
        source = self.sources[pooled]
        if source.buffer is not None:
            return pooled
        with self.lock:
            heap = self._unpooled.get(key)
            if heap is None:
                heap = self.heap_type(self, key, whole=True)
                # Replaced as wholes: others go through them without the lock.
                self.sources = {**self.sources, heap: source.as_whole()}
                self._unpooled = {**self._unpooled, key: heap}
            return heap

    def _out_of_memory(self, heap: Heap, requested: int) -> OutOfMemoryError:
        with self.lock:
            self.counts["out_of_memory"] += 1
        kind, device = heap.key
        now = self.statistics()
        limit = self.maximum_size or None
        error = OutOfHostMemoryError if kind is UsmType.HOST else OutOfMemoryError
        where = "host" if kind is UsmType.HOST else f"device {device}"
        return error(
            f"no {requested} bytes of {kind.name} memory left for {where} in pool "
            f"{self.name!r}: {now.used} used, {now.pending} pending, {now.idle} idle, "
            f"{now.reserved} reserved, limit {'none' if limit is None else limit}",
            requested=requested,
            used=now.used,
            pending=now.pending,
            idle=now.idle,
            reserved=now.reserved,
            limit=limit,
            device=None if kind is UsmType.HOST else where,
        )


def _shares_memory(one: HeapKey, other: HeapKey) -> bool:
    """Tell whether two heaps draw on the same memory: a device's, for all but host memory."""
    return one[1] == other[1]


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
