# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entry points that put allocations, frees, fills and copies into a queue's order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from urasync_l0.entry_points._handles import (
    address,
    complete,
    flags,
    handle,
    live_pool,
    live_queue,
    pointer,
    wait_list,
    write_event,
)
from urasync_l0.enums import AsyncUsmAllocFlag, UsmType
from urasync_l0.result import InvalidSizeError

if TYPE_CHECKING:
    from urasync_l0.adapter import EventList, HostMemory
    from urasync_l0.descriptors import AsyncUsmAllocProperties
    from urasync_l0.out import Out
    from urasync_l0.queue import Queue
    from urasync_l0.recorded_event import Event
    from urasync_l0.usm_pool import Pool


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
        """See `Adapter`."""
        waits = num_events_in_wait_list, event_wait_list
        _allocate(queue, UsmType.DEVICE, pool, size, properties, waits, mem, event)

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
        """See `Adapter`."""
        waits = num_events_in_wait_list, event_wait_list
        _allocate(queue, UsmType.SHARED, pool, size, properties, waits, mem, event)

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
        """See `Adapter`."""
        waits = num_events_in_wait_list, event_wait_list
        _allocate(queue, UsmType.HOST, pool, size, properties, waits, mem, event)

    def urEnqueueUSMFreeExp(
        self,
        queue: Queue | None,
        pool: Pool | None,
        mem: int,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """See `Adapter`."""
        queue = handle(queue, "queue")
        address(mem, "mem")
        waits = wait_list(num_events_in_wait_list, event_wait_list)
        freed = queue.free(mem, pool, waits, event is not None)
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
        """See `Adapter`."""
        queue = handle(queue, "queue")
        address(mem, "mem")
        pattern = pointer(pattern, "pattern")
        live_queue(queue)
        if not 0 < pattern_size <= len(pattern):
            raise InvalidSizeError(
                f"The pattern is said to have {pattern_size} bytes; it has {len(pattern)}."
            )
        _check_room(queue, mem, size)
        waits = wait_list(num_events_in_wait_list, event_wait_list)
        filled = queue.fill(
            mem, pattern[:pattern_size], nbytes=size, wait=waits, event=event is not None
        )
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
        """See `Adapter`."""
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
        if blocking and copied is not None:
            complete(copied)
            if event is None:
                copied.release()
        write_event(event, copied)


def _allocate(
    queue: Queue | None,
    kind: UsmType,
    pool: Pool | None,
    size: int,
    properties: AsyncUsmAllocProperties | None,
    waits: tuple[int, EventList],
    mem: Out[int] | None,
    event: Out[Event] | None,
) -> None:
    queue = handle(queue, "queue")
    mem = pointer(mem, "mem")
    if properties is not None:
        flags(properties.flags, AsyncUsmAllocFlag.TBD, "The properties' flags")
    live_queue(queue)
    if pool is not None:
        live_pool(pool)
    awaited = wait_list(*waits)
    given, signalled = queue.enqueue_alloc(kind, size, pool, awaited, event is not None)
    mem.value = given
    write_event(event, signalled)


def _check_room(queue: Queue, mem: int, size: int) -> None:
    """Raise InvalidSizeError if ``size`` bytes at ``mem`` go beyond the end of an allocation."""
    found = queue.context.find_allocation(mem)
    if found is not None and mem + size > found.base + found.nbytes:
        raise InvalidSizeError(
            f"{size} bytes at {mem:#x} go beyond the end of the {found.kind.name} allocation of "
            f"{found.nbytes} bytes at {found.base:#x}."
        )
