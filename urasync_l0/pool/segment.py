# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Segments: ranges of driver memory, and the regions of them that are mapped.

A fixed segment is one driver allocation and has one region for its whole life. An expanding segment
is a reserved address range whose pages are mapped where they are needed: it has as many regions as
there are mapped stretches, and a table of its mappings, each of which came with one driver call and
goes as a whole. Each region bounds its blocks with two edges, so that every block has a neighbour
on both sides.

Plain bookkeeping, guarded by the pool's lock; the driver is called elsewhere.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from urasync_l0.pool.block import BlockState

if TYPE_CHECKING:
    from urasync_l0.pool.block import Block
    from urasync_l0.pool.driver_memory import PhysicalPages
    from urasync_l0.pool.heap import Heap


class Region:
    """A mapped stretch of a segment: blocks without a gap, between two edges. Sizes are bytes."""

    __slots__ = ("left", "right")

    def __init__(self, heap: Heap, start: int, end: int) -> None:
        self.left = heap.new_block(start, 0, BlockState.EDGE)
        self.right = heap.new_block(end, 0, BlockState.EDGE)
        self.left.next = self.right
        self.right.previous = self.left

    @property
    def start(self) -> int:
        """Address of the first byte."""
        return self.left.address

    @property
    def end(self) -> int:
        """Address after the last byte."""
        return self.right.address

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks in address order."""
        block = self.left.next
        while block.state is not BlockState.EDGE:
            yield block
            block = block.next


@dataclass(frozen=True, slots=True)
class Mapping:
    """Physical pages that are mapped in one piece, at ``address`` for ``size`` bytes."""

    segment: Segment
    address: int
    size: int
    physical: PhysicalPages

    @property
    def end(self) -> int:
        """Address after the last byte."""
        return self.address + self.size

    @property
    def claim(self) -> tuple[int, int]:
        """The addresses, as the segment's ``claims`` have them."""
        return self.address, self.end


class Segment:
    """A range of driver memory at ``address``, ``size`` bytes long, with its mapped regions.

    ``mappings`` holds those of an expanding segment, by where they end, and ``claims`` the
    stretches, as (start, end), where the driver is just being called. The user's own memory is not
    ``owned``.
    """

    __slots__ = ("address", "claims", "heap", "mappings", "owned", "regions", "size")

    def __init__(self, heap: Heap, address: int, size: int) -> None:
        self.heap = heap
        self.address = address
        self.size = size
        self.regions: list[Region] = []
        self.mappings: dict[int, Mapping] = {}
        self.claims: set[tuple[int, int]] = set()
        self.owned = True

    @property
    def end(self) -> int:
        """Address after the last byte of the range, mapped or not."""
        return self.address + self.size

    def region_of(self, address: int) -> Region | None:
        """Return the region that holds ``address``."""
        position = bisect_right(self.regions, address, key=_region_start) - 1
        if position >= 0 and address < self.regions[position].end:
            return self.regions[position]
        return None

    def gaps(self) -> Iterator[tuple[int, int, Block | None, Block | None]]:
        """Yield each free unmapped stretch: its start and end, and the edges of the regions that
        it touches before and after, None where it touches none."""
        bounds: list[tuple[int, int, Region | None]] = [
            *((region.start, region.end, region) for region in self.regions),
            *((start, end, None) for start, end in self.claims),
            (self.end, self.end, None),
        ]
        bounds.sort(key=_start)
        address = self.address
        left: Block | None = None
        for start, end, region in bounds:
            if start > address:
                yield address, start, left, None if region is None else region.left
            address = end
            left = None if region is None else region.right

    def attach(self, address: int, size: int) -> Block:
        """Note that ``size`` bytes at ``address`` became memory, and return them as one block.

        The block is linked but has no state yet: the heap decides. Regions that now touch are one.
        """
        position = bisect_right(self.regions, address, key=_region_start)
        left = self.regions[position - 1] if position else None
        right = self.regions[position] if position < len(self.regions) else None
        if left is None or left.end != address:
            left = Region(self.heap, address, address)
            self.regions.insert(position, left)
            position += 1
        end = address + size
        left.right.address = end
        block = self.heap.new_block(address, size, BlockState.IN_USE)
        block.insert_before(left.right)
        if right is not None and right.start == end:
            last = left.right.previous
            last.next = right.left.next
            right.left.next.previous = last
            left.right = right.right
            del self.regions[position]
        return block

    def detach(self, block: Block) -> None:
        """Note that a linked block without state is no memory any more: the reverse of `attach`."""
        region = self.region_of(block.address)
        assert region is not None
        position = self.regions.index(region)
        before, after = block.previous, block.next
        if after.state is not BlockState.EDGE:
            tail = Region(self.heap, block.end, region.end)
            tail.right = region.right
            tail.left.next = after
            after.previous = tail.left
            self.regions.insert(position + 1, tail)
            region.right = self.heap.new_block(block.address, 0, BlockState.EDGE)
        region.right.address = block.address
        region.right.previous = before
        before.next = region.right
        if region.left.next is region.right:
            del self.regions[position]


def _start(bound: tuple[int, int, Region | None]) -> int:
    return bound[0]


def _region_start(region: Region) -> int:
    return region.start
