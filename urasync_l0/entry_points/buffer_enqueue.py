# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entry points of commands on buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from urasync_l0.buffer import Buffer
from urasync_l0.entry_points._handles import (
    address,
    complete,
    flags,
    handle,
    live_buffer,
    live_queue,
    pointer,
    wait_list,
    write_copied,
    write_event,
)
from urasync_l0.enums import Command, MapFlag
from urasync_l0.rectangle import Region, Rows, check_region, plan_copy
from urasync_l0.result import InvalidSizeError
from urasync_l0.transfer import Copy, operand, plan_fill, transfer_size

if TYPE_CHECKING:
    from urasync_l0.entry_points.parameters import EventList, HostMemory, RectOffset, RectRegion
    from urasync_l0.out import Out
    from urasync_l0.queue import Queue
    from urasync_l0.recorded_event import Event
    from urasync_l0.transfer import Operand

_MAP_FLAGS = sum(MapFlag)


class BufferEnqueueEntryPoints:
    """``urEnqueueMem…``."""

    def urEnqueueMemBufferRead(
        self,
        queue: Queue | None,
        buffer: Buffer | None,
        blocking: bool,
        offset: int,
        size: int,
        dst: HostMemory,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Copy bytes of a buffer to the host."""
        queue, buffer = _live(queue, buffer)
        source = buffer.require(queue, offset, size)
        to = _host(dst, size, "dst", writable=True)
        waits = wait_list(num_events_in_wait_list, event_wait_list)
        step, wanted = Copy(to.address, source, size), blocking or event is not None
        read = queue.enqueue((step,), (to.keep,), waits, wanted, Command.MEM_BUFFER_READ)
        write_copied(event, read, blocking)

    def urEnqueueMemBufferWrite(
        self,
        queue: Queue | None,
        buffer: Buffer | None,
        blocking: bool,
        offset: int,
        size: int,
        src: HostMemory,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Copy bytes of the host to a buffer."""
        queue, buffer = _live(queue, buffer)
        to = buffer.require(queue, offset, size)
        source = _host(src, size, "src", writable=False)
        waits = wait_list(num_events_in_wait_list, event_wait_list)
        step, wanted = Copy(to, source.address, size), blocking or event is not None
        written = queue.enqueue((step,), (source.keep,), waits, wanted, Command.MEM_BUFFER_WRITE)
        write_copied(event, written, blocking)

    def urEnqueueMemBufferReadRect(
        self,
        queue: Queue | None,
        buffer: Buffer | None,
        blocking: bool,
        buffer_origin: RectOffset,
        host_origin: RectOffset,
        region: RectRegion,
        buffer_row_pitch: int,
        buffer_slice_pitch: int,
        host_row_pitch: int,
        host_slice_pitch: int,
        dst: HostMemory,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Copy a region of a buffer to the host. A pitch of 0 leaves no gaps."""
        queue, buffer = _live(queue, buffer)
        part = Region(*region)
        source = _rows(queue, buffer, part, buffer_origin, buffer_row_pitch, buffer_slice_pitch)
        to, keep = _host_rows(dst, "dst", part, host_origin, host_row_pitch, host_slice_pitch)
        waits = wait_list(num_events_in_wait_list, event_wait_list)
        steps, wanted = plan_copy(to, source, part), blocking or event is not None
        read = queue.enqueue(steps, (keep,), waits, wanted, Command.MEM_BUFFER_READ_RECT)
        write_copied(event, read, blocking)

    def urEnqueueMemBufferWriteRect(
        self,
        queue: Queue | None,
        buffer: Buffer | None,
        blocking: bool,
        buffer_origin: RectOffset,
        host_origin: RectOffset,
        region: RectRegion,
        buffer_row_pitch: int,
        buffer_slice_pitch: int,
        host_row_pitch: int,
        host_slice_pitch: int,
        src: HostMemory,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Copy a region of the host to a buffer; as `urEnqueueMemBufferReadRect`."""
        queue, buffer = _live(queue, buffer)
        part = Region(*region)
        to = _rows(queue, buffer, part, buffer_origin, buffer_row_pitch, buffer_slice_pitch)
        source, keep = _host_rows(src, "src", part, host_origin, host_row_pitch, host_slice_pitch)
        waits = wait_list(num_events_in_wait_list, event_wait_list)
        steps, wanted = plan_copy(to, source, part), blocking or event is not None
        written = queue.enqueue(steps, (keep,), waits, wanted, Command.MEM_BUFFER_WRITE_RECT)
        write_copied(event, written, blocking)

    def urEnqueueMemBufferCopy(
        self,
        queue: Queue | None,
        buffer_src: Buffer | None,
        buffer_dst: Buffer | None,
        src_offset: int,
        dst_offset: int,
        size: int,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Copy bytes between buffers, or places of one that do not overlap."""
        queue, buffer_src = _live(queue, buffer_src)
        queue, buffer_dst = _live(queue, buffer_dst)
        source = buffer_src.require(queue, src_offset, size)
        to = buffer_dst.require(queue, dst_offset, size)
        waits = wait_list(num_events_in_wait_list, event_wait_list)
        step = Copy(to, source, size)
        copied = queue.enqueue((step,), (), waits, event is not None, Command.MEM_BUFFER_COPY)
        write_event(event, copied)

    def urEnqueueMemBufferCopyRect(
        self,
        queue: Queue | None,
        buffer_src: Buffer | None,
        buffer_dst: Buffer | None,
        src_origin: RectOffset,
        dst_origin: RectOffset,
        region: RectRegion,
        src_row_pitch: int,
        src_slice_pitch: int,
        dst_row_pitch: int,
        dst_slice_pitch: int,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Copy a region between buffers; as `urEnqueueMemBufferReadRect`."""
        queue, buffer_src = _live(queue, buffer_src)
        queue, buffer_dst = _live(queue, buffer_dst)
        part = Region(*region)
        source = _rows(queue, buffer_src, part, src_origin, src_row_pitch, src_slice_pitch)
        to = _rows(queue, buffer_dst, part, dst_origin, dst_row_pitch, dst_slice_pitch)
        waits = wait_list(num_events_in_wait_list, event_wait_list)
        steps = plan_copy(to, source, part)
        copied = queue.enqueue(steps, (), waits, event is not None, Command.MEM_BUFFER_COPY_RECT)
        write_event(event, copied)

    def urEnqueueMemBufferFill(
        self,
        queue: Queue | None,
        buffer: Buffer | None,
        pattern: bytes | None,
        pattern_size: int,
        offset: int,
        size: int,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Repeat a pattern over a part of a buffer."""
        handle(queue, "queue")
        handle(buffer, "buffer")
        pattern = pointer(pattern, "pattern")
        queue, buffer = _live(queue, buffer)
        to = buffer.require(queue, offset, size)
        if not 0 < pattern_size <= len(pattern) or offset % pattern_size:
            raise InvalidSizeError(
                f"A pattern of {pattern_size} bytes, of which {len(pattern)} are there, cannot "
                f"begin at {offset}."
            )
        pattern = pattern[:pattern_size]
        waits = wait_list(num_events_in_wait_list, event_wait_list)
        plan = plan_fill(to, pattern, size, queue.device.max_fill_pattern)
        wanted = event is not None
        filled = queue.enqueue(plan.steps, (plan.keep,), waits, wanted, Command.MEM_BUFFER_FILL)
        write_event(event, filled)

    def urEnqueueMemBufferMap(
        self,
        queue: Queue | None,
        buffer: Buffer | None,
        blocking: bool,
        map_flags: int,
        offset: int,
        size: int,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
        ret_map: Out[int] | None,
    ) -> None:
        """Give the host a part of a buffer, by `MapFlag`, at an address that it may use when the
        command is complete."""
        handle(queue, "queue")
        handle(buffer, "buffer")
        ret_map = pointer(ret_map, "ret_map")
        flags(map_flags, _MAP_FLAGS, "The flags")
        queue, buffer = _live(queue, buffer)
        buffer.require(queue, offset, size)
        waits = wait_list(num_events_in_wait_list, event_wait_list)
        wanted = blocking or event is not None
        mapped_to, mapped = buffer.map(queue, map_flags, offset, size, waits, wanted)
        if blocking and mapped is not None:
            try:
                complete(mapped)
            except BaseException:
                buffer.forget(mapped_to)
                raise
            if event is None:
                mapped.release()
        ret_map.value = mapped_to
        write_event(event, mapped)

    def urEnqueueMemUnmap(
        self,
        queue: Queue | None,
        mem: Buffer | None,
        mapped_ptr: int,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Take a mapped part back, with what the host wrote to it."""
        handle(queue, "queue")
        handle(mem, "memory object")
        address(mapped_ptr, "mapped_ptr")
        queue, mem = _live(queue, mem)
        waits = wait_list(num_events_in_wait_list, event_wait_list)
        write_event(event, mem.unmap(queue, mapped_ptr, waits, event is not None))


def _live(queue: Queue | None, buffer: Buffer | None) -> tuple[Queue, Buffer]:
    queue, buffer = handle(queue, "queue"), handle(buffer, "buffer")
    return live_queue(queue), live_buffer(buffer)


def _host(target: HostMemory, size: int, name: str, *, writable: bool) -> Operand:
    if isinstance(target, int):
        address(target, name)
    found = operand(target, 0, writable=writable)
    transfer_size(size, found)
    return found


def _rows(
    queue: Queue,
    buffer: Buffer,
    region: Region,
    origin: RectOffset,
    row_pitch: int,
    slice_pitch: int,
) -> Rows:
    rows = _placed(region, origin, row_pitch, slice_pitch)
    start = buffer.require(queue, rows.address, rows.extent(region))
    return rows._replace(address=start)


def _host_rows(
    target: HostMemory,
    name: str,
    region: Region,
    origin: RectOffset,
    row_pitch: int,
    slice_pitch: int,
) -> tuple[Rows, object]:
    rows = _placed(region, origin, row_pitch, slice_pitch)
    found = _host(target, rows.address + rows.extent(region), name, writable=name == "dst")
    return rows._replace(address=found.address + rows.address), found.keep


def _placed(region: Region, origin: RectOffset, row_pitch: int, slice_pitch: int) -> Rows:
    """The rows of a region, from address 0 on; a pitch of 0 leaves no gaps."""
    row_pitch = row_pitch or region.width
    dense = region.height * row_pitch
    slice_pitch = slice_pitch or dense
    x, y, z = origin
    rows = Rows(z * slice_pitch + y * row_pitch + x, row_pitch, slice_pitch)
    check_region(region, rows)
    if slice_pitch < dense or slice_pitch % row_pitch:
        raise InvalidSizeError(
            f"Slices cannot lie {slice_pitch} bytes apart if their {region.height} rows lie "
            f"{row_pitch} bytes apart."
        )
    return rows
