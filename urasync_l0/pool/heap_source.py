# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the memory of a heap comes from, and in which steps."""

from __future__ import annotations

from dataclasses import dataclass

from urasync_l0.pool.block import GRANULE
from urasync_l0.pool.driver_memory import DriverMemory, VirtualMemory
from urasync_l0.result import OutOfMemoryError

STEP = 2 << 20
"""Driver memory comes in multiples of this many bytes, or of the driver's page if larger."""


class UserMemory:
    """No driver memory at all: the heap has a buffer of the user and never grows."""

    def __init__(self, size: int) -> None:
        self.maximum_allocation = size

    def allocate(self, size: int) -> int:
        """Raise `OutOfMemoryError`: there is just the buffer."""
        raise OutOfMemoryError(f"a pool in a buffer of {self.maximum_allocation} bytes cannot grow")

    def free(self, address: int) -> None:
        """Do nothing: the memory is the user's."""


@dataclass(frozen=True)
class HeapSource:
    """Where a heap's memory comes from. Sizes are bytes.

    With ``virtual`` the heap grows page by page in address ranges of ``range_size`` bytes; without,
    by whole allocations from ``memory``; ``minimum`` is the least it asks the driver for at a time.
    With ``buffer``, the address and size of memory that belongs to the user, it has just that.
    With ``whole``, each request gets a driver allocation of its own, of just its size.
    """

    memory: DriverMemory
    virtual: VirtualMemory | None = None
    range_size: int = 0
    minimum: int = 0
    buffer: tuple[int, int] | None = None
    whole: bool = False

    @property
    def step(self) -> int:
        """The step in which the heap grows."""
        if self.whole:
            return GRANULE
        return STEP if self.virtual is None else max(STEP, self.virtual.page_size)

    @property
    def has_one_range(self) -> bool:
        """Whether the memory lies in one range of addresses."""
        return self.virtual is not None or self.buffer is not None

    def as_whole(self) -> HeapSource:
        """Return the source of allocations that share no driver memory with others."""
        return HeapSource(self.memory, whole=True)

    def rounded(self, size: int) -> int:
        """Return ``size`` rounded up to whole steps."""
        return -(-size // self.step) * self.step
