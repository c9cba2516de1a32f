# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Enqueued allocations and frees: the part of a queue that the pools serve.

Every call checks first, then acts in steps, and undoes the steps before a failed one. What is
published last - a block in the pool, an event to the caller - is seen only when all else worked.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, overload

from urasync_l0.allocation import Allocation
from urasync_l0.argument import checked_instance, checked_kind
from urasync_l0.command_list import CommandList
from urasync_l0.current_pool import CurrentPool
from urasync_l0.device import Device
from urasync_l0.enums import Command, UsmType
from urasync_l0.event_source import NativeEvent
from urasync_l0.native_context import NativeContext
from urasync_l0.pool import Block, QueueFront, Route, at_once
from urasync_l0.recorded_event import Event
from urasync_l0.result import (
    InvalidMemObjectError,
    InvalidQueueError,
    InvalidValueError,
)
from urasync_l0.transfer import Advise, Fill
from urasync_l0.usm_memory import HOST_INDEX
from urasync_l0.usm_pool import Pool
from urasync_l0.wait_list import NO_WAITS, WaitList, resolve

if TYPE_CHECKING:
    from urasync_l0.context import Context


class UsmQueue(QueueFront):
    """A queue as far as it allocates and frees; `Queue` adds the rest.

    Every queue is a `Queue`, which is what allocations and events are given.
    """

    command_list: CommandList

    def __init__(self, context: Context, command_list: CommandList) -> None:
        self.context: Context = context
        self.native: NativeContext = context.native
        self.command_list = command_list
        self.device: Device = command_list.device
        self.order = command_list.order
        self.id = self.order.id
        self._attention = self._dropped = self.native.attention
        self._registry = self.native.registry
        self._held_type = Allocation
        self._event_type = Event
        position = context.position(self.device)
        current = context.current_of(self.device)
        # Of another device that comes first with that memory, and is taken for the owner.
        shares_memory = self.device is not self.native.devices[position]
        self._notes = (self.device,) if shares_memory else context.noted_devices
        self._routes = {}
        self._device_route = self._routes[UsmType.DEVICE] = Route(
            UsmType.DEVICE,
            (UsmType.DEVICE, position),
            current,
            Command.ENQUEUE_USM_DEVICE_ALLOC_EXP,
        )
        self._shared_route = self._routes[UsmType.SHARED] = Route(
            UsmType.SHARED,
            (UsmType.SHARED, position),
            current,
            Command.ENQUEUE_USM_SHARED_ALLOC_EXP,
        )
        self._host_route = self._routes[UsmType.HOST] = Route(
            UsmType.HOST,
            (UsmType.HOST, HOST_INDEX),
            CurrentPool(context.host_pool),
            Command.ENQUEUE_USM_HOST_ALLOC_EXP,
        )

    def _attend(self) -> None:
        """Look at what is not the usual case: a closed queue or context, dropped objects."""
        if self.command_list.is_closing:
            raise InvalidQueueError(f"{self!r} cannot be used any more.")
        self.native.attend()

    # -- allocate ----------------------------------------------------------------------------------

    @at_once("alloc_device")
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

    @at_once("alloc_shared")
    def alloc_shared(
        self,
        nbytes: int,
        pool: Pool | None = None,
        wait: Iterable[Event] = (),
        event: bool = False,
    ) -> Allocation:
        """Allocate memory that host and device share; as `alloc_device`."""
        return self._alloc(self._shared_route, nbytes, pool, wait, event)

    @at_once("alloc_host")
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
        route: Route,
        nbytes: int,
        pool: Pool | None,
        wait: Iterable[Event],
        event: bool,
    ) -> Allocation:
        block, served, signalled = self._hand_out(route, nbytes, pool, wait, event)
        size, kind = block.requested, route.kind
        return Allocation(block, self._dropped, self.order, size, self, kind, served, signalled)

    @overload
    def enqueue_alloc(
        self,
        kind: UsmType,
        nbytes: int,
        pool: Pool | None = None,
        wait: Iterable[Event] = (),
        *,
        event: Literal[True],
    ) -> tuple[int, Event]: ...
    @overload
    def enqueue_alloc(
        self,
        kind: UsmType,
        nbytes: int,
        pool: Pool | None = None,
        wait: Iterable[Event] = (),
        event: bool = False,
    ) -> tuple[int, Event | None]: ...
    @at_once("alloc_address")
    def enqueue_alloc(
        self,
        kind: UsmType,
        nbytes: int,
        pool: Pool | None = None,
        wait: Iterable[Event] = (),
        event: bool = False,
    ) -> tuple[int, Event | None]:
        """Allocate memory that nobody's collection frees: its address, and the event if asked for.

        Arguments and errors as `alloc_device`; `free` takes the address. InvalidArgumentError if
        there is no such kind.
        """
        route = self._routes[checked_kind(kind)]
        block, _, signalled = self._hand_out(route, nbytes, pool, wait, event)
        return block.address, signalled

    def _hand_out(
        self,
        route: Route,
        nbytes: int,
        pool: Pool | None,
        wait: Iterable[Event],
        event: bool,
    ) -> tuple[Block, Pool, Event | None]:
        found = self._search(route, nbytes, pool, wait, event)
        if self._notes and found[1].device is None:
            self.context.note_device(found[0], self.device)
        return found

    def _search(
        self,
        route: Route,
        nbytes: int,
        pool: Pool | None,
        wait: Iterable[Event],
        event: bool,
    ) -> tuple[Block, Pool, Event | None]:
        if self._attention:
            self._attend()
        key, current, command = route.key, route.current, route.command
        if pool is None:
            chosen = current.chosen()
            core = chosen.core
        else:
            chosen = pool
            core = checked_instance("pool", pool, Pool).require(self.context, key, self.device)
        waits = resolve(self, wait) if wait else NO_WAITS
        nbytes = operator.index(nbytes)
        try:
            if not (event or waits.events or chosen.prepares):
                block = core.take_at_once(self.order, key, nbytes)
                if block is None:
                    block = core.allocate(self.order, key, nbytes, undoable=False)
                return block, chosen, None
            block = core.allocate(self.order, key, nbytes, waits.marks)
            native = self.prepare(chosen, route.kind, block, nbytes, waits, event)
        except InvalidValueError:
            if pool is not None or current.chosen() is chosen:
                raise
            # Closed since we looked: who names no pool gets the one that is current by now.
            return self._search(route, nbytes, None, wait, event)
        signalled = None if native is None else Event(self, native, command)  # type: ignore[arg-type]
        return block, chosen, signalled

    def prepare(
        self,
        pool: Pool,
        kind: UsmType,
        block: Block,
        nbytes: int,
        waits: WaitList,
        event: bool,
    ) -> NativeEvent | None:
        """Append what comes with an allocation; when that fails, give the block back."""
        core = pool.core
        steps: Sequence[Fill | Advise] = ()
        if pool.prepares:
            steps = pool.preparation(kind, block.address, nbytes, self.device)
        *first, last = steps or (None,)
        natives = waits.events
        try:
            if last is None:
                return self.command_list.place(natives, signal=event)[0]
            if first:
                self.command_list.transfer(first, natives, signal=False, keep=())
                natives = ()
        except BaseException:
            core.give_back(block)
            raise
        try:
            return self.command_list.transfer((last,), natives, signal=event, keep=())
        except BaseException:
            if first:
                # What the first steps do to the memory is still to come.
                core.registry.claim(block.address)
                core.free(block, self.order, self.order.sequence + 1)
            else:
                core.give_back(block)
            raise

    # -- free --------------------------------------------------------------------------------------

    @overload
    def free(
        self,
        target: Allocation | int,
        pool: Pool | None = None,
        wait: Iterable[Event] = (),
        *,
        event: Literal[True],
    ) -> Event: ...
    @overload
    def free(
        self,
        target: Allocation | int,
        pool: Pool | None = None,
        wait: Iterable[Event] = (),
        event: bool = False,
    ) -> Event | None: ...
    @at_once("free")
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
            If the memory does not come from ``pool``, or that is closed.
        InvalidEventWaitListError
            If the wait list holds anything but valid events of the context.
        """
        if self._attention:
            self._attend()
        if isinstance(target, Allocation):
            born = target.block.born  # other uses of the block come later: of a live one this is it
            if target.is_freed:
                raise InvalidMemObjectError(f"{target!r} cannot be freed again.")
            if target.pool.context is not self.context:
                target.require_context(self.context)
            address = target.ptr
        else:
            address = operator.index(target)
        waits = resolve(self, wait) if wait else NO_WAITS
        order = self.order
        if isinstance(target, Allocation):
            block = target.block
            if not self._registry.claim_if(block, born):
                raise InvalidMemObjectError(f"{target!r} cannot be freed again.")
        else:
            block = self._registry.claim(address)
        core = block.heap.pool
        native = None
        if event or pool is not None or waits.events:
            try:
                if pool is not None:
                    named = checked_instance("pool", pool, Pool).core
                    if named.is_closed:
                        raise InvalidValueError(f"{pool!r} is closed; free without naming it.")
                    if named is not core:
                        raise InvalidValueError(
                            f"The {block.requested} bytes at {address:#x} come from pool "
                            f"{core.name!r}, not from {pool!r}."
                        )
                native, stamp = self.command_list.place(waits.events, signal=event)
            except BaseException:
                self._registry.restore(block)
                raise
        else:
            stamp = order.sequence + 1
        if isinstance(target, Allocation):
            target.note_freed()
        core.free(block, order, stamp)
        return None if native is None else Event(self, native, Command.ENQUEUE_USM_FREE_EXP)  # type: ignore[arg-type]
