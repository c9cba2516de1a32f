# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entry points that put allocations, frees, fills and copies into a queue's order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from urasync_l0.entry_points._handles import (
    address,
    flags,
    handle,
    live_pool,
    live_queue,
    pointer,
    wait_list,
    write_copied,
    write_event,
)
from urasync_l0.enums import (
    AsyncUsmAllocFlag,
    Command,
    UsmAdviceFlag,
    UsmMigrationFlag,
    UsmType,
)
from urasync_l0.result import InvalidSizeError
from urasync_l0.transfer import Advise, Hint, Prefetch
from urasync_l0.ze.command_list import MemoryAdvice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from urasync_l0.descriptors import AsyncUsmAllocProperties
    from urasync_l0.entry_points.parameters import EventList, HostMemory
    from urasync_l0.out import Out
    from urasync_l0.queue import Queue
    from urasync_l0.recorded_event import Event
    from urasync_l0.usm_pool import Pool


_ADVICE = sum(UsmAdviceFlag)
_KNOWN_ADVICE = {UsmAdviceFlag[known.name]: known for known in MemoryAdvice}
_MIGRATIONS = sum(UsmMigrationFlag)


class UsmEnqueueEntryPoints:
    """``urEnqueueUSM…``."""

    def urEnqueueUSMDeviceAllocExp(
        self,
        queue: Queue | None,
        pool: Pool | None,
        size: int,
        properties: AsyncUsmAllocProperties | None,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        mem: Out[int] | None,
        event: Out[Event] | None,
    ) -> None:
        """Device memory for the work that is ordered after this command."""
        count, events = num_events_in_wait_list, event_wait_list
        _allocate(queue, UsmType.DEVICE, pool, size, properties, count, events, mem, event)

    def urEnqueueUSMSharedAllocExp(
        self,
        queue: Queue | None,
        pool: Pool | None,
        size: int,
        properties: AsyncUsmAllocProperties | None,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        mem: Out[int] | None,
        event: Out[Event] | None,
    ) -> None:
        """Memory that host and device share; as `urEnqueueUSMDeviceAllocExp`."""
        count, events = num_events_in_wait_list, event_wait_list
        _allocate(queue, UsmType.SHARED, pool, size, properties, count, events, mem, event)

    def urEnqueueUSMHostAllocExp(
        self,
        queue: Queue | None,
        pool: Pool | None,
        size: int,
        properties: AsyncUsmAllocProperties | None,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        mem: Out[int] | None,
        event: Out[Event] | None,
    ) -> None:
        """Host memory; without a pool from the context's host pool."""
        count, events = num_events_in_wait_list, event_wait_list
        _allocate(queue, UsmType.HOST, pool, size, properties, count, events, mem, event)

    def urEnqueueUSMFreeExp(
        self,
        queue: Queue | None,
        pool: Pool | None,
        mem: int,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Give memory back in the queue's order. A pool that does not own it, or that is destroyed,
        is an error: memory that outlives its pool is freed without naming it."""
        if queue is None:
            queue = handle(queue, "queue")
        if not mem:
            address(mem, "mem")
        waits: Sequence[Event] = ()
        if pool is not None or num_events_in_wait_list or event_wait_list is not None:
            live_queue(queue)
            if pool is not None:
                live_pool(pool)
            waits = wait_list(num_events_in_wait_list, event_wait_list)
        freed = queue.free(mem, pool, waits, event is not None)
        if freed is not None:
            write_event(event, freed)

    def urEnqueueUSMFill(
        self,
        queue: Queue | None,
        mem: int,
        pattern_size: int,
        pattern: bytes | None,
        size: int,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Repeat a pattern over memory."""
        queue = handle(queue, "queue")
        address(mem, "mem")
        pattern = pointer(pattern, "pattern")
        live_queue(queue)
        pattern = _cut(pattern, pattern_size)
        _check_room(queue, mem, size)
        waits = wait_list(num_events_in_wait_list, event_wait_list)
        filled = queue.fill(mem, pattern, nbytes=size, wait=waits, event=event is not None)
        write_event(event, filled)

    def urEnqueueUSMMemcpy(
        self,
        queue: Queue | None,
        blocking: bool,
        dst: HostMemory,
        src: HostMemory,
        size: int,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Copy bytes; a blocking copy is complete on return."""
        queue = handle(queue, "queue")
        for end, name in ((dst, "dst"), (src, "src")):
            if isinstance(end, int):
                address(end, name)
        live_queue(queue)
        for end in (dst, src):
            if isinstance(end, int):
                _check_room(queue, end, size)
        waits = wait_list(num_events_in_wait_list, event_wait_list)
        wanted = blocking or event is not None
        copied = queue.memcpy(dst, src, nbytes=size, wait=waits, event=wanted)
        write_copied(event, copied, blocking)

    def urEnqueueUSMFill2D(
        self,
        queue: Queue | None,
        mem: int,
        pitch: int,
        pattern_size: int,
        pattern: bytes | None,
        width: int,
        height: int,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Repeat a pattern over rows, from row to row."""
        queue = handle(queue, "queue")
        address(mem, "mem")
        pattern = pointer(pattern, "pattern")
        live_queue(queue)
        pattern = _cut(pattern, pattern_size)
        _check_room(queue, mem, pitch * height)
        waits = wait_list(num_events_in_wait_list, event_wait_list)
        filled = queue.fill_2d(
            mem, pitch, pattern, width, height, wait=waits, event=event is not None
        )
        write_event(event, filled)

    def urEnqueueUSMMemcpy2D(
        self,
        queue: Queue | None,
        blocking: bool,
        dst: HostMemory,
        dst_pitch: int,
        src: HostMemory,
        src_pitch: int,
        width: int,
        height: int,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Copy the bytes of rows; a blocking copy is complete on return."""
        queue = handle(queue, "queue")
        ends = ((dst, dst_pitch, "dst"), (src, src_pitch, "src"))
        for end, _, name in ends:
            if isinstance(end, int):
                address(end, name)
        live_queue(queue)
        for end, pitch, _ in ends:
            if isinstance(end, int):
                _check_room(queue, end, pitch * height)
        waits = wait_list(num_events_in_wait_list, event_wait_list)
        wanted = blocking or event is not None
        copied = queue.memcpy_2d(
            dst, dst_pitch, src, src_pitch, width, height, wait=waits, event=wanted
        )
        write_copied(event, copied, blocking)

    def urEnqueueUSMPrefetch(
        self,
        queue: Queue | None,
        mem: int,
        size: int,
        prefetch_flags: int,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Hint that shared memory will be used, by a `UsmMigrationFlag`."""
        queue = handle(queue, "queue")
        address(mem, "mem")
        flags(prefetch_flags, _MIGRATIONS, "The flags")
        _check_hint(live_queue(queue), mem, size)
        waits = wait_list(num_events_in_wait_list, event_wait_list)
        # Level Zero moves memory to a device only.
        steps = () if prefetch_flags == UsmMigrationFlag.DEVICE_TO_HOST else (Prefetch(mem, size),)
        _give_hints(queue, steps, waits, event, Command.USM_PREFETCH)

    def urEnqueueUSMAdvise(
        self,
        queue: Queue | None,
        mem: int,
        size: int,
        advice: int,
        event: Out[Event] | None,
    ) -> None:
        """Hint how shared memory will be used, by `UsmAdviceFlag`."""
        queue = handle(queue, "queue")
        address(mem, "mem")
        flags(advice, _ADVICE, "The advice")
        _check_hint(live_queue(queue), mem, size)
        device = queue.device.handle
        steps = [
            Advise(mem, size, device, known)
            for flag, known in _KNOWN_ADVICE.items()
            if advice & flag
        ]
        _give_hints(queue, steps, (), event, Command.USM_ADVISE)


def _cut(pattern: bytes, pattern_size: int) -> bytes:
    if not 0 < pattern_size <= len(pattern):
        raise InvalidSizeError(
            f"The pattern is said to have {pattern_size} bytes; it has {len(pattern)}."
        )
    return pattern[:pattern_size]


def _check_hint(queue: Queue, mem: int, size: int) -> None:
    if not size:
        raise InvalidSizeError(f"A hint for no bytes at {mem:#x}.")
    _check_room(queue, mem, size)


def _give_hints(
    queue: Queue,
    steps: Sequence[Hint],
    waits: Sequence[Event],
    event: Out[Event] | None,
    command: Command,
) -> None:
    """Hints for memory of the device, which does not move, and those that Level Zero does not know
    are only a place in the queue's order."""
    shared = [step for step in steps if _is_shared(queue, step.address)]
    if shared:
        given = queue.enqueue(shared, (), waits, event is not None, command)
    else:
        given = queue.place(waits, event is not None, command)
    write_event(event, given)


def _is_shared(queue: Queue, mem: int) -> bool:
    found = queue.context.find_allocation(mem)
    return found is not None and found.kind is UsmType.SHARED


def _allocate(
    queue: Queue | None,
    kind: UsmType,
    pool: Pool | None,
    size: int,
    properties: AsyncUsmAllocProperties | None,
    num_events_in_wait_list: int,
    event_wait_list: EventList,
    mem: Out[int] | None,
    event: Out[Event] | None,
) -> None:
    # This is what clients call most: a check is a call only where something may be wrong.
    if queue is None:
        queue = handle(queue, "queue")
    if mem is None:
        mem = pointer(mem, "mem")
    if properties is not None:
        flags(properties.flags, AsyncUsmAllocFlag.TBD, "The properties' flags")
    if queue.command_list.is_closing:
        live_queue(queue)
    if pool is not None:
        live_pool(pool)
    awaited: Sequence[Event] = ()
    if num_events_in_wait_list or event_wait_list is not None:
        awaited = wait_list(num_events_in_wait_list, event_wait_list)
    mem.value, signalled = queue.enqueue_alloc(kind, size, pool, awaited, event is not None)
    if signalled is not None:
        write_event(event, signalled)


def _check_room(queue: Queue, mem: int, size: int) -> None:
    """Raise InvalidSizeError if ``size`` bytes at ``mem`` go beyond the end of an allocation."""
    found = queue.context.find_allocation(mem)
    if found is not None and mem + size > found.base + found.nbytes:
        raise InvalidSizeError(
            f"{size} bytes at {mem:#x} go beyond the end of the {found.kind.name} allocation of "
            f"{found.nbytes} bytes at {found.base:#x}."
        )
