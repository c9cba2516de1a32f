# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Events of the v2 adapter: counter-based ones.

A counter-based event is a number that an in-order list reaches. Appending its signal gives it the
list's next number; appending a wait takes the number of that moment. So an event that nobody asks
about any more can be signalled again at once: waits that were appended keep their number, nothing
is reset, and completion need not be known. It must only not be destroyed before its lists are.
"""

from __future__ import annotations

from urasync_l0.device import Device, distinct_handles
from urasync_l0.event_source import EventSource, NativeEvent, SlotPools
from urasync_l0.native_context import NativeContext
from urasync_l0.platform import Platform
from urasync_l0.result import UnsupportedFeatureError
from urasync_l0.ze import event as ze_event
from urasync_l0.ze import loader
from urasync_l0.ze.handles import EventHandle

POOL_EXTENSION = "ZE_experimental_event_pool_counter_based"
"""The driver's extension that makes the events of a native pool counter-based."""


class CounterBasedEvents(EventSource):
    """The counter-based events of one device. Any thread may call.

    Without a pool where the loader and the driver have ``zeEventCounterBasedCreate``, else from
    native pools with the counter-based descriptor.

    Raises
    ------
    UnsupportedFeatureError
        If there is neither.
    """

    def __init__(
        self, platform: Platform, context: NativeContext, device: Device, *, timestamps: bool
    ) -> None:
        super().__init__(context.loss)
        self._timestamps = timestamps
        self._context = context.handle
        self._device = device.handle
        self._pools: SlotPools | None = None
        if not self._can_create_single():
            if POOL_EXTENSION not in platform.extensions:
                major, minor = platform.api_version
                raise UnsupportedFeatureError(
                    "The v2 adapter needs counter-based events. The loader or the driver has no "
                    "zeEventCounterBasedCreate, and the driver (Level Zero "
                    f"{major}.{minor}) has no extension {POOL_EXTENSION}. Use a newer driver, or "
                    "adapter='legacy'."
                )
            handles = distinct_handles(context.devices)
            self._pools = SlotPools(
                context.handle, handles, counter_based=True, timestamps=timestamps
            )

    def _can_create_single(self) -> bool:
        if not loader.has("zeEventCounterBasedCreate"):
            return False
        try:
            self.put_back(self.take())
        except UnsupportedFeatureError:
            return False
        return True

    def _create(self) -> NativeEvent:
        return NativeEvent(self, self._create_handle(), self.ready)  # it can be signalled again

    def _create_handle(self) -> EventHandle:
        if self._pools is not None:
            return self._pools.create_event()
        return ze_event.create_counter_based(
            self._context, self._device, timestamp=self._timestamps
        )

    def _destroyed(self, event: EventHandle) -> None:
        if self._pools is not None:
            self._pools.forget(event)

    def close(self) -> None:
        """Destroy the events and their pools; the context ends and no queue is left."""
        super().close()
        if self._pools is not None:
            with self.loss:
                self._pools.close()
