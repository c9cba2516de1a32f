# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Growth: the driver memory that a heap gets next, and where it goes.

A growth has three parts, so that no driver call happens under the pool's lock:

* it is *planned* with the lock held: the place is claimed, and the idle pages that will move there
  are taken out of the heap, so that nobody else can choose either;
* it is *carried out* without the lock: the driver calls; a failure undoes those that were made;
* it is *settled* with the lock held, which enters the memory, or *abandoned*, which puts back what
  the plan had taken.

A heap with virtual memory grows where that costs the fewest pages: behind the last region of its
address range or in a gap, next to memory that is safe for the queue that asks. Idle mappings from
elsewhere in the heap move there first, and only what is missing is new. Each mapping costs driver
calls, so a large heap is given several pages in one; it moves and goes as a whole, so it is a small
part of the heap. A heap without grows by one driver allocation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ParamSpec, Protocol

from urasync_l0.pool.block import GRANULE, Block
from urasync_l0.pool.driver_memory import PhysicalPages, VirtualMemory
from urasync_l0.pool.heap import Heap
from urasync_l0.pool.heap_source import HeapSource
from urasync_l0.pool.order import QueueOrder
from urasync_l0.pool.segment import Mapping, Segment
from urasync_l0.result import UrError

_MOST_PAGES = 32
"""How many pages make one mapping, at most: a power of two ..."""

_MAPPING_SHARE = 64
"""... and at most one of so many parts of what the heap holds."""


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
        self._range_size = max(source.range_size, source.rounded(max(size, source.minimum)))
        self._mapped: list[PhysicalPages] = []
        self._lost: list[Mapping] = []
        self._stuck: list[PhysicalPages] = []
        step = source.step
        place = _cheapest_place(heap, order, size, step)
        if place is None:
            self._segment = None
            self._address = 0
            count = source.rounded(size) // step
            room = self._range_size // step
            keep = (0, 0)
        else:
            count, self._segment, self._address, room, keep = place
        self._donors = take_mappings(heap, step, count * step, keep)
        moved = sum(mapping.size for mapping in self._donors)
        self.moved_pages = moved // step
        if self.moved_pages < count:
            fresh = min(-(-source.minimum // step), allowed // step)
            count = max(count, min(self.moved_pages + fresh, room))
        self._fresh = _pieces(count - self.moved_pages, step, heap.held_bytes)
        self.fresh_calls = len(self._fresh)
        self.fresh_bytes = count * step - moved
        self._end = self._address + count * step
        if self._segment is not None:
            self._segment.claims.add((self._address, self._end))

    _segment: Segment | None

    @property
    def _places(self) -> Iterator[tuple[int, int]]:
        """Yield the address and size of each mapping that the growth makes."""
        address = self._address
        for size in (*(mapping.size for mapping in self._donors), *self._fresh):
            yield address, size
            address += size

    def carry_out(self) -> None:
        """Reserve a range if there is none, create what is missing, and map it all in place."""
        virtual = self._virtual
        if self._segment is None:
            self._address = virtual.reserve(self._range_size)
        created: list[PhysicalPages] = []
        unmapped = 0
        try:
            virtual.create(self._fresh, created)
            address = self._address
            for mapping in self._donors:
                virtual.unmap(mapping.address, mapping.size)
                unmapped += 1
                virtual.map(address, [mapping.size], [mapping.physical], self._mapped)
                address += mapping.size
            virtual.map(address, self._fresh, created, self._mapped)
        except BaseException:
            self._undo(unmapped, created)
            raise

    def _undo(self, unmapped: int, created: list[PhysicalPages]) -> None:
        """Undo a part of `carry_out`. What cannot be mapped back is destroyed and lost.

        Mappings that cannot be unmapped stay where they are, and the place stays claimed.
        """
        virtual = self._virtual
        for (address, size), physical in zip(self._places, self._mapped, strict=False):
            if not attempt(virtual.unmap, address, size):
                self._stuck.append(physical)
        for mapping in self._donors[:unmapped]:
            if mapping.physical in self._stuck:
                self._lost.append(mapping)
            elif not map_back(virtual, mapping):
                attempt(virtual.destroy, mapping.physical)
                self._lost.append(mapping)
        for physical in created:
            if physical not in self._stuck:
                attempt(virtual.destroy, physical)
        if self._segment is None and not self._stuck:
            attempt(virtual.release, self._address, self._range_size)

    def settle(self) -> None:
        """Enter the mappings, idle."""
        segment = self._segment
        if segment is None:
            segment = Segment(self._heap, self._address, self._range_size)
            self._heap.segments.append(segment)
        else:
            segment.claims.remove((self._address, self._end))
        drop_claims(self._donors)
        end = self._address
        for (address, size), physical in zip(self._places, self._mapped, strict=True):
            end = address + size
            segment.mappings[end] = Mapping(segment, address, size, physical)
        self._heap.set_idle(segment.attach(self._address, end - self._address))

    def abandon(self) -> int:
        """Put the mappings that were to move back where they were."""
        if self._segment is not None and not self._stuck:
            self._segment.claims.remove((self._address, self._end))
        drop_claims(self._lost)
        return_mappings(self._heap, [each for each in self._donors if each not in self._lost])
        return sum(mapping.size for mapping in self._lost)


def _pieces(count: int, step: int, held: int) -> list[int]:
    """Divide ``count`` pages of ``step`` bytes into mappings; return their sizes, largest first.

    They are powers of two, so that a number of pages that is to move or to go later is easily met.
    """
    largest = _power_of_two_in(min(_MOST_PAGES, held // _MAPPING_SHARE // step) or 1)
    sizes = [largest * step] * (count // largest)
    rest = count % largest
    while rest:
        pages = _power_of_two_in(rest)
        sizes.append(pages * step)
        rest -= pages
    return sizes


def _power_of_two_in(number: int) -> int:
    return 1 << (number.bit_length() - 1)


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


def take_mappings(
    heap: Heap, step: int, most: int, keep: tuple[int, int] = (0, 0), *, beyond: bool = False
) -> list[Mapping]:
    """Take idle mappings of up to ``most`` bytes out of the heap, none that touches ``keep``.

    The largest that fit are taken, and of equal ones the highest; with ``beyond`` also the smallest
    that does not fit, while bytes are missing. Their addresses stay claimed until `return_mappings`
    or `drop_claims`.
    """
    chosen: list[tuple[Block, Mapping]] = []
    if most > 0:
        larger: tuple[Block, Mapping] | None = None
        for entry in sorted(_idle_mappings(heap, step, keep), key=_size, reverse=True):
            size = entry[1].size
            if size <= most:
                most -= size
                chosen.append(entry)
            else:
                larger = entry
        if beyond and most > 0 and larger is not None:
            chosen.append(larger)
    # Highest first, what is left of a block is always its front.
    chosen.sort(key=_place, reverse=True)
    for block, mapping in chosen:
        segment = mapping.segment
        segment.detach(heap.withdraw_range(block, mapping.address, mapping.end))
        del segment.mappings[mapping.end]
        segment.claims.add(mapping.claim)
    return [mapping for _, mapping in chosen]


def _idle_mappings(
    heap: Heap, step: int, keep: tuple[int, int] = (0, 0)
) -> Iterator[tuple[Block, Mapping]]:
    """Yield the mappings that are idle throughout, each with the block around it, highest first."""
    for block in heap.idle_blocks(step):
        if block.address < keep[1] and keep[0] < block.end:
            continue
        segment = segment_of(heap, block)
        end = block.end - (block.end - segment.address) % step
        while end - step >= block.address:
            mapping = segment.mappings.get(end)
            if mapping is None:
                end -= step
                continue
            end = mapping.address
            if end >= block.address:
                yield block, mapping


def _size(entry: tuple[Block, Mapping]) -> int:
    return entry[1].size


def _place(entry: tuple[Block, Mapping]) -> int:
    return entry[1].address


def return_mappings(heap: Heap, mappings: list[Mapping]) -> None:
    """Put mappings that were taken back where they were, idle."""
    drop_claims(mappings)
    for mapping in mappings:
        segment = mapping.segment
        segment.mappings[mapping.end] = mapping
        heap.set_idle(segment.attach(mapping.address, mapping.size))


def drop_claims(mappings: list[Mapping]) -> None:
    """Make the addresses of taken mappings free for others: nothing is mapped there any more."""
    for mapping in mappings:
        mapping.segment.claims.remove(mapping.claim)


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


def map_back(virtual: VirtualMemory, mapping: Mapping) -> bool:
    """Map pages again where they were; tell whether it worked."""
    return attempt(virtual.map, mapping.address, [mapping.size], [mapping.physical], [])
