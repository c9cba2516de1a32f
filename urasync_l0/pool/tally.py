# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a pool counts at every allocation and free."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from urasync_l0.pool.block import Block

COUNTS = ("allocations", "frees", "reused_idle", "reused_own", "reused_clock")
"""Those of the counts of `PoolStatistics` that are kept here."""


class Tally:
    """The numbers of one pool that move with every call. Sizes are bytes; guarded by its lock.

    ``births`` numbers the allocations: it goes on where ``allocations`` is taken back.
    """

    __slots__ = (*COUNTS, "births", "requested", "used", "used_high")

    def __init__(self) -> None:
        self.used = 0
        self.used_high = 0
        self.requested = 0
        self.births = 0
        self.allocations = 0
        self.frees = 0
        self.reused_idle = 0
        self.reused_own = 0
        self.reused_clock = 0

    def handed_out(self, block: Block, requested: int) -> None:
        """Note that a block goes to a caller who asked for ``requested`` bytes."""
        block.requested = requested
        self.births += 1
        block.born = self.births
        self.allocations += 1
        self.requested += requested
        self.used += block.size
        if self.used > self.used_high:
            self.used_high = self.used

    def taken_back(self, block: Block) -> None:
        """Note that a block was freed."""
        self.used -= block.size
        self.requested -= block.requested
        self.frees += 1

    def counts(self) -> dict[str, int]:
        """Return the counts by their names in `PoolStatistics`."""
        return {name: getattr(self, name) for name in COUNTS}
