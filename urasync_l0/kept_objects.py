# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What commands use on the host, such as the buffer of a copy: kept until they are complete."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from urasync_l0.event_source import PATIENCE_NS, observe
from urasync_l0.pool import QueueOrder

_POLLED = 64
"""With so many kept objects, a marker is placed to learn which of them may go."""

_AT_MOST = 1024
"""With so many, the call waits a moment for the oldest."""


class KeptObjects:
    """The kept objects of one queue. Any thread may call."""

    def __init__(self, order: QueueOrder) -> None:
        self._order = order
        self._kept: deque[tuple[int, object]] = deque()

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, things: Iterable[object], number: int) -> None:
        """Keep things until command ``number`` is complete. The caller holds the order's lock."""
        self._kept.extend((number, thing) for thing in things)

    def let_go(self) -> None:
        """Drop what is used no more, and see that what is left is not too much.

        The caller holds no lock.
        """
        kept = self._kept
        if not kept:
            return
        self.drop()
        if len(kept) >= _POLLED and observe(
            self._order, kept[0][0], PATIENCE_NS if len(kept) >= _AT_MOST else 0
        ):
            self.drop()

    def drop(self) -> None:
        """Drop what belongs to commands that are known complete. The caller holds no lock."""
        kept = self._kept
        if not kept:
            return
        gone = []  # dropped without the lock: their owners may have finalizers
        with self._order.lock:
            while kept and kept[0][0] <= self._order.completed:
                gone.append(kept.popleft())
        del gone

    def clear(self) -> None:
        """Drop everything; the queue has finished for good."""
        self._kept.clear()
