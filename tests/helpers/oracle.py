# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Who may touch which bytes when, by sets of frees alone: no clocks, no stamps.

For every queue somebody keeps the set of frees that are ordered before the queue's tail, by the
queue's own order and by the waits appended to it; the oracle keeps for every byte the free that
touched it last. Memory is handed out too early exactly when a queue gets a byte whose last free is
neither in its set nor complete.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet


class Oracle:
    """The last free of every byte. ``complete`` are the frees that are known to be complete."""

    def __init__(self) -> None:
        self.complete: set[int] = set()
        self.frees = 0
        self._touched: list[tuple[int, int, int]] = []

    def is_complete(self, free: int) -> bool:
        """Whether everything before a free has happened."""
        return free in self.complete

    def note(self, start: int, end: int) -> int:
        """Note that the bytes were freed, and return the number of the free.

        By contract a free speaks for all that used the bytes before, on whichever queue.
        """
        self.frees += 1
        remaining: list[tuple[int, int, int]] = []
        for first, last, free in self._touched:
            if first < start:
                remaining.append((first, min(last, start), free))
            if end < last:
                remaining.append((max(first, end), last, free))
        self._touched = [*remaining, (start, end, self.frees)]
        return self.frees

    def check(self, what: str, start: int, end: int, known: AbstractSet[int]) -> None:
        """Fail if a byte may still be in use by what neither ``known`` nor completion covers."""
        for first, last, free in self._touched:
            if first < end and start < last and free not in known:
                assert self.is_complete(free), (
                    f"{what}: {start:#x} to {end:#x} too early: free {free} is not before it"
                )
