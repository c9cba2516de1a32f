# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which ways of reuse a pool may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ReusePolicy:
    """Which ways of reuse a pool may take beyond a queue's own order.

    by_clock
        Memory of another queue that this queue is already ordered after.
    by_polling
        Memory that turns out to be complete when markers are placed and queried.
    by_waiting
        Memory of another queue, with a wait for it appended, when there is no new memory.
    wait_when_exhausted
        Let the call block until pending memory is complete, as the last step before an error.
    """

    by_clock: bool = True
    by_polling: bool = True
    by_waiting: bool = True
    wait_when_exhausted: bool = True
