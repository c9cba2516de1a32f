# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The in-order immediate list behind one queue, and its place in the order of queues.

Everything that is appended to a native list goes through here, under the queue's lock and counted
in the queue's order. It is also what the pool core sees of a queue: markers and waits. Adapters add
what their events need.

A command list does not know the Python queue that it serves, so a dropped queue can be collected;
the list then lives on until its commands are complete.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

from urasync_l0.calls_under_way import CallsUnderWay
from urasync_l0.enums import QueueFlag
from urasync_l0.event_source import (
    PATIENCE_NS,
    EventSource,
    NativeEvent,
    PassedMarker,
    observe,
)
from urasync_l0.kept_objects import KeptObjects
from urasync_l0.native_context import NativeContext
from urasync_l0.native_list import NativeList
from urasync_l0.pool import ListFront, Mark, MarkerEvent, at_once
from urasync_l0.recorded_event import Event
from urasync_l0.result import (
    DeviceLostError,
    InvalidEventError,
    InvalidEventWaitListError,
    InvalidQueueError,
    UrError,
)
from urasync_l0.timeout import checked_timeout
from urasync_l0.ze import command_list as ze_list
from urasync_l0.ze import event as ze_event
from urasync_l0.ze import loader
from urasync_l0.ze.command_list import EventArray
from urasync_l0.ze.handles import CommandListHandle, EventHandle, handle_value


class Transfer(Protocol):
    """A fill or copy command."""

    def append(
        self,
        command_list: CommandListHandle,
        signal: EventHandle | None,
        waits: EventArray | None,
    ) -> None:
        """Append it to a list."""

    @property
    def is_timed(self) -> bool:
        """Whether its signal takes the times of the command."""


class CommandList(ListFront, ABC):
    """One native in-order list, with its order. Any thread may call."""

    def __init__(
        self,
        context: NativeContext,
        native: NativeList,
    ) -> None:
        self.context = context
        self.native = native
        self.device = native.device
        self.handle = native.handle
        self.value = handle_value(native.handle)
        self.append = ze_list.SIGNAL_FUNCTION
        self.query = ze_event.QUERY_FUNCTION
        self.wait = ze_list.WAIT_FUNCTION
        self.mark_type = Mark
        self.ready = self.last = None
        self.is_private = native.is_exclusive
        self.is_plain = not native.flags & QueueFlag.PROFILING_ENABLE
        self.is_closing = False
        self.is_lost = False
        self._is_destroyed = False
        self._close_lock = threading.Lock()
        self._waits = CallsUnderWay()
        self._can_synchronize = loader.has("zeCommandListHostSynchronize")
        self.order = context.domain.add_queue(self)
        self._kept = KeptObjects(self.order)
        context.lists[self.order.id] = self

    # -- what the adapters' events need ------------------------------------------------------------

    @abstractmethod
    def _take(self, source: EventSource) -> NativeEvent:
        """An event of a source. The caller holds no lock."""

    def _note_synchronised(self) -> None:
        """The host has waited for the whole list. The caller holds no lock."""

    def _take_event(self, *, is_timed: bool = False) -> NativeEvent:
        """An event that the list can signal. The caller holds no lock.

        One with time stamps notes when it was asked for.
        """
        source = self.context.event_source(self.device, timestamps=is_timed)
        event = self._take(source)
        if not is_timed:
            self.ready = source.ready
        else:
            try:
                event.queued = self.device.clock.ticks()
            except BaseException as error:
                self._undo(event, error)
                raise
        return event

    # -- what the pool core asks for ---------------------------------------------------------------

    @at_once("append_marker")
    def append_marker(self) -> MarkerEvent:
        """Append one signal; it covers everything before it."""
        event = self._take_event()
        try:
            with self.order.lock:
                if not self._is_destroyed:
                    self._append_signal(event)
                    return event
                mark = self.order.mark_here()
        except BaseException as error:
            self._undo(event, error)
            raise
        event.source.put_back(event)
        return PassedMarker(mark)

    def append_wait(self, event: MarkerEvent) -> None:
        """Append a wait for another queue's marker, and merge its mark into the order's clock."""
        if isinstance(event, NativeEvent):
            with self.context.loss, self.order.lock:
                self._require_open()
                self._append_waits((event,))

    # -- alloc, free, record, wait: a place in the order -------------------------------------------

    def place(
        self, waits: Sequence[Event], *, signal: bool, is_timed: bool = False
    ) -> tuple[NativeEvent | None, int]:
        """Append one wait for ``waits``, if any, then one signal, if asked for.

        The signal has time stamps if it is timed, or the queue takes the times of all commands. It
        is a barrier then, which waits as well: Level Zero defines no times of a bare signal. Where
        the last command is a signal and there is nothing to wait for, that signal is the one.

        Returns the signalled event, held, and the stamp of the place between the two: the number of
        the next command after the wait, or of that last one. A wait that was appended before the
        signal failed stays, which only makes the queue wait for what the caller wanted anyway.
        """
        order = self.order
        is_timed = signal and (is_timed or not self.is_plain)
        if signal and not waits and not is_timed:
            with order.lock:
                self._require_open()
                last = self.signal_from(order.sequence)
                if last is not None:
                    return last, order.sequence
        event = None
        natives = _hold(waits) if waits else ()
        try:
            if signal:
                event = self._take_event(is_timed=is_timed)
            with order.lock:
                self._require_open()
                if is_timed and event is not None:
                    stamp = order.sequence + 1
                    self._append_barrier(event, natives)
                    return event, stamp
                if natives:
                    self._append_waits(natives)
                stamp = order.sequence + 1
                if event is not None:
                    self._append_signal(event)
        except BaseException as error:
            self._undo(event, error)
            raise
        finally:
            _release(natives)
        return event, stamp

    def _append_signal(self, event: NativeEvent) -> None:
        ze_list.append_signal_event(self.handle, event.handle)
        self.order.advance()
        event.mark = self.order.mark_here()
        self.note_signal(event)

    def _append_barrier(self, event: NativeEvent, waits: Sequence[NativeEvent]) -> None:
        ze_list.append_barrier(self.handle, event.handle, _array(waits) if waits else None)
        self._waits_appended(waits, self.order.advance())
        event.mark = self.order.mark_here()

    def _append_waits(self, waits: Sequence[NativeEvent]) -> None:
        ze_list.append_wait_on_events(self.handle, _array(waits))
        self._waits_appended(waits, self.order.advance())

    def _waits_appended(self, waits: Sequence[NativeEvent], number: int) -> None:
        order = self.order
        for event in waits:
            event.source.waited(event, order, number)
            order.merge(event.mark)

    # -- fill and copy -----------------------------------------------------------------------------

    def transfer(
        self,
        steps: Sequence[Transfer],
        waits: Sequence[Event],
        *,
        signal: bool,
        keep: Sequence[object],
    ) -> NativeEvent | None:
        """Append fills and copies: the first one waits, the last one signals.

        ``keep`` lives until they are complete. When a later step fails, those before it stay: they
        write nothing but what the call was to write. If the queue takes the times of commands,
        several steps stand between two barriers, whose events tell the first and the last time.
        """
        order = self.order
        is_timed = signal and not self.is_plain
        first = event = None
        natives = _hold(waits) if waits else ()
        try:
            if signal:
                event = self._take_event(is_timed=is_timed)
            if is_timed and not (len(steps) == 1 and steps[0].is_timed):
                first = self._take_event(is_timed=True)
            with order.lock:
                self._require_open()
                if first is None or event is None:
                    self._append_steps(steps, natives, event, keep)
                else:
                    self._append_barrier(first, natives)
                    # Held by the other from now on: its signal is on its way.
                    event.first = first
                    first = None
                    self._append_steps(steps, (), None, keep)
                    self._append_barrier(event, ())
        except BaseException as error:
            self._undo(first, error)
            self._undo(event, error)
            raise
        finally:
            _release(natives)
        self._kept.let_go()
        return event

    def _append_steps(
        self,
        steps: Sequence[Transfer],
        waits: Sequence[NativeEvent],
        event: NativeEvent | None,
        keep: Sequence[object],
    ) -> None:
        order = self.order
        array = _array(waits) if waits else None
        number = 0
        try:
            for step in steps:
                last = event if step is steps[-1] else None
                step.append(self.handle, None if last is None else last.handle, array)
                number = order.advance()
                if array is not None:
                    self._waits_appended(waits, number)
                    array = None
        finally:
            if number:
                self._kept.keep(keep, number)
        if event is not None:
            event.mark = order.mark_here()

    # -- finish and close --------------------------------------------------------------------------

    def is_empty(self) -> bool:
        """Whether everything appended so far is complete.

        May place a marker and wait a millisecond for it, or else even an idle queue would be
        found busy by who asks first.
        """
        order = self.order
        if self._is_destroyed:
            return True
        if not self.native.is_exclusive:
            # What others append is counted nowhere, so only a new marker covers it.
            marker = self.append_marker()
            try:
                return marker.wait(PATIENCE_NS)
            finally:
                marker.release()
        number = order.sequence
        return number <= order.completed or observe(order, number, PATIENCE_NS)

    def synchronise(self, timeout_ns: int | None) -> bool:
        """Wait until everything appended so far is complete; tell whether it is.

        Then idle memory above the pools' release thresholds goes back to the driver.
        """
        mark = self._wait_for_all(checked_timeout(timeout_ns))
        if mark is None:
            return False
        self.context.registry.synchronised(mark)
        self._note_synchronised()
        self.context.foreign_events.recycle()
        self._kept.drop()
        return True

    def _wait_for_all(self, timeout_ns: int) -> Mark | None:
        """The mark up to which the list is complete; None when the time ran out."""
        if not self._can_synchronize:
            event = self.append_marker()
            try:
                return event.mark if event.wait(timeout_ns) else None
            finally:
                event.release()
        order = self.order
        with order.lock:
            if self._is_destroyed:
                return order.mark_here()
            # A number of its own, so that a free during the wait is not taken for complete.
            order.advance()
            mark = order.mark_here()
            self._waits.begin()
        try:
            with self.context.loss:
                done = ze_list.host_synchronize(self.handle, timeout_ns, self._is_known_complete)
                return mark if done else None
        finally:
            self._waits.end()

    def _is_known_complete(self) -> bool:
        """Never; but a wait for a list of a lost device ends."""
        self.context.loss.require_none()
        return False

    def _wait_for_the_end(self, timeout_ns: int) -> Mark | None:
        """As `_wait_for_all`, for a list that is to close: an earlier attempt's marker will do.

        So a list that is looked at again and again is given one marker, and can become complete.
        """
        order = self.order
        if self._can_synchronize:
            return self._wait_for_all(timeout_ns)
        marker = order.marker_covering(order.sequence, placed=True)
        try:
            if not marker.wait(timeout_ns):
                return None
            order.retire(marker)
            return marker.mark
        finally:
            marker.release()

    def close(self, timeout_ns: int | None = None) -> bool:
        """Complete the list and destroy it; its pending blocks become idle. Idempotent.

        Tells False, with the list open as before, when ``timeout_ns`` nanoseconds were not enough.
        Nothing waits for the list of a lost device.
        """
        timeout_ns = checked_timeout(timeout_ns)
        with self._close_lock:
            if self._is_destroyed:
                return True
            self.is_closing = True
            closed = False
            try:
                closed = self._complete_and_destroy(timeout_ns)
            finally:
                self.is_closing = closed
            if not closed:
                return False
        self.order.close()
        self._kept.clear()
        self.context.lists.pop(self.order.id, None)
        return True

    def _complete_and_destroy(self, timeout_ns: int) -> bool:
        """Destroy the list once it is complete; False when the time ran out before.

        Others may still append markers for the core, and wait for the list, meanwhile.
        """
        order = self.order
        context = self.context
        while True:
            try:
                mark = None if context.lost else self._wait_for_the_end(timeout_ns)
                if mark is not None:
                    context.registry.synchronised(mark)
            except DeviceLostError:
                mark = None
            if mark is None and not context.lost:
                return False
            # Nobody may be inside the driver with the list, or with an event that refers to it.
            if not (
                context.see_signals(self.device, order, timeout_ns)
                and self._waits.have_ended(timeout_ns)
            ):
                return False
            with order.lock:
                if self._waits.have_ended(0) and (mark is None or order.sequence == mark.number):
                    self.is_lost = mark is None
                    try:
                        self.native.give_back(context)
                    except UrError:
                        if mark is not None:
                            raise
                    self._is_destroyed = True
                    self.forget_signal()
                    return True

    def refuse(self, event: NativeEvent, code: int) -> None:
        """Raise what the driver said to the append of a signal; the event can serve again."""
        try:
            ze_list.check_signal(code)
        except BaseException as error:
            self._undo(event, error)
            raise

    def refuse_wait(self, code: int, count: int) -> None:
        """Raise what the driver said to the append of a wait for so many events."""
        try:
            ze_list.check_wait(code, count)
        except BaseException as error:
            self._undo(None, error)
            raise

    def _undo(self, event: NativeEvent | None, error: BaseException) -> None:
        """An append failed: the event that it was to signal can serve again, or goes."""
        if event is not None:
            begun, event.first = event.first, None
            if begun is not None:
                begun.release()
            event.source.put_back(event)
        if isinstance(error, DeviceLostError):
            self.context.loss.report(error)

    def _require_open(self) -> None:
        if self.is_closing:
            raise InvalidQueueError(f"Queue {self.order.id} is closed.")


def _hold(events: Sequence[Event]) -> Sequence[NativeEvent]:
    """Keep the native events of a wait list from serving other signals, until they are released.

    Raises
    ------
    InvalidEventWaitListError
        If another thread has released one of the events.
    """
    held: list[NativeEvent] = []
    try:
        for event in events:
            held.append(event.hold())
    except InvalidEventError as error:
        _release(held)
        raise InvalidEventWaitListError(error.message) from None
    return held


def _release(events: Sequence[NativeEvent]) -> None:
    for event in events:
        event.release()


def _array(events: Sequence[NativeEvent]) -> EventArray:
    return ze_list.event_array([event.handle for event in events])
