# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What an allocation is filled with, so that its bytes tell whose they are.

A small allocation is filled whole. A large one is filled at *places*: its first and its last bytes,
and one place, somewhere, in each of some equal parts between. Their number grows with the logarithm
of the size, so a trace of gigabytes touches megabytes.

Each place has a pattern of 16 bytes of its own, drawn from the allocation's seed. A length that is
no multiple of 16 ends in the same pattern, cut: the driver fills patterns of 1, 2, 4, 8 and 16
bytes, one fill each.
"""

from __future__ import annotations

import hashlib
import random
from typing import NamedTuple

PATTERN_BYTES = 16
WHOLE_BYTES = 16 * 1024
"""The largest allocation that is filled whole."""

END_BYTES = 1024
"""What is filled at either end of a larger one, and at most 15 bytes more at the last."""

SAMPLE_BYTES = 256
"""What is filled at a place between the ends."""

_PATTERN_SPAN = 1 << (8 * PATTERN_BYTES)


class Fill(NamedTuple):
    """One fill command: `offset` and `nbytes` are bytes, `nbytes` a multiple of the pattern's."""

    offset: int
    nbytes: int
    pattern: bytes


class Place(NamedTuple):
    """A range of an allocation that is filled and read back: `offset` and `nbytes` in bytes."""

    offset: int
    nbytes: int
    pattern: bytes

    def fills(self) -> list[Fill]:
        """The commands that fill the place: one, and one more for each odd power of two left."""
        whole = self.nbytes - self.nbytes % PATTERN_BYTES
        result = [Fill(self.offset, whole, self.pattern)] if whole else []
        offset = whole
        size = PATTERN_BYTES // 2
        while size:
            if self.nbytes - offset >= size:
                start = offset - whole
                piece = self.pattern[start : start + size]
                result.append(Fill(self.offset + offset, size, piece))
                offset += size
            size //= 2
        return result

    def expected(self) -> bytes:
        """What must be read back."""
        count = -(-self.nbytes // PATTERN_BYTES)
        return (self.pattern * count)[: self.nbytes]


def places(nbytes: int, seed: int) -> list[Place]:
    """Where an allocation of `nbytes` bytes is filled, and with what; the same for equal arguments.

    Places do not overlap, stand in rising order, and begin at multiples of 16 bytes.
    """
    key = seed.to_bytes(16, "little", signed=False) + nbytes.to_bytes(8, "little")
    first = int.from_bytes(hashlib.blake2b(key, digest_size=PATTERN_BYTES).digest(), "little")
    step = first | 1  # odd, so that no two of the places get the same pattern

    def pattern(number: int) -> bytes:
        return ((first + number * step) % _PATTERN_SPAN).to_bytes(PATTERN_BYTES, "little")

    if nbytes <= WHOLE_BYTES:
        return [Place(0, nbytes, pattern(0))]
    last = (nbytes - END_BYTES) // PATTERN_BYTES * PATTERN_BYTES
    result = [Place(0, END_BYTES, pattern(0))]
    parts = _sample_count(nbytes)
    draw = random.Random(first)
    room = (last - END_BYTES) // PATTERN_BYTES  # from here in units of a pattern
    for number in range(parts):
        start = room * number // parts
        end = room * (number + 1) // parts - SAMPLE_BYTES // PATTERN_BYTES
        offset = END_BYTES + draw.randint(start, end) * PATTERN_BYTES
        result.append(Place(offset, SAMPLE_BYTES, pattern(number + 1)))
    result.append(Place(last, nbytes - last, pattern(parts + 1)))
    return result


def _sample_count(nbytes: int) -> int:
    """2 places above 16 KiB, and one more each time the size doubles."""
    return nbytes.bit_length() - WHOLE_BYTES.bit_length() + 2
