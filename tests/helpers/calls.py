# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which Level Zero calls a piece of a test makes."""

from collections import Counter
from typing import Any

from urasync_l0.ze import loader

WAIT = "zeCommandListAppendWaitOnEvents"
SIGNAL = "zeCommandListAppendSignalEvent"


class LevelZeroCalls:
    """Counts the calls between entering and leaving a ``with`` block."""

    def __enter__(self) -> "LevelZeroCalls":
        self._before = Counter(loader.call_counts())
        return self

    def __exit__(self, *exception: Any) -> None:
        self.counts = Counter(loader.call_counts()) - self._before

    def of(self, entry: str) -> int:
        """Calls of one entry."""
        return self.counts[entry]

    @property
    def total(self) -> int:
        """Calls of all entries."""
        return sum(self.counts.values())
