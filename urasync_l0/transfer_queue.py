# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fills, copies and launches: the part of a queue that works on memory.

Every call checks and plans first, then appends its steps together. A command that is asked for an
event answers with one, else with None; the overloads say so to type checkers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index
from typing import Any, Literal, overload

from urasync_l0 import rectangle
from urasync_l0.argument import checked_bytes, checked_instance
from urasync_l0.command_list import Transfer
from urasync_l0.enums import Command
from urasync_l0.launch import Launch, argument, plan_launch
from urasync_l0.program import Kernel
from urasync_l0.recorded_event import Event
from urasync_l0.rectangle import Region, Rows, check_region
from urasync_l0.transfer import Copy, Memory, operand, plan_fill, transfer_size
from urasync_l0.usm_queue import UsmQueue
from urasync_l0.wait_list import NO_WAITS, resolve


class TransferQueue(UsmQueue):
    """What a queue does with memory: see `Queue`."""

    @overload
    def fill(
        self,
        target: Memory,
        pattern: bytes,
        nbytes: int | None = None,
        offset: int = 0,
        wait: Iterable[Event] = (),
        *,
        event: Literal[True],
    ) -> Event: ...
    @overload
    def fill(
        self,
        target: Memory,
        pattern: bytes,
        nbytes: int | None = None,
        offset: int = 0,
        wait: Iterable[Event] = (),
        event: bool = False,
    ) -> Event | None: ...
    def fill(
        self,
        target: Memory,
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

    @overload
    def memcpy(
        self,
        destination: Memory,
        source: Memory,
        nbytes: int | None = None,
        *,
        destination_offset: int = 0,
        source_offset: int = 0,
        wait: Iterable[Event] = (),
        event: Literal[True],
    ) -> Event: ...
    @overload
    def memcpy(
        self,
        destination: Memory,
        source: Memory,
        nbytes: int | None = None,
        *,
        destination_offset: int = 0,
        source_offset: int = 0,
        wait: Iterable[Event] = (),
        event: bool = False,
    ) -> Event | None: ...
    def memcpy(
        self,
        destination: Memory,
        source: Memory,
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

    @overload
    def fill_2d(
        self,
        target: Memory,
        pitch: int,
        pattern: bytes,
        width: int,
        height: int,
        offset: int = 0,
        wait: Iterable[Event] = (),
        *,
        event: Literal[True],
    ) -> Event: ...
    @overload
    def fill_2d(
        self,
        target: Memory,
        pitch: int,
        pattern: bytes,
        width: int,
        height: int,
        offset: int = 0,
        wait: Iterable[Event] = (),
        event: bool = False,
    ) -> Event | None: ...
    def fill_2d(
        self,
        target: Memory,
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
        region = Region(index(width), index(height))
        to, keep = self._rows(target, offset, pitch, region, writable=True)
        plan = rectangle.plan_fill(
            to, checked_bytes("pattern", pattern), region, self.device.max_fill_pattern
        )
        return self.enqueue(plan.steps, (keep, plan.keep), wait, event, Command.USM_FILL_2D)

    @overload
    def memcpy_2d(
        self,
        destination: Memory,
        destination_pitch: int,
        source: Memory,
        source_pitch: int,
        width: int,
        height: int,
        *,
        destination_offset: int = 0,
        source_offset: int = 0,
        wait: Iterable[Event] = (),
        event: Literal[True],
    ) -> Event: ...
    @overload
    def memcpy_2d(
        self,
        destination: Memory,
        destination_pitch: int,
        source: Memory,
        source_pitch: int,
        width: int,
        height: int,
        *,
        destination_offset: int = 0,
        source_offset: int = 0,
        wait: Iterable[Event] = (),
        event: bool = False,
    ) -> Event | None: ...
    def memcpy_2d(
        self,
        destination: Memory,
        destination_pitch: int,
        source: Memory,
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
        region = Region(index(width), index(height))
        to, kept = self._rows(
            destination, destination_offset, destination_pitch, region, writable=True
        )
        origin, keep = self._rows(source, source_offset, source_pitch, region, writable=False)
        steps = rectangle.plan_copy(to, origin, region)
        return self.enqueue(steps, (kept, keep), wait, event, Command.USM_MEMCPY_2D)

    @staticmethod
    def _rows(
        target: Memory, offset: int, pitch: int, region: Region, *, writable: bool
    ) -> tuple[Rows, Any]:
        end = operand(target, offset, writable=writable)
        rows = Rows(end.address, index(pitch))
        check_region(region, rows)
        transfer_size(rows.extent(region), end)
        return rows, end.keep

    @overload
    def launch(
        self,
        kernel: Kernel,
        global_size: Sequence[int],
        arguments: Sequence[Any] = (),
        *,
        local_size: Sequence[int] | None = None,
        wait: Iterable[Event] = (),
        event: Literal[True],
    ) -> Event: ...
    @overload
    def launch(
        self,
        kernel: Kernel,
        global_size: Sequence[int],
        arguments: Sequence[Any] = (),
        *,
        local_size: Sequence[int] | None = None,
        wait: Iterable[Event] = (),
        event: bool = False,
    ) -> Event | None: ...
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
            that of the kernel's code is used, or the driver's suggestion.
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
            If there are more or fewer arguments than it takes, or local memory has no bytes.
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
        return None if native is None else Event(self, native, command)  # type: ignore[arg-type]
