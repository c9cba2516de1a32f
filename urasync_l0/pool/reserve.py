# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The driver memory of a pool: how much it holds, how much it may hold, and how that changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from enum import Enum

from urasync_l0.calls_under_way import CallsUnderWay
from urasync_l0.pool.block import GRANULE, Block, BlockState, Undo
from urasync_l0.pool.driver_memory import VirtualMemory
from urasync_l0.pool.growth import (
    drop_claims,
    map_back,
    plan_growth,
    return_mappings,
    segment_of,
    take_mappings,
)
from urasync_l0.pool.heap import Heap
from urasync_l0.pool.heap_source import HeapSource
from urasync_l0.pool.order import QueueOrder
from urasync_l0.pool.segment import Mapping, Segment
from urasync_l0.pool.statistics import Counts
from urasync_l0.pool.structure import PoolFront
from urasync_l0.result import UrError, UrResult

OUT_OF_MEMORY = frozenset(
    {UrResult.OUT_OF_DEVICE_MEMORY, UrResult.OUT_OF_HOST_MEMORY, UrResult.OUT_OF_RESOURCES}
)
"""The answers of a driver that has no memory left."""

_NO_LIMIT = 2**64

HeapWithSource = tuple[Heap, HeapSource]


class Refusal(Enum):
    """Why there is no new memory."""

    LIMIT = "limit"
    """The pool may not hold more."""
    DRIVER = "driver"
    """The driver has no more."""


class Reserve:
    """What a pool holds of the driver. Sizes are bytes.

    ``held`` counts the memory that is the pool's, ``high`` its peak; ``growing`` is what threads
    are just asking the driver for, so that together they respect the
    pool's ``limit`` (0 is none);
    ``under_way`` are growths and releases between their two sections of the lock. Shares the
    pool's lock: methods take it around their bookkeeping, and call the driver without it.
    """

    def __init__(self, front: PoolFront, counts: Counts) -> None:
        self._front = front
        self._lock = front.lock
        self._counts = counts
        self.held = 0
        self.high = 0
        self.growing = 0
        self.under_way = CallsUnderWay()
        self.resets = 0
        self._aside: list[tuple[HeapSource, Segment]] = []

    def adopt(self, heap: Heap, address: int, size: int) -> None:
        """Give a heap that has nothing yet the user's memory. It is never freed."""
        start = -(-address // GRANULE) * GRANULE
        size = (address + size - start) // GRANULE * GRANULE
        segment = Segment(heap, start, size)
        segment.owned = False
        with self._lock:
            heap.segments.append(segment)
            heap.set_idle(segment.attach(start, size))
            self.held += size
            self.high = max(self.high, self.held)

    def allowed(self) -> int:
        """Return how many more bytes are within the limit. The caller holds the lock."""
        limit = self._front.limit
        return limit - self.held - self.growing if limit else _NO_LIMIT

    def allows(self, size: int) -> bool:
        """Tell whether ``size`` more bytes are within the limit. The caller holds the lock."""
        return size == 0 or size <= self.allowed()

    def grow(
        self,
        heap: Heap,
        source: HeapSource,
        order: QueueOrder,
        size: int,
        take: Callable[[], Block | None],
        undo: Undo | None,
        require_open: Callable[[], None],
    ) -> Block | Refusal:
        """Get driver memory for a run of ``size`` bytes and return what ``take`` makes of it.

        ``take`` runs in the section of the lock that enters the memory. Tells when the limit or the
        driver says no, and raises any other error of the driver. Either way nothing changed.
        """
        if source.buffer is not None:
            return Refusal.LIMIT
        while True:
            with self._lock:
                require_open()
                growth = plan_growth(heap, source, order, size, self.allowed())
                if not self.allows(growth.fresh_bytes):
                    growth.abandon()
                    return Refusal.LIMIT
                self.growing += growth.fresh_bytes
                self.under_way.begin()
            try:
                growth.carry_out()
            except BaseException as error:
                with self._lock:
                    self.growing -= growth.fresh_bytes
                    self.held -= growth.abandon()
                    self.under_way.end()
                if isinstance(error, UrError) and error.code in OUT_OF_MEMORY:
                    return Refusal.DRIVER
                raise
            with self._lock:
                if undo is not None:
                    if not undo.grown:
                        undo.reserved_high = self.high
                    undo.grown += growth.fresh_bytes
                self.growing -= growth.fresh_bytes
                self.held += growth.fresh_bytes
                self.high = max(self.high, self.held)
                self._counts["growths"] += 1
                self._counts["driver_allocs"] += growth.fresh_calls
                self._counts["pages_moved"] += growth.moved_pages
                segments = len(heap.segments)
                growth.settle()
                if undo is not None:
                    undo.segments += len(heap.segments) - segments
                self.under_way.end()
                block = take()
            if block is not None:
                return block
            # Another thread took a part of the run that the growth completed: once more.

    def release(self, heaps: Iterable[HeapWithSource], keep: int, *, at_least: bool) -> int:
        """Give idle memory back while more than ``keep`` bytes are held; return how many went.

        With ``at_least``, never go below ``keep``: a segment or mapping that would is left.
        A failure of the driver leaves what it concerns with the pool and is raised at the end.
        """
        gone = 0
        failure: UrError | None = None
        for heap, source in heaps:
            with self._lock:
                budget = self.held - keep
                mappings: list[Mapping] = []
                segments: list[Segment] = []
                if source.virtual is None:
                    segments = _take_segments(heap, budget, at_least=at_least)
                else:
                    mappings = take_mappings(heap, source.step, budget, beyond=not at_least)
                taken = _total(mappings) + _total(segments)
                self.held -= taken
                self.growing += taken  # what the driver does not take comes back, within the limit
                self.under_way.begin()
            failed, error = _give_back(source, mappings, segments)
            failure = failure or error
            with self._lock:
                kept = _total(failed[0]) + _total(failed[1])
                drop_claims([mapping for mapping in mappings if mapping not in failed[0]])
                return_mappings(heap, failed[0])
                for segment in failed[1]:
                    heap.segments.append(segment)
                    heap.set_idle(segment.attach(segment.address, segment.size))
                self.growing -= taken
                self.held += kept
                self.high = max(self.high, self.held)
                self.under_way.end()
                self._counts["driver_frees"] += len(mappings) - len(failed[0])
                self._counts["driver_frees"] += len(segments) - len(failed[1])
            gone += taken - kept
        if failure is not None:
            raise failure
        return gone

    def shrink(self, heap: Heap, source: HeapSource, undo: Undo) -> None:
        """Give back by how much an undone allocation made the pool grow, and lower the peak again.

        What the driver does not take back stays, idle: the error that began it matters more.
        """
        with self._lock:
            keep = self.held - undo.grown
            peak = self.high
            at_peak = peak == self.held
        with suppress(UrError):
            self.release([(heap, source)], keep, at_least=True)
            if source.virtual is not None and undo.segments:
                self._release_empty_range(heap, source.virtual)
        with self._lock:
            if at_peak and self.high == peak:
                before = undo.reserved_high if undo.resets == self.resets else 0
                self.high = max(self.held, before)

    def _release_empty_range(self, heap: Heap, virtual: VirtualMemory) -> None:
        """Give back the newest range of addresses if nothing is mapped, or being mapped, in it."""
        with self._lock:
            segment = heap.segments[-1]
            if segment.regions or segment.claims:
                return
            heap.segments.pop()
        try:
            virtual.release(segment.address, segment.size)
        except UrError:
            with self._lock:
                heap.segments.append(segment)
            raise

    def set_aside(self, heaps: Iterable[HeapWithSource]) -> None:
        """Take everything out of the heaps, whatever its state. The caller holds the lock."""
        for heap, source in heaps:
            self._aside.extend((source, segment) for segment in heap.clear() if segment.owned)

    def aside(self) -> int:
        """Return how much of ``held`` was set aside. The caller holds the lock."""
        return sum(_held_by(source, segment) for source, segment in self._aside)

    def give_back_aside(self) -> None:
        """Give back what was set aside; no queue uses it any more.

        What the driver does not take back stays aside for the next call; the first failure is
        raised when everything had its turn.
        """
        with self._lock:
            self.under_way.begin()
            going = self._aside
            self._aside = []
            self.held = 0
        failure: UrError | None = None
        for source, segment in going:
            try:
                _give_back_whole(source, segment)
            except UrError as error:
                failure = failure or error
                with self._lock:
                    self._aside.append((source, segment))
                    self.held += _held_by(source, segment)
        self.under_way.end()
        if failure is not None:
            raise failure


def _held_by(source: HeapSource, segment: Segment) -> int:
    return segment.size if source.virtual is None else _total(segment.mappings.values())


def _total(parts: Iterable[Mapping | Segment]) -> int:
    return sum(part.size for part in parts)


def _give_back_whole(source: HeapSource, segment: Segment) -> None:
    """Give a segment back. What is gone when a call fails is not there to be given back again."""
    virtual = source.virtual
    if virtual is None:
        source.memory.free(segment.address)
        return
    for end, mapping in list(segment.mappings.items()):
        virtual.unmap(mapping.address, mapping.size)
        try:
            virtual.destroy(mapping.physical)
        except UrError:
            # Mapped again it is whole, and the next attempt can begin with it.
            if not map_back(virtual, mapping):
                del segment.mappings[end]
            raise
        del segment.mappings[end]
    virtual.release(segment.address, segment.size)


def _take_segments(heap: Heap, budget: int, *, at_least: bool) -> list[Segment]:
    """Take wholly idle segments out of the heap, largest first, ``budget`` bytes or a bit more."""
    taken: list[Segment] = []
    for block in sorted(_whole_blocks(heap), key=_size_and_place, reverse=True):
        if budget <= 0:
            break
        segment = segment_of(heap, block)
        if not segment.owned or (at_least and segment.size > budget):
            continue
        segment.detach(heap.withdraw_range(block, block.address, block.end))
        heap.segments.remove(segment)
        taken.append(segment)
        budget -= segment.size
    return taken


def _whole_blocks(heap: Heap) -> list[Block]:
    """The idle blocks that are all of a driver allocation.

    There may be any number of idle blocks in few allocations, or of allocations in use, so it goes
    by what is fewer.
    """
    if heap.idle.count < len(heap.segments):
        blocks = heap.idle.at_least(1)
    else:
        blocks = [segment.regions[0].left.next for segment in heap.segments]
    return [
        block
        for block in blocks
        if block.state is BlockState.IDLE
        and block.previous.state is block.next.state is BlockState.EDGE
    ]


def _size_and_place(block: Block) -> tuple[int, int]:
    return block.size, block.address


def _give_back(
    source: HeapSource, mappings: list[Mapping], segments: list[Segment]
) -> tuple[tuple[list[Mapping], list[Segment]], UrError | None]:
    """Make the driver calls of a release; return what could not be given back, and why."""
    failed_mappings: list[Mapping] = []
    failed_segments: list[Segment] = []
    failure: UrError | None = None
    for mapping in mappings:
        assert source.virtual is not None
        try:
            source.virtual.unmap(mapping.address, mapping.size)
        except UrError as error:
            failure = failure or error
            failed_mappings.append(mapping)
            continue
        try:
            source.virtual.destroy(mapping.physical)
        except UrError as error:
            failure = failure or error
            if map_back(source.virtual, mapping):
                failed_mappings.append(mapping)
    for segment in segments:
        try:
            source.memory.free(segment.address)
        except UrError as error:
            failure = failure or error
            failed_segments.append(segment)
    return (failed_mappings, failed_segments), failure
