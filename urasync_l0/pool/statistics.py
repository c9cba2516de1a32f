# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The numbers of a pool."""

from __future__ import annotations

from dataclasses import dataclass, fields

from urasync_l0.pool.tally import COUNTS


@dataclass(frozen=True)
class PoolStatistics:
    """The state of a pool at one moment, and counts of what it did since it was made.

    Sizes are bytes. ``used`` counts blocks in use and falls at the free call; requests round up to
    256 bytes, ``requested`` is what the callers asked for. ``pending`` is freed but not known
    complete, ``idle`` free and complete, ``reserved`` all driver memory that the pool holds. The
    peaks ``used_high`` and ``reserved_high`` are since the pool was made or they were reset.
    ``0 <= used <= reserved <= reserved_high`` and ``used <= used_high`` always hold.

    An allocation that found memory in the pool is counted once, by the least safe block that it
    took: ``reused_idle`` (complete), ``reused_own`` (freed on the same queue) or ``reused_clock``
    (freed on a queue that this one is ordered after). Of these, ``reused_polled`` had to query
    markers first and ``reused_waited`` had a wait inserted.
    """

    used: int
    used_high: int
    requested: int
    pending: int
    idle: int
    reserved: int
    reserved_high: int

    allocations: int = 0
    frees: int = 0
    reused_own: int = 0
    reused_clock: int = 0
    reused_idle: int = 0
    reused_polled: int = 0
    reused_waited: int = 0
    inserted_waits: int = 0
    growths: int = 0
    driver_allocs: int = 0
    driver_frees: int = 0
    pages_moved: int = 0
    trims: int = 0
    ladder_releases: int = 0
    ladder_waits: int = 0
    out_of_memory: int = 0


Counts = dict[str, int]
"""The rarer counts of `PoolStatistics` by name, while they grow; a `Tally` has the others.
Guarded by the pool's lock."""


def new_counts() -> Counts:
    """Return every count of `PoolStatistics` at zero, but those that a `Tally` keeps."""
    counted = (field.name for field in fields(PoolStatistics) if field.default == 0)
    return {name: 0 for name in counted if name not in COUNTS}
