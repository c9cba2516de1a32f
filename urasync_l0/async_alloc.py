# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Enqueued allocations and frees over pool events: how the legacy adapter waits and signals.

A pool event must be unsignalled when its signal is appended, and must stay as it is until every
wait for it has passed. So an event is taken from those that were reset, and each wait is noted with
it.
"""

from __future__ import annotations

from urasync_l0.command_list import CommandList
from urasync_l0.event_source import EventSource, NativeEvent


class AsyncAlloc(CommandList):
    """An in-order immediate list that signals events of native pools."""

    def _take(self, source: EventSource) -> NativeEvent:
        if not source.ready:
            source.recycle()  # here, where no lock is held, since it may ask and reset
            if source.is_short:
                return source.take_new()
        return source.take()

    def _note_synchronised(self) -> None:
        self.context.recycle_events(self.device)
