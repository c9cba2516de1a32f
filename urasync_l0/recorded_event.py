# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An event as users hold it: a place in a queue's order that others can wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from urasync_l0.enums import Command
from urasync_l0.event_source import NativeEvent
from urasync_l0.native_context import Finalizer, NativeContext
from urasync_l0.pool import Mark
from urasync_l0.result import DeviceLostError, InvalidEventError
from urasync_l0.timeout import checked_timeout
from urasync_l0.ze.handles import EventHandle

if TYPE_CHECKING:
    from urasync_l0.queue import Queue


class _EventFinalizer(Finalizer):
    __slots__ = ("native",)
    native: NativeEvent

    def run(self, context: NativeContext) -> None:
        if context.unwatch(self):
            self.native.release()


class Event:
    """The end of one command on a queue. Any thread may use it.

    Given back when released or dropped; its place in the order of queues is not affected by that.

    Attributes
    ----------
    queue
        The queue that signals it.
    command
        What kind of command it stands for.
    """

    __slots__ = ("__weakref__", "_context", "_finalizer", "_native", "command", "mark", "queue")

    def __init__(self, queue: Queue, native: NativeEvent, command: Command) -> None:
        self.queue = queue
        self.command = command
        self.mark: Mark = native.mark
        self._native: NativeEvent | None = native
        context = self._context = queue.native
        finalizer = _EventFinalizer(self, context.attention.append)
        finalizer.native = native
        self._finalizer = finalizer
        context.finalizers[id(finalizer)] = finalizer
        if context.registry.observer is not None:
            context.registry.observer.signalled(self.mark)

    def __repr__(self) -> str:
        if self._native is None:
            state = "released"
        else:
            state = "complete" if self.mark.is_complete() else "not known complete"
        return f"Event({self.command.name} on queue {self.mark.order.id}, {state})"

    @property
    def is_released(self) -> bool:
        """Whether the event was given back."""
        return self._native is None

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
        native = self._native
        if native is None:
            raise self._released()
        return native

    def hold(self) -> NativeEvent:
        """The native event, kept from standing for another command until its ``release``.

        Raises
        ------
        InvalidEventError
            If the event is released.
        """
        native = self._native
        if native is not None and native.hold():
            if self._native is native:
                return native
            native.release()  # another thread was quicker, and this may be somebody else's by now
        raise self._released()

    def _released(self) -> InvalidEventError:
        return InvalidEventError(
            f"The event of {self.command.name} on queue {self.mark.order.id} is released."
        )

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
        """
        return self._observe(checked_timeout(timeout_ns))

    def _observe(self, timeout_ns: int | None) -> bool:
        if self._native is None:
            raise self._released()
        if self.mark.is_complete():
            return True
        context = self._context
        if context.attention:
            context.attend()
        native = self.hold()
        try:
            done = native.query() if timeout_ns is None else native.wait(timeout_ns)
        except DeviceLostError as error:
            context.lose(error)
            raise
        finally:
            native.release()
        if done:
            context.registry.completed(self.mark)
        return done

    def release(self) -> None:
        """Give the event back now. Idempotent; calls no driver."""
        native = self._native
        self._native = None
        if native is not None and self._context.unwatch(self._finalizer):
            native.release()

    def __enter__(self) -> Event:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.release()
