# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a context owns of Level Zero: everything that has to be given back in the right order.

Python objects that users hold refer to it, never the other way round, so a dropped context, queue
or allocation can be collected. Collection calls no driver: it only puts a `Leftover` into
``attention``, which the next call of the context works off.

``attention`` is also how the hot path learns of anything unusual with one look: it stays non-empty
once the context is closed, forked away or lost.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from urasync_l0.device import Device
from urasync_l0.device_loss import CLOSED, DeviceLoss
from urasync_l0.event_source import observe
from urasync_l0.event_watcher import EventWatcher
from urasync_l0.foreign_event import ForeignEvents
from urasync_l0.native_share import NativeShares
from urasync_l0.pool import HeapKey, HeapSource, OrderDomain, PoolRegistry, QueueOrder
from urasync_l0.result import DeviceLostError, InvalidContextError, UninitializedError, UrError
from urasync_l0.ze import context as ze_context
from urasync_l0.ze.handles import ContextHandle, EventHandle, handle_value
from urasync_l0.ze.result import FORKED

if TYPE_CHECKING:
    from urasync_l0.command_list import CommandList
    from urasync_l0.event_source import EventSource, NativeEvent


class Finalizer(weakref.ref[Any]):
    """What is left to do when a user's object has been dropped.

    The weak reference's callback is ``deque.append`` itself, so collection runs no Python code.
    """

    __slots__ = ()

    def run(self, context: NativeContext) -> None:
        """Do it. Called from an ordinary call, never from collection."""
        raise NotImplementedError

    def close(self, context: NativeContext) -> None:
        """The context ends while the object lives; by default the context's end does it all."""


class Leftover(Protocol):
    """What is left to do when a user's object has been dropped."""

    def run(self, context: NativeContext) -> None:
        """Do it. Called from an ordinary call, never from collection."""


class Postponed(Protocol):
    """What waits for queues, without making anybody wait."""

    def attempt(self, context: NativeContext) -> bool:
        """Do it if the queues are there; tell whether it is done. Waits for nothing."""


class _Stop(Finalizer):
    """Keeps ``attention`` non-empty."""

    __slots__ = ()


class NativeContext:
    """The native context, its queues' lists, events and pools. Any thread may call.

    Attributes
    ----------
    loss
        Learns from every call whether a device is lost.
    names
        Those of the adapter and the driver.
    is_handle_owned
        Whether the native context is destroyed in the end.
    registry
        All pools, and every block in use by its address.
    attention
        What dropped objects left to do; not empty where anything else is unusual.
    finalizers
        Those of all objects but allocations; a weak reference calls nobody unless it lives itself.
    lists
        The open command lists by the id of their order.
    abandoned
        Those whose queue was dropped while they were busy.
    postponed
        Finalizers that found the queues not there yet.
    host_order
        The order of what the host allocates and frees without a queue.
    """

    def __init__(
        self,
        handle: ContextHandle,
        devices: Sequence[Device],
        sources: dict[HeapKey, HeapSource],
        make_events: Callable[[NativeContext, Device, bool], EventSource],
        loss: DeviceLoss,
    ) -> None:
        self.loss = loss
        self.handle = handle
        self.devices = tuple(devices)
        self.sources = sources
        self.names = "", ""
        self.is_handle_owned = True
        self.domain = OrderDomain()
        self.registry = PoolRegistry(self.domain)
        self.registry.reclaimers.append(self.run_finalizers)
        self.registry.reclaimers.append(self.run_postponed)
        self.host_order = self.domain.without_queue()
        self._make_events = make_events
        self._events: dict[tuple[Device, bool], EventSource] = {}
        self._events_lock = threading.Lock()
        self.foreign_events = ForeignEvents(self.domain, loss)
        self.watcher = EventWatcher()
        self.lists: dict[int, CommandList] = {}
        self.abandoned: list[CommandList] = []
        self.postponed: deque[Postponed] = deque()
        self.attention: deque[Leftover] = deque()
        self.finalizers: dict[int, Finalizer] = {}
        self.is_closed = False
        self._is_released = False
        self._closing = threading.RLock()
        self._process = os.getpid()
        loss.tell = self._stop

    @property
    def lost(self) -> DeviceLostError | None:
        """The first report that a device is lost; every later call fails at once."""
        return self.loss.error

    # -- events ------------------------------------------------------------------------------------

    def event_source(self, device: Device, *, timestamps: bool = False) -> EventSource:
        """Where the events of a device's queues come from, those with time stamps apart.

        Raises
        ------
        UnsupportedFeatureError
            If the loader or the driver lacks what the adapter's events need.
        """
        key = device, timestamps
        source = self._events.get(key)
        if source is None:
            with self._events_lock:
                source = self._events.get(key)
                if source is None:
                    source = self._events[key] = self._make_events(self, device, timestamps)
        return source

    def prepare_events(self) -> None:
        """Learn whether each device's queues can have events; if not, make none."""
        try:
            for device in self.devices:
                self.event_source(device)
        except BaseException:
            with suppress(UrError):  # what failed first matters more
                self.close_events()
            raise

    def recycle_events(self, device: Device) -> None:
        """Make events of a device's queues ready again whose time has come."""
        for source in self._sources_of(device):
            source.recycle()

    def see_signals(self, device: Device, order: QueueOrder, timeout_ns: int) -> bool:
        """Let the driver see the signals of a device's queue before its list is destroyed.

        Tells False when another thread did not return from the driver in ``timeout_ns``.
        """
        return all(source.see_signals(order, timeout_ns) for source in self._sources_of(device))

    def _sources_of(self, device: Device) -> Iterator[EventSource]:
        """The sources of a device's events, of those that were ever asked for any."""
        for timestamps in (False, True):
            source = self._events.get((device, timestamps))
            if source is not None:
                yield source

    def find_event(self, event: EventHandle) -> NativeEvent | None:
        """What stands for a native event here, if the context is to destroy it."""
        for source in self._event_sources():
            found = source.find(event)
            if found is not None:
                return found
        return None

    def close_events(self) -> None:
        """Destroy every event; the context ends and no queue is left."""
        for source in self._event_sources():
            source.close()

    # -- what is not the usual case ----------------------------------------------------------------

    def attend(self) -> None:
        """Work off what collection left, or say why the context cannot be used any more.

        Raises
        ------
        InvalidContextError
            If the context is closed.
        DeviceLostError
            If a device was lost; nothing but closing the context works then.
        UninitializedError
            In a process forked from the one that made the context.
        """
        if self.is_closed:
            raise InvalidContextError(CLOSED)
        if self._process != os.getpid():
            raise UninitializedError(FORKED)
        self.loss.require_none()
        self.run_finalizers()

    def run_finalizers(self) -> bool:
        """Do what dropped objects left to do; tell whether there was anything."""
        done = False
        attention = self.attention
        while attention:
            try:
                finalizer = attention.popleft()
            except IndexError:  # another thread took the last one
                break
            if isinstance(finalizer, _Stop):
                attention.append(finalizer)
                break
            try:
                finalizer.run(self)
            except BaseException:
                attention.append(finalizer)  # there is a next time
                raise
            done = True
        if done and self.postponed:
            self.run_postponed()
        return done

    def watch(self, finalizer: Finalizer) -> None:
        """Keep a finalizer until it has run or is not needed any more."""
        self.finalizers[id(finalizer)] = finalizer

    def unwatch(self, finalizer: Finalizer) -> bool:
        """Forget a finalizer; tell whether it was still there."""
        return self.finalizers.pop(id(finalizer), None) is not None

    def run_postponed(self) -> bool:
        """Let the postponed finalizers look again; tell whether any is done. Waits for nothing.

        The oldest comes first, and the others wait for more than it does.
        """
        done = False
        while self.postponed:
            try:
                finalizer = self.postponed.popleft()
            except IndexError:  # another thread took the last one
                break
            passed = False
            try:
                passed = finalizer.attempt(self)
            finally:
                if not passed:
                    self.postponed.appendleft(finalizer)
            if not passed:
                break
            done = True
        return done

    def synchronise_all(self) -> None:
        """Wait until everything that the queues were given is complete."""
        for command_list in list(self.lists.values()):
            command_list.synchronise(None)

    def places(self) -> dict[QueueOrder, int]:
        """How far each open queue has been filled."""
        return {each.order: each.order.sequence for each in list(self.lists.values())}

    def has_passed(self, places: Mapping[QueueOrder, int], timeout_ns: int) -> bool:
        """Whether the queues have passed those places; each is waited for so many nanoseconds.

        May place a marker on each. The caller holds no lock.
        """
        return all(
            number <= order.completed or observe(order, number, timeout_ns)
            for order, number in places.items()
        )

    def have_passed(self, places: Mapping[QueueOrder, int]) -> bool:
        """As `has_passed`, without a wait, and never an error: there is a next time."""
        try:
            return self.has_passed(places, 0)
        except UrError:  # of a marker
            return False

    def close_abandoned(self) -> None:
        """Close the lists of dropped queues that are complete by now; waits for none."""
        if self.postponed:
            self.run_postponed()
        for command_list in self.abandoned[:]:
            if command_list.close(timeout_ns=0):
                with suppress(ValueError):  # another thread did the same
                    self.abandoned.remove(command_list)

    def disown(self) -> None:
        """In a forked child: the driver is the parent's, and no call may reach it."""
        self._stop()

    def _stop(self) -> None:
        self.attention.append(_Stop(_anchor))

    # -- the end -----------------------------------------------------------------------------------

    def close(self, timeout_ns: int) -> bool:
        """Complete the queues and give everything back; idempotent.

        Calls of other threads that are under way come to their end first; later ones are refused.
        Tells False, with nothing but finished queues given back, when ``timeout_ns`` nanoseconds
        were not enough for a queue, or for such a call; the context can then be closed again.
        """
        if self._process != os.getpid():
            self.is_closed = self._is_released = True
            return True
        if not self._closing.acquire(timeout=min(timeout_ns / 1e9, threading.TIMEOUT_MAX)):
            return False  # another thread is at it
        try:
            return self._is_released or self._close(timeout_ns)
        finally:
            self._closing.release()

    def _close_lists(self, timeout_ns: int) -> bool:
        return all(command_list.close(timeout_ns) for command_list in list(self.lists.values()))

    def _end_calls(self, timeout_ns: int) -> bool:
        """Wait until no other thread is inside the driver, or gets or gives back memory.

        A queue that another thread was just making is closed as well.
        """
        return (
            self.registry.stop(timeout_ns)
            and self.loss.end_calls(timeout_ns)
            and self._close_lists(timeout_ns)
            and all(source.end_asks(timeout_ns) for source in self._event_sources())
        )

    def _event_sources(self) -> list[EventSource]:
        return [*list(self._events.values()), self.foreign_events]

    def _close(self, timeout_ns: int) -> bool:
        self.run_finalizers()
        if not self._close_lists(timeout_ns):
            return False
        self.is_closed = True
        self._stop()
        if not self._end_calls(timeout_ns):
            return False
        self.postponed.clear()
        for finalizer in reversed(list(self.finalizers.values())):
            finalizer.close(self)
        self.finalizers.clear()
        steps: list[Callable[[], object]] = [self.registry.close]
        steps.append(self.close_events)
        if self.is_handle_owned:
            steps.append(self._give_handle_back)
        for step in steps:
            if self.lost is None:
                step()
            else:
                # The driver may refuse anything about a lost device; what it takes is given back.
                with suppress(UrError):
                    step()
        self._is_released = True
        self.loss.refuse_calls()
        return True

    def _give_handle_back(self) -> None:
        with self.loss:
            native_shares.give_back(
                handle_value(self.handle), partial(ze_context.destroy, self.handle)
            )

    @property
    def is_released(self) -> bool:
        """Whether everything was given back."""
        return self._is_released


native_shares: NativeShares[None] = NativeShares()
"""The native contexts that contexts of ours own."""


class _Anchor:
    """Something that lives as long as the module, for weak references that must not die."""


_anchor = _Anchor()
