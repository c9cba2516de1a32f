# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An event as users hold it: a place in a queue's order that others can wait for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from urasync_l0.enums import Command, EventStatus, ExecutionInfo
from urasync_l0.event_profile import EventProfile
from urasync_l0.event_source import NativeEvent
from urasync_l0.event_watcher import Callback
from urasync_l0.native_context import NativeContext
from urasync_l0.not_copied import not_copied
from urasync_l0.pool import HeldSignal, Mark
from urasync_l0.result import (
    DeviceLostError,
    InvalidEnumerationError,
    InvalidEventError,
    ProfilingInfoNotAvailableError,
    UnsupportedEnumerationError,
)
from urasync_l0.timeout import checked_timeout
from urasync_l0.ze.handles import EventHandle

if TYPE_CHECKING:
    from urasync_l0.context import Context
    from urasync_l0.queue import Queue


class Event(HeldSignal):
    """The end of one command on a queue. Any thread may use it.

    Given back when released or dropped; its place in the order of queues is not affected by that.

    Attributes
    ----------
    queue
        The queue that signals it; None for one over somebody else's native event.
    context
        What it belongs to.
    command
        What kind of command it stands for; ``ENQUEUE_NATIVE_EXP`` if nobody here knows.
    """

    __slots__ = ("__weakref__",)
    queue: Queue | None
    context: Context
    command: Command
    mark: Mark

    def __init__(
        self,
        queue: Queue | None,
        native: NativeEvent,
        command: Command,
        context_of_foreign: Context | None = None,
    ) -> None:
        owner = context_of_foreign if queue is None else queue.context
        assert owner is not None
        context = owner.native
        super().__init__(native, context.domain, context.attention, queue, owner, command)
        observer = context.registry.observer
        if observer is not None:
            observer.signalled(self.mark)

    __reduce_ex__ = not_copied("Wait for it here.")

    def __repr__(self) -> str:
        if self._signal is None:
            state = "released"
        else:
            state = "complete" if self.mark.is_complete() else "not known complete"
        return f"Event({self.command.name} on queue {self.mark.order.id}, {state})"

    @property
    def is_released(self) -> bool:
        """Whether the event was given back."""
        return self._signal is None

    @property
    def _context(self) -> NativeContext:
        return self.context.native

    @property
    def handle(self) -> EventHandle:
        """The native event, which stands for this command only until the event is released."""
        return self.native.handle

    @property
    def native(self) -> NativeEvent:
        """The native event.

        Raises
        ------
        InvalidEventError
            If the event is released.
        """
        native = self._signal
        if native is None:
            raise self._released()
        return cast(NativeEvent, native)

    def hold(self) -> NativeEvent:
        """The native event, kept from standing for another command until its ``release``.

        Raises
        ------
        InvalidEventError
            If the event is released.
        """
        native = self._signal
        if native is not None and native.hold():
            if self._signal is native:
                return cast(NativeEvent, native)
            native.release()  # another thread was quicker, and this may be somebody else's by now
        raise self._released()

    def _released(self) -> InvalidEventError:
        return InvalidEventError(
            f"The event of {self.command.name} on queue {self.mark.order.id} is released."
        )

    @property
    def status(self) -> EventStatus:
        """COMPLETE, SUBMITTED, or ERROR. Asks the driver at most once.

        ERROR if the device was lost before that, or the context closed before somebody else's
        event happened.
        That a command already runs cannot be seen, so RUNNING is never told.

        Raises
        ------
        InvalidEventError
            If the event is released.
        """
        native = self.hold()
        try:
            return self.status_of(native)
        finally:
            native.release()

    @property
    def is_decided(self) -> bool:
        """Whether the status is known for good, so that nobody need be asked."""
        context = self._context
        return self.mark.is_complete() or context.lost is not None or context.is_closed

    def status_of(self, native: NativeEvent) -> EventStatus:
        """`status`, for who holds the native event."""
        context = self._context
        queue = self.queue
        if queue is not None and queue.command_list.is_lost:
            return EventStatus.ERROR
        if self.mark.is_complete():
            return EventStatus.COMPLETE
        if context.lost is not None or context.is_closed:
            return EventStatus.ERROR
        try:
            done = native.query()
        except DeviceLostError:
            return EventStatus.ERROR
        if not done:
            return EventStatus.SUBMITTED
        context.registry.completed(self.mark)
        return EventStatus.COMPLETE

    def require_times(self) -> None:
        """Raise ProfilingInfoNotAvailableError if nobody takes the times of the command."""
        native = self.hold()
        native.release()
        if self.queue is None or not hasattr(native, "queued"):
            raise self._without_times()

    def _without_times(self) -> ProfilingInfoNotAvailableError:
        return ProfilingInfoNotAvailableError(
            f"{self!r} has no times: they are taken on queues that were made with "
            "QueueFlag.PROFILING_ENABLE."
        )

    def profile(self) -> EventProfile:
        """When the command was enqueued, started and ended, in nanoseconds of the device's clock.

        Raises
        ------
        InvalidEventError
            If the event is released.
        ProfilingInfoNotAvailableError
            If the event's queue was made without ``PROFILING_ENABLE``, or the command is not
            complete yet.
        DeviceLostError
            If the device is lost.
        """
        queue = self.queue
        native = self.hold()
        try:
            if queue is None or not hasattr(native, "queued"):
                raise self._without_times()
            if not self.is_complete():
                raise ProfilingInfoNotAvailableError(f"{self!r} has no times yet.")
            if self._context.attention:
                self._context.attend()
            last = native.times()
            first = native.first
            begun = last if first is None else first.times()
            profile = EventProfile.of(queue.device.clock, native.queued, begun, last)
            if self.command is Command.TIMESTAMP_RECORDING_EXP:  # one moment
                return replace(profile, start=profile.end)
            return profile
        finally:
            native.release()

    def set_callback(
        self,
        callback: Callback,
        status: ExecutionInfo = ExecutionInfo.COMPLETE,
        user_data: Any = None,
    ) -> None:
        """Have ``callback(event, status, user_data)`` called once when a status is reached.

        It is called on a thread of the context's, some milliseconds late at most; with
        ``EventStatus.ERROR`` if that is the event's status then. It must not wait for queues or
        close the context. The event may be released before that.

        Raises
        ------
        InvalidEventError
            If the event is released.
        UnsupportedEnumerationError
            If the status is QUEUED, which every event has from the start.
        InvalidEnumerationError
            If there is no such status.
        """
        if not callable(callback):
            raise TypeError(f"callback must be callable, not {callback!r}.")
        try:
            status = ExecutionInfo(status)
        except ValueError:
            raise InvalidEnumerationError(f"There is no status {status!r}.") from None
        if status is ExecutionInfo.QUEUED:
            raise UnsupportedEnumerationError("Every event is queued from the start.")
        if self._context.attention:
            self._context.attend()
        self._context.watcher.watch(self, self.hold(), status, callback, user_data)

    def is_complete(self) -> bool:
        """Whether the command is complete. Asks the driver at most once; never waits.

        Raises
        ------
        InvalidEventError
            If the event is released.
        """
        return self._observe(None)

    def wait(self, timeout_ns: int | None = None) -> bool:
        """Block until the command is complete, at most ``timeout_ns`` nanoseconds; tell which.

        None waits for ever.

        Raises
        ------
        InvalidEventError
            If the event is released.
        InvalidValueError
            If the time-out is negative or has more than 64 bits.
        DeviceLostError
            If the device is lost; nothing waits for it then.
        InvalidContextError
            If the context is closed meanwhile, and it is somebody else's event.
        """
        return self._observe(checked_timeout(timeout_ns))

    def _observe(self, timeout_ns: int | None) -> bool:
        if self._signal is None:
            raise self._released()
        if self.mark.is_complete():
            return True
        context = self._context
        if context.attention:
            context.attend()
        native = self.hold()
        try:
            done = native.query() if timeout_ns is None else native.wait(timeout_ns)
        finally:
            native.release()
        if done:
            context.registry.completed(self.mark)
        return done

    def __enter__(self) -> Event:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.release()
