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
    SLOTS,
    EventSource,
    NativeEvent,
    SlotPools,
    observe,
    taken_from,
)
from urasync_l0.pool import QueueOrder
from urasync_l0.ze import event as ze_event
from urasync_l0.ze.handles import ContextHandle, DeviceHandle, EventHandle

_RECYCLED_AT_ONCE = 64
"""How many events of a line one call moves, so that no call pays for a long one."""

_FEW = 16
"""When fewer come back at once, there are too few of them to be reset in batches."""

_CROWDED = 64
"""With so many events that others still wait for, a call asks those how far they are."""

_PARKED_AT_MOST = 1024
"""With so many, a call also waits a moment for the oldest."""


class PoolEvent(NativeEvent):
    """An event of a native pool."""

    __slots__ = ()
    waiters: dict[QueueOrder, int]

    def __init__(self, source: EventSource, handle: EventHandle, returned: list[PoolEvent]) -> None:
        super().__init__(source, handle, returned)
        self.waiters = {}

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
        self._returned: list[PoolEvent] = []
        # The rest is for who holds `_recycling`.
        self._parked: dict[QueueOrder, deque[PoolEvent]] = {}
        self._awaited: deque[PoolEvent] = deque()
        self._recycling = threading.Lock()
        self._is_closed = False

    def _create(self) -> PoolEvent:
        return PoolEvent(self, self._pools.create_event(), self._returned)

    def _destroyed(self, event: EventHandle) -> None:
        self._pools.forget(event)

    @property
    def is_short(self) -> bool:
        """As for every source; one native pool of events is enough for this."""
        return len(self.ready) < _FEW and len(self._all) < SLOTS

    def recycle(self) -> None:
        """Reset a batch of parked events that nothing refers to any more, and make them ready."""
        if not (self._returned or self._parked or self._awaited):
            return
        # One thread at a time is enough; and asking may append a marker, which ends up here again.
        if not self._recycling.acquire(blocking=False):
            return
        try:
            if self._is_closed:
                return
            self._park()
            parked = len(self._awaited) + sum(map(len, self._parked.values()))
            self._sort_parked()
            self._reset_passed()
            if parked >= _PARKED_AT_MOST:
                self._wait_for_oldest()
        finally:
            self._recycling.release()

    def _park(self) -> None:
        """Put what nobody holds any more into the lines, or past them if its signal is complete."""
        parked = self._parked
        for event in taken_from(self._returned):
            mark = event.mark
            order = mark.order
            if mark.number <= order.completed:
                self._awaited.append(event)
                continue
            line = parked.get(order)
            if line is None:
                line = parked[order] = deque()
            line.append(event)

    def _sort_parked(self) -> None:
        """Move parked events whose signal is complete to the awaited ones."""
        for order, line in list(self._parked.items()):
            if not self._is_signalled(line[0]):
                continue
            # One question for many: the queue has passed all signals before one that it has passed.
            batch = min(len(line), _RECYCLED_AT_ONCE)
            while batch > 1 and not self._is_signalled(line[batch - 1]):
                batch //= 2
            for _ in range(batch):
                if not self._is_signalled(line[0]):
                    break
                self._awaited.append(line.popleft())
            if not line:
                del self._parked[order]

    def _is_signalled(self, event: PoolEvent) -> bool:
        mark = event.mark
        if not mark.is_complete():
            if not event.query():
                return False
            mark.order.domain.complete(mark)
        return True

    def _reset_passed(self) -> None:
        """Reset awaited events that every waiter has passed; ask about the first that is not."""
        awaited = self._awaited
        passed: list[PoolEvent] = []
        asked = False
        try:
            for _ in range(min(2 * _RECYCLED_AT_ONCE, len(awaited))):
                event = awaited[0]
                if event.waiters:
                    if not event.is_passed():
                        if not asked and len(awaited) > _CROWDED:
                            asked = True
                            event.ask_waiters(0)
                        awaited.rotate(-1)
                        continue
                    event.waiters.clear()
                passed.append(awaited.popleft())
            if passed:
                self._reset(passed)
        finally:
            awaited.extend(passed)

    def _reset(self, events: list[PoolEvent]) -> None:
        """Make events ready again, and take them off the list; those that may not be reset are
        destroyed."""
        ready = self.ready
        with self.loss:
            while events:
                event = events[-1]
                if event.is_unseen:
                    self._destroy(event)
                else:
                    ze_event.host_reset(event.handle)
                    ready.append(event)
                events.pop()

    def _wait_for_oldest(self) -> None:
        """Wait a moment for what holds up the oldest event."""
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
            self._returned.clear()
            self._parked.clear()
            self._awaited.clear()
            super().close()
            with self.loss:
                self._pools.close()
