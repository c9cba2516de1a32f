# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where a pool gets its memory from: what an adapter offers to the core.

Every method may call the driver and is therefore never called with a pool's lock held. Each raises
`urasync_l0.result.UrError`: ``OUT_OF_DEVICE_MEMORY``, ``OUT_OF_HOST_MEMORY`` or
``OUT_OF_RESOURCES`` when the driver has no memory left, anything else for another failure. A method
that raises has changed nothing, but for what it says it did before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

PhysicalPages = object
"""The adapter's handle of physical memory; opaque to the core."""


class DriverMemory(Protocol):
    """Memory of one kind on one device, in whole driver allocations. Sizes are bytes."""

    @property
    def maximum_allocation(self) -> int:
        """The largest size in bytes that the driver can give in one allocation."""

    def allocate(self, size: int) -> int:
        """Return the address of ``size`` new bytes, aligned to at least 64 KiB when that large."""

    def free(self, address: int) -> None:
        """Give an allocation back. No command may touch it any more."""


class VirtualMemory(Protocol):
    """Device memory that is mapped into a reserved address range, in pieces of one or more pages.
    Sizes are bytes."""

    @property
    def page_size(self) -> int:
        """What every piece is a multiple of: a power of two."""

    def reserve(self, size: int) -> int:
        """Reserve ``size`` bytes of addresses, aligned to the page size; no memory yet."""

    def release(self, address: int, size: int) -> None:
        """Give a reserved range back; nothing is mapped in it any more."""

    def create(self, sizes: Sequence[int], created: list[PhysicalPages]) -> None:
        """Create physical memory, a piece of each size.

        Each goes into ``created`` as soon as it is there, so those before a failure are known.
        """

    def destroy(self, pages: PhysicalPages) -> None:
        """Give physical memory back; it is mapped nowhere."""

    def map(
        self,
        address: int,
        sizes: Sequence[int],
        pages: Sequence[PhysicalPages],
        mapped: list[PhysicalPages],
    ) -> None:
        """Map pieces of these sizes, one behind the other, for reading and writing.

        Each goes into ``mapped`` as soon as it is there, so those before a failure are known.
        """

    def unmap(self, address: int, size: int) -> None:
        """Unmap what was mapped as one piece; no command may touch it any more."""
