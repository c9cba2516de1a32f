# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Free runs by size: finds the smallest that fits in a time that hardly depends on their number.

Runs of one size share a bin. Bins are found through size classes, 32 to every power of two, and a
bitmap of the classes that may hold something. A bin that becomes empty stays until a search passes
it, because the size of a run that was just taken is the size most likely to come back.
"""

from __future__ import annotations

from bisect import bisect_left, insort

from urasync_l0.pool.block import Block

_GRANULE_BITS = 8
_MANTISSA_BITS = 5


class SizeIndex:
    """Runs by size. Sizes and addresses are bytes; a run is known by its first block."""

    __slots__ = ("_bins", "_classes", "_occupied", "count")

    def __init__(self) -> None:
        self._bins: dict[int, dict[int, Block]] = {}
        self._classes: dict[int, list[int]] = {}
        self._occupied = 0
        self.count = 0

    def add(self, size: int, address: int, first: Block) -> None:
        """Enter a run of ``size`` bytes at ``address``."""
        bin_ = self._bins.get(size)
        if bin_ is None:
            bin_ = self._bins[size] = {}
            number = _class_of(size)
            sizes = self._classes.get(number)
            if sizes is None:
                self._classes[number] = [size]
            else:
                insort(sizes, size)
            self._occupied |= 1 << number
        bin_[address] = first
        self.count += 1

    def remove(self, size: int, address: int) -> Block:
        """Take out the run of ``size`` bytes at ``address`` and return its first block."""
        self.count -= 1
        return self._bins[size].pop(address)

    def best_fit(self, size: int) -> tuple[int, Block] | None:
        """Return the size and first block of the smallest run of at least ``size`` bytes."""
        bin_ = self._bins.get(size)
        if bin_:
            return size, bin_[next(reversed(bin_))]
        number = _class_of(size)
        later = self._occupied >> number
        while later:
            step = (later & -later).bit_length() - 1
            number += step
            sizes = self._classes[number]
            position = bisect_left(sizes, size) if step == 0 else 0
            while position < len(sizes):
                candidate = sizes[position]
                bin_ = self._bins[candidate]
                if bin_:
                    return candidate, bin_[next(reversed(bin_))]
                del sizes[position], self._bins[candidate]
            if not sizes:
                del self._classes[number]
                self._occupied &= ~(1 << number)
            number += 1
            later >>= step + 1
        return None

    def at_least(self, size: int) -> list[Block]:
        """Return the first blocks of all runs of at least ``size`` bytes, in no order."""
        return [
            first for width, bin_ in self._bins.items() if width >= size for first in bin_.values()
        ]


def _class_of(size: int) -> int:
    units = size >> _GRANULE_BITS
    shift = max(0, units.bit_length() - _MANTISSA_BITS - 1)
    return (shift << _MANTISSA_BITS) + (units >> shift)
