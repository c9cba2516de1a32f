# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What pools do per second, from one snapshot to the next."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from urasync_l0.snapshot import PoolSnapshot, Snapshot

SAMPLES = 600
"""How many of the latest values a curve can show."""


@dataclass(frozen=True, slots=True)
class PoolRates:
    """A pool with what it did since the snapshot before, per second; None at the first look.

    ``reuse`` is the share of the allocations that found memory in the pool.
    """

    pool: PoolSnapshot
    allocations: float | None = None
    frees: float | None = None
    growths: float | None = None
    pages_moved: float | None = None
    inserted_waits: float | None = None
    driver_calls: float | None = None
    reuse: float | None = None


@dataclass(slots=True)
class PoolCurves:
    """The latest values of a pool, oldest first; bytes."""

    used: deque[int] = field(default_factory=lambda: deque(maxlen=SAMPLES))
    reserved: deque[int] = field(default_factory=lambda: deque(maxlen=SAMPLES))


class RateMeter:
    """Compares each snapshot of a process with the one before."""

    def __init__(self) -> None:
        self._before: dict[int, PoolSnapshot] = {}
        self._seconds = 0.0
        self._pid = 0
        self.curves: dict[int, PoolCurves] = {}

    def add(self, snapshot: Snapshot) -> list[PoolRates]:
        """Take the next snapshot; returns every pool with its rates."""
        if snapshot.pid != self._pid:
            self._before, self.curves, self._pid = {}, {}, snapshot.pid
        span = snapshot.seconds - self._seconds
        rates: list[PoolRates] = []
        for pool in snapshot.pools:
            before = self._before.get(pool.id)
            rates.append(_rates(before, pool, span) if before is not None else PoolRates(pool))
            curves = self.curves.setdefault(pool.id, PoolCurves())
            curves.used.append(pool.statistics.used)
            curves.reserved.append(pool.statistics.reserved)
        self._before = {pool.id: pool for pool in snapshot.pools}
        self._seconds = snapshot.seconds
        self.curves = {number: self.curves[number] for number in self._before}
        return rates


def _rates(before: PoolSnapshot, pool: PoolSnapshot, span: float) -> PoolRates:
    old, new = before.statistics, pool.statistics
    if span <= 0:
        return PoolRates(pool)
    allocations = new.allocations - old.allocations
    reused = (
        new.reused_idle + new.reused_own + new.reused_clock
        - old.reused_idle - old.reused_own - old.reused_clock
    )  # fmt: skip
    return PoolRates(
        pool,
        allocations=allocations / span,
        frees=(new.frees - old.frees) / span,
        growths=(new.growths - old.growths) / span,
        pages_moved=(new.pages_moved - old.pages_moved) / span,
        inserted_waits=(new.inserted_waits - old.inserted_waits) / span,
        driver_calls=(
            (new.driver_allocs + new.driver_frees - old.driver_allocs - old.driver_frees) / span
        ),
        reuse=reused / allocations if allocations else None,
    )
