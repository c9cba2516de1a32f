# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Events of the legacy adapter: events of native pools, which are reset before they serve again.

A pool event is signalled once and stays so. Resetting it while a command still refers to it is
undefined, so a returned event is *parked* until

* its signal is known complete, and
* every queue that waits for it is known to have passed that wait.

Queues complete in order, so parked events stand in one line for each signalling queue and only the
head of a line is asked about. Events whose own signal is complete but that others still wait for
stand apart, and a queue that is slow to pass holds up nobody else's events.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence

from urasync_l0.device_loss import DeviceLoss
from urasync_l0.event_source import (
    PATIENCE_NS,
    EventSource,
    NativeEvent,
    SlotPools,
    observe,
)
from urasync_l0.pool import QueueOrder
from urasync_l0.ze import event as ze_event
from urasync_l0.ze.handles import ContextHandle, DeviceHandle, EventHandle

_RECYCLED_AT_ONCE = 4
"""How many parked events one call looks at, so that no call pays for a long line."""

_CROWDED = 64
"""With so many events parked, a call looks at more, and asks their waiters how far they are."""

_PARKED_AT_MOST = 1024
"""With so many, a call also waits a moment for the oldest."""


class PoolEvent(NativeEvent):
    """An event of a native pool. ``waiters``: for each waiting queue, its last wait's number."""

    __slots__ = ("waiters",)

    def __init__(self, source: EventSource, handle: EventHandle) -> None:
        super().__init__(source, handle)
        self.waiters: dict[QueueOrder, int] = {}

    def is_passed(self) -> bool:
        """Whether every wait for the event is known to have been passed."""
        return all(number <= order.completed for order, number in self.waiters.items())

    def ask_waiters(self, timeout_ns: int) -> None:
        """Find out how far the waiting queues are; wait for each at most so many nanoseconds."""
        for order, number in list(self.waiters.items()):
            if number > order.completed:
                observe(order, number, timeout_ns)


class PoolEvents(EventSource):
    """The pool events of one device. Any thread may call."""

    def __init__(
        self,
        context: ContextHandle,
        devices: Sequence[DeviceHandle],
        loss: DeviceLoss,
        *,
        timestamps: bool,
    ) -> None:
        super().__init__(loss)
        self._pools = SlotPools(context, devices, counter_based=False, timestamps=timestamps)
        self._parked: dict[QueueOrder, deque[PoolEvent]] = {}
        self._awaited: deque[PoolEvent] = deque()
        self._recycling = threading.Lock()
        self._is_closed = False

    def _create(self) -> PoolEvent:
        return PoolEvent(self, self._pools.create_event())

    def _destroyed(self, event: EventHandle) -> None:
        self._pools.forget(event)

    def waited(self, event: NativeEvent, order: QueueOrder, number: int) -> None:
        """Keep the event from being reset before ``order``'s queue has passed the wait."""
        assert isinstance(event, PoolEvent)
        with self.lock:
            event.waiters[order] = max(number, event.waiters.get(order, 0))

    def give_back(self, event: NativeEvent) -> None:
        """Park an event until it can be reset."""
        assert isinstance(event, PoolEvent)
        with self.lock:
            line = self._parked.setdefault(event.mark.order, deque())
            line.append(event)

    def recycle(self) -> None:
        """Reset a few parked events that nothing refers to any more, and make them ready."""
        if not (self._parked or self._awaited):
            return
        # One thread at a time is enough; and asking may append a marker, which ends up here again.
        if not self._recycling.acquire(blocking=False):
            return
        try:
            if self._is_closed:
                return
            parked = len(self._awaited) + sum(map(len, list(self._parked.values())))
            limit = _RECYCLED_AT_ONCE if parked < _CROWDED else _CROWDED
            self._sort_parked(limit)
            self._reset_passed(limit)
            if parked >= _PARKED_AT_MOST:
                self._wait_for_oldest()
        finally:
            self._recycling.release()

    def _sort_parked(self, limit: int) -> None:
        """Move parked events whose signal is complete to the awaited ones."""
        with self.lock:
            lines = list(self._parked.items())
        for order, line in lines:
            for _ in range(limit):
                with self.lock:
                    head = line[0] if line else None
                if head is None or not self._is_signalled(head):
                    break
                with self.lock:
                    # Another thread may have moved it meanwhile.
                    if line and line[0] is head:
                        self._awaited.append(line.popleft())
            with self.lock:
                if not line and self._parked.get(order) is line:
                    del self._parked[order]

    def _is_signalled(self, event: PoolEvent) -> bool:
        mark = event.mark
        if not mark.is_complete():
            if not event.query():
                return False
            mark.order.domain.complete(mark)
        return True

    def _reset_passed(self, limit: int) -> None:
        """Reset awaited events that every waiter has passed; ask about the first that is not."""
        asked = False
        for _ in range(min(limit, len(self._awaited))):
            with self.lock:
                if not self._awaited:
                    return
                event = self._awaited.popleft()
            if not event.is_passed():
                if not asked and len(self._awaited) >= _CROWDED:
                    asked = True
                    event.ask_waiters(0)
                with self.lock:
                    self._awaited.append(event)
                continue
            event.waiters.clear()
            try:
                self._reset(event)
            except BaseException:
                with self.lock:
                    self._awaited.append(event)
                raise

    def _reset(self, event: PoolEvent) -> None:
        """Make an event ready again; one that may not be reset is destroyed."""
        if event.is_unseen:
            self._destroy(event)
            return
        with self.loss:
            ze_event.host_reset(event.handle)
        self._ready.append(event)

    def _wait_for_oldest(self) -> None:
        """Wait a moment for what holds up the oldest event."""
        with self.lock:
            awaited = self._awaited[0] if self._awaited else None
            line = max(self._parked.values(), key=len, default=None)
            head = line[0] if line else None
        if awaited is not None:
            awaited.ask_waiters(PATIENCE_NS)
        if head is not None and not head.mark.is_complete() and head.wait(PATIENCE_NS):
            head.mark.order.domain.complete(head.mark)

    def see_signals(self, order: QueueOrder, timeout_ns: int) -> bool:
        """As for every source; and no reset is under way while the list is destroyed."""
        with self._recycling:
            return super().see_signals(order, timeout_ns)

    def close(self) -> None:
        """Destroy the events and their pools; the context ends and no queue is left."""
        with self._recycling:  # another thread may just be asking one of them
            self._is_closed = True
            self._parked.clear()
            self._awaited.clear()
            super().close()
            with self.loss:
                self._pools.close()
