# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A queue as users hold it: what both adapters' queues do in the same way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from urasync_l0.command_list import CommandList
from urasync_l0.enums import Command, QueueFlag
from urasync_l0.native_context import Finalizer, NativeContext
from urasync_l0.not_copied import not_copied
from urasync_l0.pool import at_once
from urasync_l0.recorded_event import Event
from urasync_l0.result import UrError
from urasync_l0.transfer_queue import TransferQueue
from urasync_l0.wait_list import resolve
from urasync_l0.ze.handles import CommandListHandle

if TYPE_CHECKING:
    from urasync_l0.context import Context


class _QueueFinalizer(Finalizer):
    """Closes the list of a dropped queue once it is complete."""

    __slots__ = ("command_list",)
    command_list: CommandList

    def run(self, context: NativeContext) -> None:
        # A list that is still busy, or that the driver refuses to destroy, goes with the context.
        if context.unwatch(self):
            try:
                closed = self.command_list.close(timeout_ns=0)
            except UrError:
                return
            if not closed:
                context.abandoned.append(self.command_list)


class Queue(TransferQueue):
    """An in-order queue of a device. Any thread may use it. Sizes are bytes, times nanoseconds.

    A dropped queue is closed when its commands are complete; `close` waits for that.

    Attributes
    ----------
    context
        The context that it belongs to.
    device
        The device that it is on.
    id
        A number that no other queue of the process has or had.
    """

    def __init__(self, context: Context, command_list: CommandList) -> None:
        super().__init__(context, command_list)
        self._finalizer = _QueueFinalizer(self, self.native.attention.append)
        self._finalizer.command_list = command_list
        self.native.watch(self._finalizer)

    def __repr__(self) -> str:
        state = ", closed" if self.is_closed else ""
        return f"{type(self).__name__}({self.id} on device {self.device.index}{state})"

    @property
    def handle(self) -> CommandListHandle:
        """The native command list. Who has it may append to it, from now on."""
        self.command_list.is_private = False
        return self.command_list.handle

    @property
    def flags(self) -> QueueFlag:
        """What the queue was made with."""
        return self.command_list.native.flags

    @property
    def is_closed(self) -> bool:
        """Whether the queue was closed, or is just being closed."""
        return self.command_list.is_closing

    # -- order and completion ----------------------------------------------------------------------

    @at_once("record")
    def record(self) -> Event:
        """Append an event that is complete when everything before it is."""
        return cast(Event, self.place((), True, Command.EVENTS_WAIT))

    def record_timestamp(self, wait: Iterable[Event] = ()) -> Event:
        """Append an event that tells the device's time at its place, on any queue.

        Raises
        ------
        InvalidEventWaitListError
            If the wait list holds anything but valid events of the context.
        UnsupportedFeatureError
            If the driver has no events with time stamps.
        """
        command = Command.TIMESTAMP_RECORDING_EXP
        return cast(Event, self.place(wait, True, command, is_timed=True))

    @overload
    def wait(self, events: Iterable[Event] | Event, *, event: Literal[True]) -> Event: ...
    @overload
    def wait(self, events: Iterable[Event] | Event, event: bool = False) -> Event | None: ...
    @at_once("wait")
    def wait(self, events: Iterable[Event] | Event, event: bool = False) -> Event | None:
        """Make everything after this call in the queue's order wait for the events.

        Raises
        ------
        InvalidEventWaitListError
            If the list holds anything but valid events of the context.
        """
        return self.place(events, event, Command.EVENTS_WAIT)

    @overload
    def barrier(self, wait: Iterable[Event] | Event = (), *, event: Literal[True]) -> Event: ...
    @overload
    def barrier(self, wait: Iterable[Event] | Event = (), event: bool = False) -> Event | None: ...
    def barrier(self, wait: Iterable[Event] | Event = (), event: bool = False) -> Event | None:
        """As `wait`: in a queue that runs in order, everything comes after what is before it.

        The event stands for ``EVENTS_WAIT_WITH_BARRIER``.
        """
        return self.place(wait, event, Command.EVENTS_WAIT_WITH_BARRIER)

    def place(
        self,
        wait: Iterable[Event] | Event,
        event: bool,
        command: Command,
        *,
        is_timed: bool = False,
    ) -> Event | None:
        """Append the waits and, if asked for, the event of a command that does nothing else."""
        if self._attention:
            self._attend()
        waits = resolve(self, wait)
        if not event and not waits.events:
            return None
        native, _ = self.command_list.place(waits.events, signal=event, is_timed=is_timed)
        return None if native is None else Event(self, native, command)

    def is_empty(self) -> bool:
        """Whether everything appended so far is complete. Waits a millisecond at most."""
        if self._attention:
            self._attend()
        return self.command_list.is_empty()

    def finish(self, timeout_ns: int | None = None) -> bool:
        """Block until everything appended so far is complete, at most ``timeout_ns`` nanoseconds.

        None waits for ever. Tells whether it is complete. If so, idle memory of all pools above
        their release thresholds has gone back to the driver.
        """
        if self._attention:
            self._attend()
        done = self.command_list.synchronise(timeout_ns)
        self.native.close_abandoned()
        return done

    # -- the end -----------------------------------------------------------------------------------

    def close(self, timeout_ns: int | None = None) -> bool:
        """Complete the queue and give it back; what it freed becomes idle. Idempotent.

        Allocations of the queue stay valid. Tells False, with the queue open as before, when
        ``timeout_ns`` nanoseconds were not enough, also for threads that are just being told by the
        driver how far it is; None waits for ever.
        """
        closed = self.command_list.close(timeout_ns)
        if closed:
            self.native.unwatch(self._finalizer)
            self._attention = (self._finalizer,)
            self.native.run_finalizers()  # of what commands kept, such as kernels
        return closed

    __reduce_ex__ = not_copied("Make another with Context.create_queue.")

    def __enter__(self) -> Queue:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()
