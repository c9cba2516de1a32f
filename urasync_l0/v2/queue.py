# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The v2 adapter and its queues."""

from __future__ import annotations

from urasync_l0.adapter import register
from urasync_l0.context import Context
from urasync_l0.device import Device
from urasync_l0.entry_points import Adapter
from urasync_l0.event_source import EventSource
from urasync_l0.native_context import NativeContext
from urasync_l0.native_list import NativeList
from urasync_l0.platform import Platform
from urasync_l0.queue import Queue
from urasync_l0.v2.async_alloc import AsyncAlloc
from urasync_l0.v2.event_pool import CounterBasedEvents


class InOrderQueue(Queue):
    """A queue of the v2 adapter."""


class V2Adapter(Adapter):
    """Queues whose events are counter-based and serve again at once."""

    name = "v2"

    def create_event_source(
        self, platform: Platform, context: NativeContext, device: Device, timestamps: bool
    ) -> EventSource:
        """Counter-based events."""
        return CounterBasedEvents(platform, context, device, timestamps=timestamps)

    def create_queue(self, context: Context, native: NativeList) -> Queue:
        """A queue over an in-order immediate list."""
        return InOrderQueue(context, AsyncAlloc(context.native, native))


register(V2Adapter())
