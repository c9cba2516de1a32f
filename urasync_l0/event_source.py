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
from contextlib import suppress
from typing import Any, TypeVar

from urasync_l0.calls_under_way import CallsUnderWay
from urasync_l0.device_loss import CLOSED, DeviceLoss
from urasync_l0.pool import Mark, QueueOrder, Signal
from urasync_l0.result import DeviceLostError, InvalidContextError, UrError
from urasync_l0.ze import event as ze_event
from urasync_l0.ze.event import KernelTimestamp
from urasync_l0.ze.handles import (
    ContextHandle,
    DeviceHandle,
    EventHandle,
    EventPoolHandle,
    handle_value,
)

SLOTS = 64
"""How many events one native event pool has room for."""

AnyEvent = TypeVar("AnyEvent", bound="NativeEvent")

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
        if not marker.wait(timeout_ns):
            return False
        order.retire(marker)
        return True
    finally:
        marker.release()


def taken_from(returned: list[AnyEvent]) -> list[AnyEvent]:
    """Take all events out of a list that others append to, in their order."""
    taken = []
    while returned:
        try:
            taken.append(returned.pop())
        except IndexError:  # another thread took the last one
            break
    taken.reverse()
    return taken


class NativeEvent(Signal):
    """A native event that stands for one signal at a time; a `MarkerEvent` of the pool core.

    It goes back to ``returned``, a list of its source's, when the last who holds it releases it.
    """

    __slots__ = ("asks", "handle", "queued", "source")

    asks: CallsUnderWay
    """Those who are just asking the driver about the event."""

    queued: int
    """Of an event with time stamps: when the command was enqueued, in ticks of the device."""

    first: NativeEvent | None
    """Of an event with time stamps: that of the command's first step, held, if it has several."""

    def __init__(
        self, source: EventSource, handle: EventHandle, returned: list[Any] | None
    ) -> None:
        super().__init__(handle_value(handle), returned)
        self.source = source
        self.handle = handle
        self.asks = CallsUnderWay()

    def see_signal_of(self, order: QueueOrder, timeout_ns: int) -> bool:
        """Ask for the signal if it is the queue's; `EventSource.see_signals` says why."""
        mark = getattr(self, "mark", None)  # there is none before the first signal
        if mark is not None and mark.order is order:
            if not self.asks.have_ended(timeout_ns):
                return False
            self.is_unseen = True
            with suppress(DeviceLostError), self.source.loss:  # nothing is seen then
                self.is_unseen = not ze_event.query_status(self.handle)
        return True

    def query(self) -> bool:
        """Tell whether the signal has happened; asks the driver once, if it is not known."""
        asks = self.asks
        asks.begin()
        try:
            return self._is_known() or ze_event.query_status(self.handle)
        except DeviceLostError as error:
            self.source.loss.report(error)
            raise
        finally:
            asks.end()

    def refuse_query(self, code: int) -> None:
        """Raise what the driver said to a query that was made in C."""
        try:
            ze_event.check_query(code)
        except DeviceLostError as error:
            self.source.loss.report(error)
            raise

    def wait(self, timeout_ns: int) -> bool:
        """Block until the signal, or for ``timeout_ns`` nanoseconds; tell whether it happened."""
        asks = self.asks
        asks.begin()
        try:
            return self._is_known() or ze_event.host_synchronize(
                self.handle, timeout_ns, self._is_known
            )
        except DeviceLostError as error:
            self.source.loss.report(error)
            raise
        finally:
            asks.end()

    def times(self) -> KernelTimestamp:
        """The time stamps of the event, which has happened.

        Raises
        ------
        InvalidContextError
            If the context closes.
        """
        self.asks.begin()
        try:
            self.source.require_open()
            with self.source.loss:
                return ze_event.query_kernel_timestamp(self.handle)
        finally:
            self.asks.end()

    def _is_known(self) -> bool:
        """Whether it is known that the signal has happened. The driver must not be asked then: the
        signal's list may just be destroyed."""
        if self.mark.is_complete():
            return True
        self.source.require_open()
        self.source.loss.require_none()
        return False


class PassedMarker:
    """The marker of a queue that has finished for good: complete, and no native event at all."""

    def __init__(self, mark: Mark) -> None:
        self.mark = mark

    def query(self) -> bool:
        """It has happened."""
        return True

    def wait(self, timeout_ns: int) -> bool:
        """It has happened."""
        return True

    def hold(self) -> bool:
        """There is nothing that could be given back."""
        return True

    def release(self) -> None:
        """Nothing to give back."""


class EventSource(ABC):
    """Native events for the queues of one device. Any thread may call.

    Attributes
    ----------
    loss
        Learns from the calls whether a device is lost.
    is_closing
        Whether the driver is not asked about the events any more: the context ends.
    ready
        The events that can be signalled.
    """

    def __init__(self, loss: DeviceLoss) -> None:
        self.loss = loss
        self.is_closing = False
        self.lock = threading.Lock()
        self.ready: list[NativeEvent] = []
        self._all: set[NativeEvent] = set()

    def take(self) -> NativeEvent:
        """An event that can be signalled; makes a new one when none is ready."""
        try:
            event = self.ready.pop()
        except IndexError:
            return self.take_new()
        event.take()
        return event

    def take_new(self) -> NativeEvent:
        """A new event, which can be signalled."""
        with self.loss:
            event = self._create()
            self._all.add(event)
        return event

    def put_back(self, event: NativeEvent) -> None:
        """Return an event that was taken but not signalled; one made for that is destroyed."""
        if not event.let_go():
            return  # somebody holds it by mistake for a moment, and gives it back then
        if event.is_new:
            with suppress(UrError):
                self._destroy(event)
            if event not in self._all:
                return
        self.ready.append(event)

    def find(self, handle: EventHandle) -> NativeEvent | None:
        """The source's event over a native one, if there is one."""
        return next((event for event in tuple(self._all) if event.handle == handle), None)

    @abstractmethod
    def _create(self) -> NativeEvent:
        """Make a new native event."""

    def _destroy(self, event: NativeEvent) -> None:
        with self.loss:
            ze_event.destroy(event.handle)
            self._all.discard(event)
            self._destroyed(event.handle)

    def _destroyed(self, event: EventHandle) -> None:  # noqa: B027  events without pools need none
        """Give back what was made for an event alone, which is destroyed."""

    def waited(self, event: NativeEvent, order: QueueOrder, number: int) -> None:
        """Note that command ``number`` of another queue waits for the event's signal, if that
        matters. The caller holds the order's lock."""
        waiters = event.waiters
        if waiters is not None:
            with self.lock:
                waiters[order] = max(number, waiters.get(order, 0))

    def require_open(self) -> None:
        """Raise InvalidContextError if the driver is not asked about the events any more."""
        if self.is_closing:
            raise InvalidContextError(CLOSED)

    def see_signals(self, order: QueueOrder, timeout_ns: int) -> bool:
        """Let the driver see the signals of a queue that is complete, before its list is destroyed.

        Intel's driver keeps in an event the list that signals it, until it has seen the signal; a
        reset, and the first look at the signal, write to that list. An event whose signal it does
        not even see now, as without hardware, is not reset or looked at any more.

        Waits until no other thread is just being told of one of the signals, each at most
        ``timeout_ns`` nanoseconds; tells False when that was not enough. That the queue is
        complete, or its device lost, is known already, so nobody else asks from now on.
        """
        return all(event.see_signal_of(order, timeout_ns) for event in tuple(self._all))

    def end_asks(self, timeout_ns: int) -> bool:
        """Never ask the driver about the events again, and wait until no other thread does.

        Tells False when ``timeout_ns`` nanoseconds were not enough. Who asked about signals of
        queues was waited for when their lists were destroyed.
        """
        self.is_closing = True
        return True

    @property
    def is_short(self) -> bool:
        """Whether so few events come back at once that one more is worth its while."""
        return False

    def recycle(self) -> None:  # noqa: B027  most sources have nothing to do
        """Make events ready again whose time has come. A little work; the caller holds no lock."""

    def close(self) -> None:
        """Destroy every event; the context ends and no queue is left."""
        self.ready.clear()
        for event in tuple(self._all):
            self._destroy(event)


class _SlotPool:
    """One native event pool, and its slots that no event is in."""

    __slots__ = ("free", "handle")

    def __init__(self, handle: EventPoolHandle) -> None:
        self.handle = handle
        self.free = list(reversed(range(SLOTS)))


class SlotPools:
    """Native event pools of many slots, made as they are needed.

    A pool that holds no event any more is destroyed. The lock is held while a pool is made or
    destroyed, so that threads do not make one each.
    """

    def __init__(
        self,
        context: ContextHandle,
        devices: Sequence[DeviceHandle],
        *,
        counter_based: bool,
        timestamps: bool,
    ) -> None:
        self._context = context
        self._devices = tuple(devices)
        self._counter_based = counter_based
        self._timestamps = timestamps
        self._lock = threading.Lock()
        self._pools: list[_SlotPool] = []
        self._places: dict[EventHandle, tuple[_SlotPool, int]] = {}

    def create_event(self) -> EventHandle:
        """A new event in a free slot."""
        with self._lock:
            pool, slot = self._take_slot()
        try:
            event = ze_event.create(pool.handle, slot)
        except BaseException:
            with suppress(UrError):
                self._give_slot_back(pool, slot)
            raise
        self._places[event] = pool, slot
        return event

    def forget(self, event: EventHandle) -> None:
        """Note that an event was destroyed; destroy its pool if it was the last one there.

        A pool that the driver does not destroy is left to `close`.
        """
        self._give_slot_back(*self._places.pop(event))

    def _take_slot(self) -> tuple[_SlotPool, int]:
        # The newest pool has room, if any has: events are rarely destroyed before all of them are.
        for pool in reversed(self._pools):
            if pool.free:
                return pool, pool.free.pop()
        pool = _SlotPool(
            ze_event.create_pool(
                self._context,
                self._devices,
                SLOTS,
                kernel_timestamp=self._timestamps,
                counter_based=self._counter_based,
            )
        )
        self._pools.append(pool)
        return pool, pool.free.pop()

    def _give_slot_back(self, pool: _SlotPool, slot: int) -> None:
        with self._lock:
            pool.free.append(slot)
            if len(pool.free) == SLOTS:
                ze_event.destroy_pool(pool.handle)
                self._pools.remove(pool)

    def close(self) -> None:
        """Destroy pools that could not be destroyed with their last event."""
        while self._pools:
            ze_event.destroy_pool(self._pools[-1].handle)
            self._pools.pop()
