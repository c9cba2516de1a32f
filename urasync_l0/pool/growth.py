# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Growth: the driver memory that a heap gets next, and where it goes.

A growth has three parts, so that no driver call happens under the pool's lock:

* it is *planned* with the lock held: the place is claimed, and the idle pages that will move there
  are taken out of the heap, so that nobody else can choose either;
* it is *carried out* without the lock: the driver calls; a failure undoes those that were made;
* it is *settled* with the lock held, which enters the memory, or *abandoned*, which puts back what
  the plan had taken.

A heap with virtual memory grows where that costs the fewest pages: behind the last region of its
address range or in a gap, next to memory that is safe for the queue that asks. Idle whole pages
from elsewhere in the heap move there first, and only what is missing is new. A heap without grows
by one driver allocation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec, Protocol

from urasync_l0.pool.block import GRANULE, Block
from urasync_l0.pool.driver_memory import PhysicalPages, VirtualMemory
from urasync_l0.pool.heap import Heap
from urasync_l0.pool.heap_source import HeapSource
from urasync_l0.pool.order import QueueOrder
from urasync_l0.pool.segment import Segment
from urasync_l0.result import UrError


@dataclass(frozen=True)
class Page:
    """One mapped page, taken out of the heap by a plan."""

    segment: Segment
    address: int
    size: int
    physical: PhysicalPages

    @property
    def claim(self) -> tuple[int, int]:
        """The addresses of the page."""
        return self.address, self.address + self.size


class Growth(Protocol):
    """One planned growth of a heap."""

    fresh_bytes: int
    """How much more driver memory the heap holds afterwards."""
    fresh_calls: int
    """How many driver allocations that takes."""
    moved_pages: int
    """How many idle pages move."""

    def carry_out(self) -> None:
        """Make the driver calls; undo them and raise when one fails."""

    def settle(self) -> None:
        """Enter the new memory, idle."""

    def abandon(self) -> int:
        """Put back what the plan took; return how many bytes were lost while undoing."""


def plan_growth(
    heap: Heap, source: HeapSource, order: QueueOrder, size: int, allowed: int
) -> Growth:
    """Plan driver memory that gives ``order``'s queue a run of ``size`` bytes.

    What is asked for beyond the need, for the next requests, stays within ``allowed`` bytes.
    """
    if source.virtual is None:
        return SegmentGrowth(heap, source, size, allowed)
    return PageGrowth(heap, source, source.virtual, order, size, allowed)


class SegmentGrowth:
    """One more driver allocation."""

    def __init__(self, heap: Heap, source: HeapSource, size: int, allowed: int) -> None:
        wanted = max(source.rounded(size), source.minimum)
        most = min(wanted, source.memory.maximum_allocation, allowed)
        self.fresh_bytes = max(size, most // GRANULE * GRANULE)
        self.fresh_calls = 1
        self.moved_pages = 0
        self._heap = heap
        self._memory = source.memory
        self._address = 0

    def carry_out(self) -> None:
        """Allocate the segment."""
        self._address = self._memory.allocate(self.fresh_bytes)

    def settle(self) -> None:
        """Enter the segment, idle."""
        segment = Segment(self._heap, self._address, self.fresh_bytes)
        self._heap.segments.append(segment)
        self._heap.set_idle(segment.attach(self._address, self.fresh_bytes))

    def abandon(self) -> int:
        """Nothing was taken, and nothing is lost."""
        return 0


class PageGrowth:
    """Pages mapped into an address range: idle ones of the heap, and as many new ones as needed."""

    def __init__(
        self,
        heap: Heap,
        source: HeapSource,
        virtual: VirtualMemory,
        order: QueueOrder,
        size: int,
        allowed: int,
    ) -> None:
        self._heap = heap
        self._virtual = virtual
        self._step = source.step
        self._range_size = max(source.range_size, source.rounded(max(size, source.minimum)))
        self._mapped: list[PhysicalPages] = []
        self._lost: list[Page] = []
        self._stuck: list[PhysicalPages] = []
        place = _cheapest_place(heap, order, size, self._step)
        if place is None:
            self._segment = None
            self._address = 0
            self._count = source.rounded(size) // self._step
            room = self._range_size // self._step
            keep = (0, 0)
        else:
            self._count, self._segment, self._address, room, keep = place
        self._donors = take_pages(heap, self._step, self._count, keep)
        self.moved_pages = len(self._donors)
        if self.moved_pages < self._count:
            fresh = min(-(-source.minimum // self._step), allowed // self._step)
            self._count = max(self._count, min(self.moved_pages + fresh, room))
        if self._segment is not None:
            self._segment.claims.add(self._claim)
        self.fresh_calls = self._count - self.moved_pages
        self.fresh_bytes = self.fresh_calls * self._step

    _segment: Segment | None

    @property
    def _claim(self) -> tuple[int, int]:
        return self._address, self._address + self._count * self._step

    def carry_out(self) -> None:
        """Reserve a range if there is none, create what is missing, and map it all in place."""
        virtual = self._virtual
        step = self._step
        if self._segment is None:
            self._address = virtual.reserve(self._range_size)
        created: list[PhysicalPages] = []
        unmapped = 0
        try:
            virtual.create(step, self.fresh_calls, created)
            for page in self._donors:
                virtual.unmap(page.address, step)
                unmapped += 1
                self._map_next([page.physical])
            self._map_next(created)
        except BaseException:
            self._undo(unmapped, created)
            raise

    def _map_next(self, pages: list[PhysicalPages]) -> None:
        mapped = self._mapped
        self._virtual.map(self._address + len(mapped) * self._step, self._step, pages, mapped)

    def _undo(self, unmapped: int, created: list[PhysicalPages]) -> None:
        """Undo a part of `carry_out`. A page that cannot be mapped back is destroyed and lost.

        Pages that cannot be unmapped stay where they are, and the place stays claimed.
        """
        virtual = self._virtual
        for position, physical in enumerate(self._mapped):
            if not attempt(virtual.unmap, self._address + position * self._step, self._step):
                self._stuck.append(physical)
        for page in self._donors[:unmapped]:
            if page.physical in self._stuck:
                self._lost.append(page)
            elif not map_back(virtual, page.address, self._step, page.physical):
                attempt(virtual.destroy, page.physical)
                self._lost.append(page)
        for physical in created:
            if physical not in self._stuck:
                attempt(virtual.destroy, physical)
        if self._segment is None and not self._stuck:
            attempt(virtual.release, self._address, self._range_size)

    def settle(self) -> None:
        """Enter the pages, idle."""
        segment = self._segment
        if segment is None:
            segment = Segment(self._heap, self._address, self._range_size)
            self._heap.segments.append(segment)
        else:
            segment.claims.remove(self._claim)
        drop_claims(self._donors)
        for position, physical in enumerate(self._mapped):
            segment.pages[self._address + position * self._step] = physical
        self._heap.set_idle(segment.attach(self._address, self._count * self._step))

    def abandon(self) -> int:
        """Put the pages that were to move back where they were."""
        if self._segment is not None and not self._stuck:
            self._segment.claims.remove(self._claim)
        drop_claims(self._lost)
        return_pages(self._heap, [page for page in self._donors if page not in self._lost])
        return len(self._lost) * self._step


def _cheapest_place(
    heap: Heap, order: QueueOrder, size: int, step: int
) -> tuple[int, Segment, int, int, tuple[int, int]] | None:
    """Find where the fewest pages make a run of ``size`` bytes: their count, the segment, the
    address, how many pages have room there, and the stretch that the run relies on."""
    best: tuple[int, Segment, int, int, tuple[int, int]] | None = None
    for segment in heap.segments:
        for start, end, left, right in segment.gaps():
            before = heap.safe_before(left, order) if left is not None else 0
            after = 0
            count = max(1, -(-(size - before) // step))
            if count * step > end - start:
                after = heap.safe_after(right, order) if right is not None else 0
                count = (end - start) // step
                if before + count * step + after < size:
                    continue
            if best is None or count < best[0]:
                room = (end - start) // step
                best = (count, segment, start, room, (start - before, end + after))
    return best


def take_pages(heap: Heap, step: int, count: int, keep: tuple[int, int] = (0, 0)) -> list[Page]:
    """Take up to ``count`` idle pages out of the heap, highest first, none that touches ``keep``.

    Their addresses stay claimed until `return_pages` or `drop_claims`.
    """
    taken: list[Page] = []
    for block in heap.idle_blocks(step):
        if len(taken) == count:
            break
        if block.address < keep[1] and keep[0] < block.end:
            continue
        segment = segment_of(heap, block)
        base = segment.address
        end = base + (block.end - base) // step * step
        first = base - (base - block.address) // step * step
        start = max(first, end - (count - len(taken)) * step)
        if start >= end:
            continue
        segment.detach(heap.withdraw_range(block, start, end))
        for address in range(end - step, start - step, -step):
            page = Page(segment, address, step, segment.pages.pop(address))
            segment.claims.add(page.claim)
            taken.append(page)
    return taken


def return_pages(heap: Heap, pages: list[Page]) -> None:
    """Put pages that were taken back where they were, idle."""
    drop_claims(pages)
    for page in pages:
        page.segment.pages[page.address] = page.physical
        heap.set_idle(page.segment.attach(page.address, page.size))


def drop_claims(pages: list[Page]) -> None:
    """Make the addresses of taken pages free for others: they are not mapped there any more."""
    for page in pages:
        page.segment.claims.remove(page.claim)


def segment_of(heap: Heap, block: Block) -> Segment:
    """Return the heap's segment that holds a block."""
    for segment in heap.segments:
        if segment.address <= block.address < segment.end:
            return segment
    raise LookupError(f"no segment of this heap holds {block}")


_Arguments = ParamSpec("_Arguments")


def attempt(
    action: Callable[_Arguments, None], *arguments: _Arguments.args, **named: _Arguments.kwargs
) -> bool:
    """Do one step of undoing; tell whether it worked. The error that began it matters more."""
    try:
        action(*arguments, **named)
    except UrError:
        return False
    return True


def map_back(virtual: VirtualMemory, address: int, step: int, physical: PhysicalPages) -> bool:
    """Map a page again where it was; tell whether it worked."""
    return attempt(virtual.map, address, step, [physical], [])
