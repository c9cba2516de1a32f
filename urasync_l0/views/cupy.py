# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A pool under the names of ``cupy.cuda.MemoryPool``."""

from __future__ import annotations

from dataclasses import dataclass

from urasync_l0.pool.block import BlockState
from urasync_l0.pool.pool_copy import BLOCK_FIELDS, copy_pool
from urasync_l0.queue import Queue
from urasync_l0.result import InvalidValueError
from urasync_l0.usm_pool import Pool
from urasync_l0.views.fraction import bytes_of


@dataclass(frozen=True)
class CupyMemoryPool:
    """A pool under the names of ``cupy.cuda.MemoryPool``.

    Attributes
    ----------
    pool
        The pool itself.
    """

    pool: Pool

    def used_bytes(self) -> int:
        """Bytes in use."""
        return self.pool.statistics().used

    def free_bytes(self) -> int:
        """Bytes that the pool holds and that are not in use: idle, or freed and not complete."""
        numbers = self.pool.statistics()
        return numbers.reserved - numbers.used

    def total_bytes(self) -> int:
        """Bytes of driver memory that the pool holds."""
        return self.pool.statistics().reserved

    def n_free_blocks(self) -> int:
        """How many pieces the free bytes are in. Looks at every block, under the pool's lock."""
        states = [
            state
            for segment in copy_pool(self.pool.core, blocks=True).segments
            for state in segment.blocks[2::BLOCK_FIELDS]
        ]
        return len(states) - states.count(BlockState.IN_USE)

    def free_all_blocks(self, stream: Queue | None = None) -> None:
        """Give idle memory back to the driver.

        With a queue, finishes that first, so that what it freed is idle. Never waits without.
        """
        self.pool.trim_to(0, sync=stream)

    def get_limit(self) -> int:
        """The limit in bytes; 0 is none."""
        return self.pool.maximum_size

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """Bound the driver memory that the pool holds.

        Parameters
        ----------
        size
            In bytes; 0 for no limit.
        fraction
            Of the memory of the pool's device, or of all devices of its context if it serves all.

        Raises
        ------
        InvalidValueError
            If both or neither are given, or the fraction is not above 0 and at most 1.
        """
        if (size is None) == (fraction is None):
            raise InvalidValueError(
                "Give either a size in bytes or a fraction of the device's memory."
            )
        if fraction is not None:
            size = bytes_of(fraction, self.pool)
        assert size is not None  # one of them is given
        self.pool.maximum_size = size
