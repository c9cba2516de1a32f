# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A queue as users hold it: what both adapters' queues do in the same way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from urasync_l0 import rectangle
from urasync_l0.argument import checked_bytes, checked_instance
from urasync_l0.command_list import CommandList, Transfer
from urasync_l0.enums import Command, QueueFlag
from urasync_l0.launch import Launch, argument, plan_launch
from urasync_l0.native_context import Finalizer, NativeContext
from urasync_l0.not_copied import not_copied
from urasync_l0.program import Kernel
from urasync_l0.recorded_event import Event
from urasync_l0.rectangle import Region, Rows, check_region
from urasync_l0.result import UrError
from urasync_l0.transfer import Copy, operand, plan_fill, transfer_size
from urasync_l0.usm_queue import UsmQueue
from urasync_l0.wait_list import NO_WAITS, resolve
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


class Queue(UsmQueue):
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
        """The native command list."""
        return self.command_list.handle

    @property
    def flags(self) -> QueueFlag:
        """What the queue was made with."""
        return self.command_list.native.flags

    @property
    def is_closed(self) -> bool:
        """Whether the queue was closed, or is just being closed."""
        return self.command_list.is_closing

    # -- fill and copy -----------------------------------------------------------------------------

    def fill(
        self,
        target: Any,
        pattern: bytes,
        nbytes: int | None = None,
        offset: int = 0,
        wait: Iterable[Event] = (),
        event: bool = False,
    ) -> Event | None:
        """Repeat a pattern over memory, in the queue's order.

        Parameters
        ----------
        target
            An allocation, an address, or a writable buffer, which is kept until then.
        pattern
            Any number of bytes, at least 1.
        nbytes
            How many bytes to fill, a multiple of the pattern; None for all from the offset on.
        offset
            Bytes from the start of the target.
        wait
            Events that the command waits for first.
        event
            Whether the command gets an event.

        Raises
        ------
        InvalidSizeError
            If the size is 0, unknown, more than the target has, or no multiple of the pattern.
        InvalidMemObjectError
            If the target is freed.
        InvalidValueError
            If the target is a buffer that cannot be written or is not contiguous.
        InvalidEventWaitListError
            If the wait list holds anything but valid events of the context.
        """
        if self._attention:
            self._attend()
        end = operand(target, offset, writable=True)
        size = transfer_size(nbytes, end)
        plan = plan_fill(
            end.address, checked_bytes("pattern", pattern), size, self.device.max_fill_pattern
        )
        return self.enqueue(plan.steps, (end.keep, plan.keep), wait, event, Command.USM_FILL)

    def memcpy(
        self,
        destination: Any,
        source: Any,
        nbytes: int | None = None,
        *,
        destination_offset: int = 0,
        source_offset: int = 0,
        wait: Iterable[Event] = (),
        event: bool = False,
    ) -> Event | None:
        """Copy bytes, in the queue's order; the two ranges must not overlap.

        Parameters
        ----------
        destination, source
            Allocations, addresses, or buffers, which are kept until then; the source of a copy must
            not be changed before the copy is complete.
        nbytes
            How many bytes; None for all that the source has, or the destination if the source is an
            address.
        destination_offset, source_offset
            Bytes from the start of each.
        wait
            Events that the command waits for first.
        event
            Whether the command gets an event.

        Raises
        ------
        InvalidSizeError
            If the size is 0, unknown, or more than either end has.
        InvalidMemObjectError
            If an end is freed.
        InvalidValueError
            If an end is a buffer that cannot be used.
        InvalidEventWaitListError
            If the wait list holds anything but valid events of the context.
        """
        if self._attention:
            self._attend()
        to = operand(destination, destination_offset, writable=True)
        origin = operand(source, source_offset, writable=False)
        size = transfer_size(nbytes, to, origin)
        step = Copy(to.address, origin.address, size)
        return self.enqueue((step,), (to.keep, origin.keep), wait, event, Command.USM_MEMCPY)

    def fill_2d(
        self,
        target: Any,
        pitch: int,
        pattern: bytes,
        width: int,
        height: int,
        offset: int = 0,
        wait: Iterable[Event] = (),
        event: bool = False,
    ) -> Event | None:
        """Repeat a pattern over rows; it goes on from row to row. As `fill` otherwise.

        Parameters
        ----------
        pitch
            Bytes from row to row.
        width, height
            Bytes of each row that are filled, and rows.

        Raises
        ------
        InvalidSizeError
            If there are no bytes, rows overlap, the target ends before them, or they are no
            multiple of the pattern.
        """
        if self._attention:
            self._attend()
        region = Region(width, height)
        to, keep = self._rows(target, offset, pitch, region, writable=True)
        plan = rectangle.plan_fill(
            to, checked_bytes("pattern", pattern), region, self.device.max_fill_pattern
        )
        return self.enqueue(plan.steps, (keep, plan.keep), wait, event, Command.USM_FILL_2D)

    def memcpy_2d(
        self,
        destination: Any,
        destination_pitch: int,
        source: Any,
        source_pitch: int,
        width: int,
        height: int,
        *,
        destination_offset: int = 0,
        source_offset: int = 0,
        wait: Iterable[Event] = (),
        event: bool = False,
    ) -> Event | None:
        """Copy the bytes of rows between ranges that do not overlap. As `memcpy` otherwise.

        Parameters
        ----------
        destination_pitch, source_pitch
            Bytes from row to row.
        width, height
            Bytes of each row that are copied, and rows.

        Raises
        ------
        InvalidSizeError
            If there are no bytes, rows overlap, or an end has less than the rows need.
        """
        if self._attention:
            self._attend()
        region = Region(width, height)
        to, kept = self._rows(
            destination, destination_offset, destination_pitch, region, writable=True
        )
        origin, keep = self._rows(source, source_offset, source_pitch, region, writable=False)
        steps = rectangle.plan_copy(to, origin, region)
        return self.enqueue(steps, (kept, keep), wait, event, Command.USM_MEMCPY_2D)

    @staticmethod
    def _rows(
        target: Any, offset: int, pitch: int, region: Region, *, writable: bool
    ) -> tuple[Rows, Any]:
        end = operand(target, offset, writable=writable)
        rows = Rows(end.address, pitch)
        check_region(region, rows)
        transfer_size(rows.extent(region), end)
        return rows, end.keep

    def launch(
        self,
        kernel: Kernel,
        global_size: Sequence[int],
        arguments: Sequence[Any] = (),
        *,
        local_size: Sequence[int] | None = None,
        wait: Iterable[Event] = (),
        event: bool = False,
    ) -> Event | None:
        """Run a kernel, in the queue's order.

        Parameters
        ----------
        kernel
            A kernel of a program of the context.
        global_size, local_size
            Work-items in one to three dimensions, altogether and in a group; without a local size
            the driver's suggestion is used.
        arguments
            For each argument an `Allocation`, whose address is meant, `LocalMemory`, or its bytes:
            anything with the buffer protocol, such as scalars of NumPy or ctypes. Allocations are
            kept until the kernel has run.
        wait
            Events that the command waits for first.
        event
            Whether the command gets an event.

        Raises
        ------
        InvalidKernelError
            If the kernel is closed.
        InvalidContextError
            If it belongs to another context.
        InvalidKernelArgumentsError
            If there are more or fewer arguments than it takes.
        InvalidWorkSizeError
            If the sizes cannot be launched.
        InvalidEventWaitListError
            If the wait list holds anything but valid events of the context.
        """
        if self._attention:
            self._attend()
        given = [argument(each) for each in arguments]
        kernel = checked_instance("kernel", kernel, Kernel)
        step = plan_launch(self, kernel, global_size, given, local_size)
        return self.run(step, wait, event)

    def run(self, step: Launch, wait: Iterable[Event] = (), event: bool = False) -> Event | None:
        """Append a launch that was planned for this queue."""
        keep = (step.kernel, *(each.keep for each in step.arguments))
        return self.enqueue((step,), keep, wait, event, Command.KERNEL_LAUNCH)

    def enqueue(
        self,
        steps: Sequence[Transfer],
        keep: Iterable[object],
        wait: Iterable[Event],
        event: bool,
        command: Command,
    ) -> Event | None:
        """Append steps that were planned for this queue, and keep what they use until then."""
        waits = resolve(self, wait) if wait else NO_WAITS
        # An allocation of this queue need not be kept: its free comes later in the queue's order.
        kept = [k for k in keep if k is not None and getattr(k, "queue", None) is not self]
        native = self.command_list.transfer(steps, waits.events, signal=event, keep=kept)
        return None if native is None else Event(self, native, command)

    # -- order and completion ----------------------------------------------------------------------

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

    def wait(self, events: Iterable[Event] | Event, event: bool = False) -> Event | None:
        """Make everything after this call in the queue's order wait for the events.

        Raises
        ------
        InvalidEventWaitListError
            If the list holds anything but valid events of the context.
        """
        return self.place(events, event, Command.EVENTS_WAIT)

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
        ``timeout_ns`` nanoseconds were not enough; None waits for ever.
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
