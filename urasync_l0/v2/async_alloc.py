# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Enqueued allocations and frees over counter-based events: how the v2 adapter waits and signals.

Any event that nobody asks about can be signalled, and a wait takes the event's number when it is
appended. So there is nothing to reset and nothing to remember.
"""

from __future__ import annotations

from urasync_l0.command_list import CommandList
from urasync_l0.event_source import EventSource, NativeEvent


class AsyncAlloc(CommandList):
    """An in-order immediate list that signals counter-based events."""

    def _take(self, source: EventSource) -> NativeEvent:
        return source.take()
