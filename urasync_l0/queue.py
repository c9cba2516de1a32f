# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A queue as users hold it: what both adapters' queues do in the same way.

Every call checks first, then acts in steps, and undoes the steps before a failed one. What is
published last - a block in the pool, an event to the caller - is seen only when all else worked.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from urasync_l0.allocation import Allocation, DroppedAllocation
from urasync_l0.command_list import CommandList, Transfer
from urasync_l0.device import Device
from urasync_l0.enums import Command, UsmType
from urasync_l0.native_context import Finalizer, NativeContext
from urasync_l0.pool import HeapKey
from urasync_l0.recorded_event import Event
from urasync_l0.result import (
    DeviceLostError,
    InvalidMemObjectError,
    InvalidQueueError,
    InvalidValueError,
    UrError,
)
from urasync_l0.transfer import Copy, operand, plan_fill, transfer_size
from urasync_l0.usm_memory import HOST_INDEX
from urasync_l0.wait_list import NO_WAITS, resolve
from urasync_l0.ze.command_list import INFINITE
from urasync_l0.ze.handles import CommandListHandle

if TYPE_CHECKING:
    from urasync_l0.context import Context
    from urasync_l0.usm_pool import Pool


class CurrentPool:
    """Which pool serves allocations that name none."""

    __slots__ = ("pool",)

    def __init__(self, pool: Pool) -> None:
        self.pool = pool


class _Route(NamedTuple):
    """Where an allocation of one kind on one queue comes from."""

    kind: UsmType
    key: HeapKey
    current: CurrentPool
    command: Command


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


class Queue:
    """An in-order queue of a device. Any thread may use it. Sizes are bytes, times nanoseconds.

    A dropped queue is closed when its commands are complete; `close` waits for that.

    Attributes
    ----------
    context, device
        What it belongs to.
    id
        A number that no other queue of the process has or had.
    """

    def __init__(self, context: Context, command_list: CommandList) -> None:
        self.context = context
        self.native: NativeContext = context.native
        self.command_list = command_list
        self.device: Device = command_list.device
        self.order = command_list.order
        self.id = self.order.id
        self._attention: Sequence[Finalizer] = self.native.attention
        self._live = self.native.live
        self._drop = self.native.attention.append
        self._claim = self.native.registry.claim
        position = self.native.devices.index(self.device)
        current = context.current_pools[position]
        self._device_route = _Route(
            UsmType.DEVICE,
            (UsmType.DEVICE, position),
            current,
            Command.ENQUEUE_USM_DEVICE_ALLOC_EXP,
        )
        self._shared_route = _Route(
            UsmType.SHARED,
            (UsmType.SHARED, position),
            current,
            Command.ENQUEUE_USM_SHARED_ALLOC_EXP,
        )
        self._host_route = _Route(
            UsmType.HOST,
            (UsmType.HOST, HOST_INDEX),
            CurrentPool(context.host_pool),
            Command.ENQUEUE_USM_HOST_ALLOC_EXP,
        )
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
    def is_closed(self) -> bool:
        """Whether the queue was closed, or is just being closed."""
        return self.command_list.is_closing

    def _attend(self) -> None:
        """Look at what is not the usual case: a closed queue or context, dropped objects."""
        if self.command_list.is_closing:
            raise InvalidQueueError(f"{self!r} cannot be used any more.")
        self.native.attend()

    # -- allocate ----------------------------------------------------------------------------------

    def alloc_device(
        self,
        nbytes: int,
        pool: Pool | None = None,
        wait: Iterable[Event] = (),
        event: bool = False,
    ) -> Allocation:
        """Allocate device memory for work that comes after this call in the queue's order.

        Parameters
        ----------
        nbytes
            Size in bytes, at least 1.
        pool
            Where it comes from; None for the device's current pool.
        wait
            Events that the queue waits for first.
        event
            Whether the allocation gets an event, so that other queues can wait for it.

        Raises
        ------
        InvalidUsmSizeError
            If the size is 0 or above the device's largest allocation.
        OutOfMemoryError
            If there is no memory left, after everything that may free some was tried.
        InvalidValueError
            If the pool belongs to another context or device, or is closed.
        InvalidArgumentError
            If the pool has no memory of this kind.
        InvalidEventWaitListError
            If the wait list holds anything but valid events of the context.
        """
        return self._alloc(self._device_route, nbytes, pool, wait, event)

    def alloc_shared(
        self,
        nbytes: int,
        pool: Pool | None = None,
        wait: Iterable[Event] = (),
        event: bool = False,
    ) -> Allocation:
        """Allocate memory that host and device share; as `alloc_device`."""
        return self._alloc(self._shared_route, nbytes, pool, wait, event)

    def alloc_host(
        self,
        nbytes: int,
        pool: Pool | None = None,
        wait: Iterable[Event] = (),
        event: bool = False,
    ) -> Allocation:
        """Allocate host memory that all devices can use; as `alloc_device`.

        Without a pool it comes from the context's host pool.
        """
        return self._alloc(self._host_route, nbytes, pool, wait, event)

    def _alloc(
        self,
        route: _Route,
        nbytes: int,
        pool: Pool | None,
        wait: Iterable[Event],
        event: bool,
    ) -> Allocation:
        if self._attention:
            self._attend()
        kind, key, current, command = route
        if pool is None:
            pool = current.pool
            core = pool.core
        else:
            core = pool.require(self.context, key)
        waits = resolve(self, wait) if wait else NO_WAITS
        nbytes = operator.index(nbytes)
        signalled = None
        try:
            if event or waits.natives or pool.prepares:
                block = core.allocate(self.order, key, nbytes, waits.marks)
                try:
                    steps = pool.preparation(kind, block.address, nbytes, self.device)
                    if steps:
                        native = self.command_list.transfer(
                            steps, waits.natives, signal=event, keep=()
                        )
                    else:
                        native, _ = self.command_list.place(waits.natives, signal=event)
                except BaseException:
                    core.give_back(block)
                    raise
                if native is not None:
                    signalled = Event(self, native, command)
            else:
                block = core.allocate(self.order, key, nbytes, undoable=False)
        except DeviceLostError as error:
            self.native.lose(error)
            raise
        address = block.address
        allocation = Allocation(self, address, nbytes, kind, pool, signalled)
        finalizer = DroppedAllocation(allocation, self._drop)
        finalizer.block = block
        finalizer.order = self.order
        self._live[address] = finalizer
        return allocation

    # -- free --------------------------------------------------------------------------------------

    def free(
        self,
        target: Allocation | int,
        pool: Pool | None = None,
        wait: Iterable[Event] = (),
        event: bool = False,
    ) -> Event | None:
        """Give memory back; work that comes after this call in the queue's order may get it.

        Any queue of the context may free any allocation. Work of other queues that still uses the
        memory must be in ``wait``.

        Parameters
        ----------
        target
            The allocation, or its address.
        pool
            Where it is expected to come from; None for any.
        wait
            Events that the queue waits for first.
        event
            Whether the free gets an event.

        Raises
        ------
        InvalidMemObjectError
            If the address was given by no pool of the context, lies inside an allocation, or is
            freed already.
        InvalidValueError
            If the memory does not come from ``pool``.
        InvalidEventWaitListError
            If the wait list holds anything but valid events of the context.
        """
        if self._attention:
            self._attend()
        if isinstance(target, Allocation):
            if target.is_freed:
                raise InvalidMemObjectError(f"{target!r} cannot be freed again.")
            if target.queue.context is not self.context:
                raise InvalidMemObjectError(f"{target!r} belongs to another context.")
            address = target.ptr
        else:
            address = operator.index(target)
        waits = resolve(self, wait) if wait else NO_WAITS
        order = self.order
        block = self._claim(address)
        core = block.heap.pool
        native = None
        if event or pool is not None or waits.natives:
            try:
                if pool is not None and pool.core is not core:
                    raise InvalidValueError(
                        f"The {block.requested} bytes at {address:#x} come from pool "
                        f"{core.name!r}, not from {pool!r}."
                    )
                native, stamp = self.command_list.place(waits.natives, signal=event)
            except BaseException as error:
                self.native.registry.restore(block)
                if isinstance(error, DeviceLostError):
                    self.native.lose(error)
                raise
        else:
            stamp = order.sequence + 1
        # Before the block is published: afterwards the address may already be somebody else's.
        finalizer = self._live.pop(address, None)
        if finalizer is not None:
            finalizer.forget()
        core.free(block, order, stamp)
        return None if native is None else Event(self, native, Command.ENQUEUE_USM_FREE_EXP)

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
        plan = plan_fill(end.address, bytes(pattern), size, self.device.max_fill_pattern)
        return self._transfer(plan.steps, (end.keep, plan.keep), wait, event, Command.USM_FILL)

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
        return self._transfer((step,), (to.keep, origin.keep), wait, event, Command.USM_MEMCPY)

    def _transfer(
        self,
        steps: Sequence[Transfer],
        keep: Iterable[object],
        wait: Iterable[Event],
        event: bool,
        command: Command,
    ) -> Event | None:
        waits = resolve(self, wait) if wait else NO_WAITS
        # An allocation of this queue need not be kept: its free comes later in the queue's order.
        kept = [k for k in keep if k is not None and getattr(k, "queue", None) is not self]
        try:
            native = self.command_list.transfer(steps, waits.natives, signal=event, keep=kept)
        except DeviceLostError as error:
            self.native.lose(error)
            raise
        return None if native is None else Event(self, native, command)

    # -- order and completion ----------------------------------------------------------------------

    def record(self) -> Event:
        """Append an event that is complete when everything before it is."""
        if self._attention:
            self._attend()
        try:
            native, _ = self.command_list.place((), signal=True)
        except DeviceLostError as error:
            self.native.lose(error)
            raise
        assert native is not None  # asked for
        return Event(self, native, Command.EVENTS_WAIT)

    def wait(self, events: Iterable[Event] | Event) -> None:
        """Make everything after this call in the queue's order wait for the events.

        Raises
        ------
        InvalidEventWaitListError
            If the list holds anything but valid events of the context.
        """
        if self._attention:
            self._attend()
        waits = resolve(self, events)
        if not waits.natives:
            return
        try:
            self.command_list.place(waits.natives, signal=False)
        except DeviceLostError as error:
            self.native.lose(error)
            raise

    def finish(self, timeout_ns: int = INFINITE) -> bool:
        """Block until everything appended so far is complete, at most ``timeout_ns`` nanoseconds.

        Tells whether it is. If so, idle memory of all pools above their release thresholds has gone
        back to the driver.
        """
        if self._attention:
            self._attend()
        try:
            done = self.command_list.synchronise(timeout_ns)
            self.native.close_abandoned()
            return done
        except DeviceLostError as error:
            self.native.lose(error)
            raise

    # -- the end -----------------------------------------------------------------------------------

    def close(self, timeout_ns: int = INFINITE) -> bool:
        """Complete the queue and give it back; what it freed becomes idle. Idempotent.

        Allocations of the queue stay valid. Tells False, with the queue open as before, when
        ``timeout_ns`` nanoseconds were not enough.
        """
        closed = self.command_list.close(timeout_ns)
        if closed:
            self.native.unwatch(self._finalizer)
            self._attention = (self._finalizer,)
        return closed

    def __enter__(self) -> Queue:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()
