# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The legacy adapter: in-order immediate lists with events of native pools.

It needs nothing newer than Level Zero 1.4 of the loader.
"""

from __future__ import annotations

from urasync_l0.adapter import register
from urasync_l0.async_alloc import AsyncAlloc
from urasync_l0.context import Context
from urasync_l0.device import Device, distinct_handles
from urasync_l0.entry_points import Adapter
from urasync_l0.event import PoolEvents
from urasync_l0.event_source import EventSource
from urasync_l0.native_context import NativeContext
from urasync_l0.native_list import NativeList
from urasync_l0.platform import Platform
from urasync_l0.queue import Queue


class ImmediateQueue(Queue):
    """A queue of the legacy adapter."""


class LegacyAdapter(Adapter):
    """Queues whose events come from native pools and are reset before they serve again."""

    name = "legacy"

    def create_event_source(
        self, platform: Platform, context: NativeContext, device: Device, timestamps: bool
    ) -> EventSource:
        """Pool events that every device of the context can wait for."""
        devices = distinct_handles(context.devices)
        return PoolEvents(context.handle, devices, context.loss, timestamps=timestamps)

    def create_queue(self, context: Context, native: NativeList) -> Queue:
        """A queue over an in-order immediate list."""
        return ImmediateQueue(context, AsyncAlloc(context.native, native))


register(LegacyAdapter())
