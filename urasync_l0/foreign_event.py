# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Events that somebody else made.

Nobody here knows where such an event is signalled, so each has an order of its own: queues and the
host can wait for it, and whoever waits is ordered after it, but it proves nothing about any other
queue. That it has happened is learned by asking the driver.
"""

from __future__ import annotations

from contextlib import suppress

from urasync_l0.calls_under_way import CallsUnderWay
from urasync_l0.device_loss import DeviceLoss
from urasync_l0.event_source import EventSource, NativeEvent, taken_from
from urasync_l0.pool import OrderDomain, QueueOrder
from urasync_l0.result import UrError
from urasync_l0.ze.handles import EventHandle


class ForeignEvent(NativeEvent):
    """An event of somebody else's."""

    __slots__ = ("is_owned",)
    waiters: dict[QueueOrder, int]

    def __init__(
        self, source: ForeignEvents, handle: EventHandle, order: QueueOrder, is_owned: bool
    ) -> None:
        super().__init__(source, handle, source.released if is_owned else None)
        self.asks = source.asks
        self.is_owned = is_owned
        self.waiters = {}
        with order.lock:
            order.advance()
            self.mark = order.mark_here()


class ForeignEvents(EventSource):
    """The foreign events of a context. Any thread may call.

    Those that it owns are destroyed when they are released, have happened, and every queue that
    waits for them is known to have passed the wait; what is left by then goes with the context.

    Attributes
    ----------
    asks
        Those who are just asking the driver about any of them, also about one that is not owned.
    """

    def __init__(self, domain: OrderDomain, loss: DeviceLoss) -> None:
        super().__init__(loss)
        self.asks = CallsUnderWay()
        self._domain = domain
        self.released: list[ForeignEvent] = []

    def adopt(self, handle: EventHandle, *, is_owned: bool) -> ForeignEvent:
        """An event over a native one; over the null handle, one that has happened."""
        self.recycle()
        is_owned = is_owned and bool(handle)
        event = ForeignEvent(self, handle, self._domain.place_of_its_own(), is_owned)
        if not handle:
            self._domain.complete(event.mark)
        elif is_owned:
            self._all.add(event)
        return event

    def _create(self) -> NativeEvent:
        raise AssertionError("foreign events are adopted")

    def end_asks(self, timeout_ns: int) -> bool:
        """As for every source, of all events that the context ever adopted."""
        self.is_closing = True
        return self.asks.have_ended(timeout_ns)

    def recycle(self) -> None:
        """Destroy what can go."""
        kept = []
        for event in taken_from(self.released):
            passed = all(number <= order.completed for order, number in event.waiters.items())
            if not (passed and (event.mark.is_complete() or self._has_happened(event))):
                kept.append(event)
                continue
            with suppress(UrError):  # then it goes with the context
                self._destroy(event)
        self.released += kept

    def _has_happened(self, event: ForeignEvent) -> bool:
        with suppress(UrError):
            return event.query()
        return False
