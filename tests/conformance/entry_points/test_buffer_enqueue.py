# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Commands on buffers, in a queue's order."""

from collections.abc import Callable, Iterator

import pytest

from tests.helpers.entries import Client, refused, written
from tests.helpers.gates import hold
from urasync_l0 import Command, Context, Event, Queue, UrError, UrResult
from urasync_l0.buffer import Buffer
from urasync_l0.descriptors import BufferProperties
from urasync_l0.enums import EventInfo, EventStatus, MapFlag, MemFlag, UsmPoolInfo
from urasync_l0.out import Out
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze import host_memory
from urasync_l0.ze.result import ZeResult

SIZE = 4096
CONTENT = bytes(i % 251 for i in range(SIZE))

MakeBuffer = Callable[..., Buffer]


@pytest.fixture
def make_buffer(client: Client, context: Context) -> Iterator[MakeBuffer]:
    made: list[Buffer] = []

    def make(flags: int = 0, host: int = 0, size: int = SIZE) -> Buffer:
        out: Out[Buffer] = Out()
        properties = BufferProperties(host) if host else None
        client.adapter.urMemBufferCreate(context, flags, size, properties, out)
        made.append(written(out))
        return made[-1]

    yield make
    for each in made:
        if not each.is_closed:
            client.adapter.urMemRelease(each)


@pytest.fixture
def buffer(make_buffer: MakeBuffer) -> Buffer:
    return make_buffer()


def info(client: Client, event: Event, prop_name: EventInfo) -> object:
    out: Out[object] = Out()
    client.adapter.urEventGetInfo(event, prop_name, 8, out, None)
    return written(out)


def read(client: Client, queue: Queue, buffer: Buffer, wait: list[Event] | None = None) -> bytes:
    target = bytearray(buffer.nbytes)
    client.adapter.urEnqueueMemBufferRead(
        queue, buffer, True, 0, buffer.nbytes, target, len(wait or ()), wait, None
    )
    return bytes(target)


def write(client: Client, queue: Queue, buffer: Buffer, content: bytes) -> None:
    client.adapter.urEnqueueMemBufferWrite(
        queue, buffer, False, 0, len(content), content, 0, None, None
    )


@pytest.mark.parametrize("blocking", [False, True])
def test_write_copy_fill_read(
    client: Client,
    queue: Queue,
    other_queue: Queue,
    make_buffer: MakeBuffer,
    controls: Controls,
    blocking: bool,
) -> None:
    """Across two queues by events, each with its type."""
    first, second = make_buffer(), make_buffer()
    outs: list[Out[Event]] = [Out() for _ in range(4)]
    adapter = client.adapter
    target = bytearray(SIZE)
    adapter.urEnqueueMemBufferWrite(queue, first, blocking, 0, SIZE, CONTENT, 0, None, outs[0])
    events = [written(outs[0])]
    adapter.urEnqueueMemBufferCopy(
        other_queue, first, second, 0, 1024, SIZE - 1024, 1, events[:], outs[1]
    )
    events.append(written(outs[1]))
    adapter.urEnqueueMemBufferFill(queue, second, b"\1\2\3\4", 4, 512, 512, 1, [events[1]], outs[2])
    events.append(written(outs[2]))
    adapter.urEnqueueMemBufferRead(
        other_queue, second, blocking, 512, SIZE - 512, target, 1, [events[2]], outs[3]
    )
    events.append(written(outs[3]))
    if blocking:
        for event in (events[0], events[3]):
            status = info(client, event, EventInfo.COMMAND_EXECUTION_STATUS)
            assert status == EventStatus.COMPLETE
    adapter.urEventWait(4, events)
    assert target[: SIZE - 512] == b"\1\2\3\4" * 128 + CONTENT[: SIZE - 1024]
    assert [info(client, event, EventInfo.COMMAND_TYPE) for event in events] == [
        Command.MEM_BUFFER_WRITE,
        Command.MEM_BUFFER_COPY,
        Command.MEM_BUFFER_FILL,
        Command.MEM_BUFFER_READ,
    ]
    client.release(*events)


def test_parts_of_memory_that_are_not_there(
    client: Client, context: Context, queue: Queue, make_buffer: MakeBuffer
) -> None:
    buffer, other = make_buffer(), make_buffer()
    room = bytearray(2 * SIZE)
    event: Out[Event] = Out()
    mapped: Out[int] = Out()
    adapter = client.adapter
    for offset, size in ((0, SIZE + 1), (SIZE, 1), (1, SIZE), (0, 0), (2**63, 2**63)):
        for blocking in (False, True):
            with refused(UrResult.INVALID_SIZE, event):
                adapter.urEnqueueMemBufferRead(
                    queue, buffer, blocking, offset, size, room, 0, None, event
                )
            with refused(UrResult.INVALID_SIZE, event):
                adapter.urEnqueueMemBufferWrite(
                    queue, buffer, blocking, offset, size, room, 0, None, event
                )
            with refused(UrResult.INVALID_SIZE, event, mapped):
                adapter.urEnqueueMemBufferMap(
                    queue, buffer, blocking, 1, offset, size, 0, None, event, mapped
                )
        for ends in ((offset, 0), (0, offset)):
            if max(ends) + size > SIZE or not size:
                with refused(UrResult.INVALID_SIZE, event):
                    adapter.urEnqueueMemBufferCopy(
                        queue, buffer, other, *ends, size, 0, None, event
                    )
        with refused(UrResult.INVALID_SIZE, event):
            adapter.urEnqueueMemBufferFill(queue, buffer, b"a", 1, offset, size, 0, None, event)
    for length, offset, size in ((0, 0, 4), (4, 2, 4), (4, 0, 6), (5, 0, 5)):
        with refused(UrResult.INVALID_SIZE, event):
            adapter.urEnqueueMemBufferFill(
                queue, buffer, b"abcd", length, offset, size, 0, None, event
            )
    with refused(UrResult.INVALID_NULL_POINTER, event):
        adapter.urEnqueueMemBufferRead(queue, buffer, False, 0, 1, 0, 0, None, event)
    strange = client.create_context(context.devices)
    out: Out[Buffer] = Out()
    adapter.urMemBufferCreate(strange, 0, SIZE, None, out)
    with refused(UrResult.INVALID_MEM_OBJECT, event):
        adapter.urEnqueueMemBufferRead(queue, out.value, False, 0, 1, room, 0, None, event)
    adapter.urMemRelease(out.value)
    adapter.urContextRelease(strange)
    assert strange.is_closed


# -- regions --------------------------------------------------------------------------------------


def region_of(content: bytes, origin: tuple[int, ...], region: tuple[int, ...]) -> bytes:
    """A region of a volume with rows of 16 bytes and slices of 8 rows."""
    (x, y, z), (width, height, depth) = origin, region
    starts = [(z + k) * 128 + (y + j) * 16 + x for k in range(depth) for j in range(height)]
    return b"".join(content[start : start + width] for start in starts)


@pytest.mark.parametrize("origin", [(0, 0, 0), (3, 1, 2)])
@pytest.mark.parametrize(
    "region", [(1, 1, 1), (5, 1, 1), (13, 7, 1), (5, 4, 3), (16, 8, 2)], ids=str
)
@pytest.mark.needs_execution("data is read back", strict=False)
def test_regions(
    client: Client,
    queue: Queue,
    make_buffer: MakeBuffer,
    origin: tuple[int, int, int],
    region: tuple[int, int, int],
) -> None:
    """Written to, copied between and read from buffers, with and without gaps."""
    if origin != (0, 0, 0) and region == (16, 8, 2):
        origin = (0, 0, 2)
    dense, volume = (0, 0), (16, 128)
    first, second = make_buffer(), make_buffer()
    write(client, queue, first, bytes(SIZE))
    write(client, queue, second, bytes(SIZE))
    adapter = client.adapter
    outs: list[Out[Event]] = [Out() for _ in range(3)]
    adapter.urEnqueueMemBufferWriteRect(
        queue, first, False, origin, origin, region, *volume, *volume, CONTENT, 0, None, outs[0]
    )
    expected = region_of(CONTENT, origin, region)
    there = read(client, queue, first)
    assert region_of(there, origin, region) == expected
    assert there.count(0) >= SIZE - len(expected)
    adapter.urEnqueueMemBufferCopyRect(
        queue, first, second, origin, (0, 0, 0), region, *volume, *dense, 0, None, outs[1]
    )
    assert read(client, queue, second)[: len(expected)] == expected
    target = bytearray(len(expected))
    adapter.urEnqueueMemBufferReadRect(
        queue, first, True, origin, (0, 0, 0), region, *volume, *dense, target, 0, None, outs[2]
    )
    assert target == expected
    events = [written(out) for out in outs]
    assert [info(client, event, EventInfo.COMMAND_TYPE) for event in events] == [
        Command.MEM_BUFFER_WRITE_RECT,
        Command.MEM_BUFFER_COPY_RECT,
        Command.MEM_BUFFER_READ_RECT,
    ]
    client.release(*events)


@pytest.mark.parametrize(
    ("origin", "region", "row_pitch", "slice_pitch"),
    [
        ((0, 0, 0), (0, 1, 1), 0, 0),
        ((0, 0, 0), (1, 0, 1), 0, 0),
        ((0, 0, 0), (1, 1, 0), 0, 0),
        ((0, 0, 0), (8, 2, 1), 7, 0),
        ((0, 0, 0), (8, 2, 2), 8, 15),
        ((0, 0, 0), (8, 2, 2), 8, 20),
        ((1, 0, 0), (SIZE, 1, 1), 0, 0),
        ((0, 0, 1), (16, 16, 16), 0, 0),
        ((0, 2**40, 2**40), (1, 1, 1), 2**40, 2**60),
    ],
)
def test_regions_that_cannot_be(
    client: Client,
    queue: Queue,
    make_buffer: MakeBuffer,
    origin: tuple[int, int, int],
    region: tuple[int, int, int],
    row_pitch: int,
    slice_pitch: int,
) -> None:
    first, second = make_buffer(), make_buffer()
    room = bytearray(2 * SIZE)
    zero = (0, 0, 0)
    event: Out[Event] = Out()
    wrong, right = (row_pitch, slice_pitch), (0, 0)
    adapter = client.adapter
    for blocking in (False, True):
        with refused(UrResult.INVALID_SIZE, event):
            adapter.urEnqueueMemBufferReadRect(
                queue, first, blocking, origin, zero, region, *wrong, *right, room, 0, None, event
            )
        with refused(UrResult.INVALID_SIZE, event):
            adapter.urEnqueueMemBufferWriteRect(
                queue, first, blocking, origin, zero, region, *wrong, *right, room, 0, None, event
            )
    for ends, pitches in (((origin, zero), (*wrong, *right)), ((zero, origin), (*right, *wrong))):
        with refused(UrResult.INVALID_SIZE, event):
            adapter.urEnqueueMemBufferCopyRect(
                queue, first, second, *ends, region, *pitches, 0, None, event
            )


# -- mapping --------------------------------------------------------------------------------------


def map_at(
    client: Client, queue: Queue, buffer: Buffer, flags: int, offset: int, size: int
) -> tuple[int, memoryview]:
    """Map with a wait; the address, and what is there."""
    out: Out[int] = Out()
    client.adapter.urEnqueueMemBufferMap(
        queue, buffer, True, flags, offset, size, 0, None, None, out
    )
    return written(out), host_memory.view(written(out), size, buffer)


@pytest.mark.parametrize("origin", ["own", "host", "client"])
@pytest.mark.needs_execution("data is read back")
def test_map_and_unmap(client: Client, queue: Queue, make_buffer: MakeBuffer, origin: str) -> None:
    """What the host reads is what is there, and what it writes is there afterwards."""
    room = bytearray(CONTENT)
    pinned = host_memory.pin(room, writable=True)
    if origin == "client":
        buffer = make_buffer(MemFlag.USE_HOST_POINTER, pinned.address)
    else:
        buffer = make_buffer(MemFlag.ALLOC_HOST_POINTER if origin == "host" else 0)
        write(client, queue, buffer, CONTENT)
    address, seen = map_at(client, queue, buffer, MapFlag.READ | MapFlag.WRITE, 256, 512)
    if origin == "host":
        assert address == buffer.address + 256
    if origin == "client":
        assert address == pinned.address + 256
    assert bytes(seen) == CONTENT[256:768]
    seen[:] = bytes(512)
    event: Out[Event] = Out()
    client.adapter.urEnqueueMemUnmap(queue, buffer, address, 0, None, event)
    assert info(client, written(event), EventInfo.COMMAND_TYPE) == Command.MEM_UNMAP
    expected = CONTENT[:256] + bytes(512) + CONTENT[768:]
    assert read(client, queue, buffer, [event.value]) == expected
    with refused(UrResult.INVALID_VALUE):
        client.adapter.urEnqueueMemUnmap(queue, buffer, address, 0, None, None)
    client.release(event.value)


@pytest.mark.needs_execution("data is read back")
def test_what_is_mapped_to_be_read_is_not_written_back(
    client: Client, context: Context, queue: Queue, buffer: Buffer
) -> None:
    write(client, queue, buffer, CONTENT)
    address, _ = map_at(client, queue, buffer, MapFlag.READ, 0, SIZE)
    client.adapter.urEnqueueMemBufferFill(queue, buffer, b"\7", 1, 0, SIZE, 0, None, None)
    client.adapter.urEnqueueMemUnmap(queue, buffer, address, 0, None, None)
    assert read(client, queue, buffer) == b"\7" * SIZE


def test_what_is_mapped_to_be_overwritten_is_not_read(
    client: Client, queue: Queue, controls: Controls, buffer: Buffer
) -> None:
    """The map is complete at its place in the order, not before."""
    event: Out[Event] = Out()
    out: Out[int] = Out()
    with hold(controls, queue):
        flag = MapFlag.WRITE_INVALIDATE_REGION
        client.adapter.urEnqueueMemBufferMap(
            queue, buffer, False, flag, 0, SIZE, 0, None, event, out
        )
        status = info(client, written(event), EventInfo.COMMAND_EXECUTION_STATUS)
        assert status != EventStatus.COMPLETE
    client.adapter.urEventWait(1, [event.value])
    assert info(client, event.value, EventInfo.COMMAND_TYPE) == Command.MEM_BUFFER_MAP
    host_memory.view(out.value, SIZE, buffer)[:] = CONTENT
    client.adapter.urEnqueueMemUnmap(queue, buffer, out.value, 0, None, None)
    assert read(client, queue, buffer) == CONTENT
    client.release(event.value)


@pytest.mark.needs_execution("data is read back")
def test_parts_are_mapped_several_times(client: Client, queue: Queue, buffer: Buffer) -> None:
    write(client, queue, buffer, CONTENT)
    mapped = [map_at(client, queue, buffer, MapFlag.WRITE, i * 16, 16) for i in range(4)]
    mapped += [map_at(client, queue, buffer, MapFlag.READ, 0, 64)]
    for i, (_, seen) in enumerate(mapped[:4]):
        seen[:] = bytes([i]) * 16
    for address, _ in mapped:
        client.adapter.urEnqueueMemUnmap(queue, buffer, address, 0, None, None)
    expected = b"".join(bytes([i]) * 16 for i in range(4)) + CONTENT[64:]
    assert read(client, queue, buffer) == expected


def test_what_is_left_mapped_goes_with_the_buffer(
    client: Client, context: Context, queue: Queue, buffer: Buffer
) -> None:
    before = client.pool_info(context.host_pool, UsmPoolInfo.USED_CURRENT_EXP)
    map_at(client, queue, buffer, MapFlag.READ | MapFlag.WRITE, 0, SIZE)
    client.adapter.urMemRelease(buffer)
    assert client.pool_info(context.host_pool, UsmPoolInfo.USED_CURRENT_EXP) <= before


def test_maps_that_cannot_be(client: Client, queue: Queue, buffer: Buffer) -> None:
    out: Out[int] = Out()
    event: Out[Event] = Out()
    adapter = client.adapter
    with refused(UrResult.INVALID_ENUMERATION, event, out):
        adapter.urEnqueueMemBufferMap(queue, buffer, False, 8, 0, 1, 0, None, event, out)
    with refused(UrResult.INVALID_NULL_POINTER, event):
        adapter.urEnqueueMemBufferMap(queue, buffer, False, 1, 0, 1, 0, None, event, None)
    with refused(UrResult.INVALID_NULL_POINTER, event):
        adapter.urEnqueueMemUnmap(queue, buffer, 0, 0, None, event)
    with refused(UrResult.INVALID_VALUE, event):
        adapter.urEnqueueMemUnmap(queue, buffer, 0x1234560000, 0, None, event)


def test_a_map_that_fails_leaves_nothing(
    client: Client, context: Context, queue: Queue, controls: Controls, buffer: Buffer
) -> None:
    """When the copy is refused, the host memory for it goes back."""
    address, _ = map_at(client, queue, buffer, MapFlag.READ, 0, SIZE)
    client.adapter.urEnqueueMemUnmap(queue, buffer, address, 0, None, None)
    out: Out[int] = Out()
    used = client.pool_info(context.host_pool, UsmPoolInfo.USED_CURRENT_EXP)
    controls.fail("zeCommandListAppendMemoryCopy", 1, int(ZeResult.ERROR_UNKNOWN))
    with pytest.raises(UrError, match="zeCommandListAppendMemoryCopy"):
        client.adapter.urEnqueueMemBufferMap(
            queue, buffer, False, MapFlag.READ, 0, SIZE, 0, None, None, out
        )
    assert not out.is_set
    client.adapter.urQueueFinish(queue)
    map_at(client, queue, buffer, MapFlag.WRITE_INVALIDATE_REGION, 0, SIZE)
    again = client.pool_info(context.host_pool, UsmPoolInfo.USED_CURRENT_EXP)
    assert again == used + SIZE
