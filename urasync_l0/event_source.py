# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Native events and where they come from: what both adapters share.

A source serves one device of one context. It hands out an event for one signal at a time, and gets
it back when nobody wants to know about that signal any more. What must be true before the event can
serve the next signal is the adapters' affair: pool events and counter-based events differ in it.

Locks: a source's lock guards its lists only. No driver call is made while it is held.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence

from urasync_l0.pool import Mark, QueueOrder
from urasync_l0.ze import event as ze_event
from urasync_l0.ze.handles import ContextHandle, DeviceHandle, EventHandle, EventPoolHandle

SLOTS = 64
"""How many events one native event pool has room for."""

PATIENCE_NS = 1_000_000
"""How long, in nanoseconds, a call waits for a queue that has left too much behind. It slows the
caller down to what the queues do; a queue that is held up for longer makes nobody hang."""


def observe(order: QueueOrder, number: int, timeout_ns: int = 0) -> bool:
    """Find out whether a queue has passed command ``number``, by a marker at or after it.

    Appends a marker unless one is outstanding; waits at most ``timeout_ns`` nanoseconds for it. The
    caller holds no lock.
    """
    marker = order.marker_covering(number)
    try:
        if not marker.event.wait(timeout_ns):
            return False
        order.retire(marker)
        return True
    finally:
        order.drop_marker(marker)


class NativeEvent:
    """A native event that stands for one signal at a time; a `MarkerEvent` of the pool core."""

    __slots__ = ("handle", "mark", "source")

    mark: Mark
    """Where the signal stands; set when it is appended."""

    def __init__(self, source: EventSource, handle: EventHandle) -> None:
        self.source = source
        self.handle = handle

    def query(self) -> bool:
        """Ask the driver once whether the signal has happened."""
        return ze_event.query_status(self.handle)

    def wait(self, timeout_ns: int) -> bool:
        """Block until the signal, or for ``timeout_ns`` nanoseconds; tell whether it happened."""
        return ze_event.host_synchronize(self.handle, timeout_ns)

    def release(self) -> None:
        """Give the event back to its source."""
        self.source.give_back(self)


class EventSource(ABC):
    """Native events for the queues of one device. Any thread may call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ready: list[NativeEvent] = []
        self._all: list[NativeEvent] = []

    def take(self) -> NativeEvent:
        """An event that can be signalled; makes a new one when none is ready."""
        try:
            return self._ready.pop()
        except IndexError:
            event = self._create()
            self._all.append(event)
            return event

    def put_back(self, event: NativeEvent) -> None:
        """Return an event that was taken and never signalled."""
        self._ready.append(event)

    @abstractmethod
    def _create(self) -> NativeEvent:
        """Make a new native event."""

    @abstractmethod
    def give_back(self, event: NativeEvent) -> None:
        """Take an event back whose signal nobody asks about any more. Calls no driver."""

    @abstractmethod
    def waited(self, event: NativeEvent, order: QueueOrder, number: int) -> None:
        """Note that command ``number`` of another queue waits for the event's signal."""

    def recycle(self) -> None:  # noqa: B027  most sources have nothing to do
        """Make events ready again whose time has come. A little work; the caller holds no lock."""

    def close(self) -> None:
        """Destroy every event; the context ends and no queue is left."""
        self._ready.clear()
        while self._all:
            ze_event.destroy(self._all[-1].handle)
            self._all.pop()


class SlotPools:
    """Native event pools of many slots, made as they are needed."""

    def __init__(
        self, context: ContextHandle, devices: Sequence[DeviceHandle], *, counter_based: bool
    ) -> None:
        self._context = context
        self._devices = tuple(devices)
        self._counter_based = counter_based
        self._lock = threading.Lock()
        self._pools: list[EventPoolHandle] = []
        self._free: list[tuple[EventPoolHandle, int]] = []

    def create_event(self) -> EventHandle:
        """A new event in the next free slot."""
        pool, slot = self._take_slot()
        try:
            return ze_event.create(pool, slot)
        except BaseException:
            self._free.append((pool, slot))
            raise

    def _take_slot(self) -> tuple[EventPoolHandle, int]:
        while True:
            try:
                return self._free.pop()
            except IndexError:
                # Held during the call, so that threads do not make a pool each.
                with self._lock:
                    if not self._free:
                        self._add_pool()

    def _add_pool(self) -> None:
        pool = ze_event.create_pool(
            self._context, self._devices, SLOTS, counter_based=self._counter_based
        )
        self._pools.append(pool)
        self._free.extend((pool, slot) for slot in reversed(range(SLOTS)))

    def close(self) -> None:
        """Destroy the pools; their events are destroyed already."""
        self._free.clear()
        while self._pools:
            ze_event.destroy_pool(self._pools[-1])
            self._pools.pop()
