# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Free runs by size and address: finds one that fits in a time that hardly depends on their number.

Which fit is taken decides how well memory stays together. In one address range, the smallest run
that fits, wherever it lies, leaves slivers everywhere; the lowest keeps the low addresses dense
and the end of the range free for what is large. There the rule is the lowest run among those of
exactly the size and those clearly larger, and only where there is none, the smallest that fits.
Among separate driver allocations an address says nothing, and the smallest run is best. Figures
for either rule on the recorded traces are in ARCHITECTURE.md.

Sizes fall into classes, eight to every power of two. A run of a higher class fits without a look
at its size, so the lowest of each class, kept in a list, is all that a search compares.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from heapq import heapify, heappop, heappush

from urasync_l0.pool.block import Block

_GRANULE_BITS = 8
_MANTISSA_BITS = 3
_PER_OCTAVE = 1 << _MANTISSA_BITS
_OCTAVES = 48
_NOWHERE = 1 << 64
_EMPTY_BINS = 1000  # so many sizes without a run are no reason to tidy up


class _Lowest:
    """Runs of one class, or of one size in it, by address, the lowest at hand.

    Removed addresses leave the heap when they surface.
    """

    __slots__ = ("_heap", "number", "runs")

    def __init__(self, number: int) -> None:
        self.number = number
        self.runs: dict[int, Block] = {}
        self._heap: list[int] = []

    def add(self, address: int, first: Block) -> None:
        self.runs[address] = first
        heap = self._heap
        if len(heap) > 2 * len(self.runs) + 16:
            heap[:] = self.runs
            heapify(heap)
        else:
            heappush(heap, address)

    def lowest(self) -> int:
        """Return the lowest address, `_NOWHERE` if there is none."""
        heap = self._heap
        while heap:
            if heap[0] in self.runs:
                return heap[0]
            heappop(heap)
        return _NOWHERE


class SizeIndex:
    """Runs by size. Sizes and addresses are bytes; a run is known by its first block.

    With ``lowest``, `find` goes by address, else by size.
    """

    __slots__ = ("_bins", "_classes", "_heads", "_lowest", "_octaves", "_sizes", "count")

    def __init__(self, *, lowest: bool) -> None:
        self._lowest = lowest
        self._bins: dict[int, _Lowest] = {}
        self._sizes: dict[int, list[int]] = {}
        self._classes: dict[int, _Lowest] = {}
        self._heads = [_NOWHERE] * (_OCTAVES * _PER_OCTAVE)
        self._octaves = [_NOWHERE] * _OCTAVES
        self.count = 0

    def add(self, size: int, address: int, first: Block) -> None:
        """Enter a run of ``size`` bytes at ``address``."""
        bin_ = self._bins.get(size)
        if bin_ is None:
            if len(self._bins) > _EMPTY_BINS + 4 * self.count:
                self._sweep()
            bin_ = self._bins[size] = _Lowest(_class_of(size))
            insort(self._sizes.setdefault(bin_.number, []), size)
        bin_.add(address, first)
        number = bin_.number
        class_ = self._classes.get(number)
        if class_ is None:
            class_ = self._classes[number] = _Lowest(number)
        class_.add(address, first)
        if address < self._heads[number]:
            self._heads[number] = address
            octave = number >> _MANTISSA_BITS
            if address < self._octaves[octave]:
                self._octaves[octave] = address
        self.count += 1

    def remove(self, size: int, address: int) -> Block:
        """Take out the run of ``size`` bytes at ``address`` and return its first block."""
        bin_ = self._bins[size]
        del bin_.runs[address]
        number = bin_.number
        class_ = self._classes[number]
        first = class_.runs.pop(address)
        heads = self._heads
        if heads[number] == address:
            heads[number] = class_.lowest()
            octave = number >> _MANTISSA_BITS
            if self._octaves[octave] == address:
                start = octave << _MANTISSA_BITS
                self._octaves[octave] = min(heads[start : start + _PER_OCTAVE])
        self.count -= 1
        return first

    def find(self, size: int) -> tuple[int, Block] | None:
        """Return the first block of the run to take ``size`` bytes from, behind the number by which
        it was chosen: of two indexes' finds, the one with the smaller number is to be taken."""
        exact = self._bins.get(size)
        number = _class_of(size) if exact is None else exact.number
        if not self._lowest:
            return self._smallest(number, size) or self._smallest(self._next_class(number), size)
        octave = number >> _MANTISSA_BITS
        heads = self._heads[number + 1 : (octave + 1) << _MANTISSA_BITS]
        heads += self._octaves[octave + 1 :]
        address = min(heads)
        if exact is not None and exact.runs:
            lowest = exact.lowest()
            if lowest < address:
                return lowest, exact.runs[lowest]
        if address != _NOWHERE:
            return address, self._first_at(address, number)
        fit = self._smallest(number, size)
        return fit and (fit[1].address, fit[1])

    def _first_at(self, address: int, number: int) -> Block:
        """Return the first block of the run at ``address``, of a class above ``number``."""
        position = self._heads.index(address, number + 1)
        return self._classes[position].runs[address]

    def _next_class(self, number: int) -> int:
        """Return the lowest class above ``number`` that has runs, or one that never has any."""
        first = number + 1
        octave = first >> _MANTISSA_BITS
        while octave < _OCTAVES:
            end = (octave + 1) << _MANTISSA_BITS
            if self._octaves[octave] != _NOWHERE:
                for other in range(first, end):
                    if self._heads[other] != _NOWHERE:
                        return other
            first = end
            octave += 1
        return -1

    def _smallest(self, number: int, size: int) -> tuple[int, Block] | None:
        """Find the smallest run of at least ``size`` bytes in one class: its size and block."""
        sizes = self._sizes.get(number, [])
        position = bisect_left(sizes, size)
        while position < len(sizes):
            bin_ = self._bins[sizes[position]]
            address = bin_.lowest()
            if address != _NOWHERE:
                return sizes[position], bin_.runs[address]
            # An empty bin is kept until a search passes it: its size is the likeliest to return.
            del self._bins[sizes.pop(position)]
        return None

    @property
    def known_sizes(self) -> int:
        """For how many sizes the index keeps a place, in use or not."""
        return len(self._bins)

    def _sweep(self) -> None:
        """Forget the sizes of which there is no run now."""
        for number, sizes in self._sizes.items():
            self._sizes[number] = [size for size in sizes if self._bins[size].runs]
        self._bins = {size: bin_ for size, bin_ in self._bins.items() if bin_.runs}

    def at_least(self, size: int) -> list[Block]:
        """Return the first blocks of all runs of at least ``size`` bytes, in no order."""
        return [
            first
            for width, bin_ in self._bins.items()
            if width >= size
            for first in bin_.runs.values()
        ]


def _class_of(size: int) -> int:
    """Return the number of the size class that ``size`` bytes are in."""
    units = size >> _GRANULE_BITS
    shift = max(0, units.bit_length() - _MANTISSA_BITS - 1)
    return (shift << _MANTISSA_BITS) + (units >> shift)
