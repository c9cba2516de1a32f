# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory objects that are buffers: what they are, and how long their memory lives."""

from collections.abc import Iterator

import pytest

from tests.helpers.entries import Client, refused, written
from tests.helpers.gates import hold
from urasync_l0 import Context, Device, Queue, UrResult, UsmType
from urasync_l0.buffer import Buffer
from urasync_l0.descriptors import BufferProperties, BufferRegion, NativeHandleProperties
from urasync_l0.enums import MemFlag, MemInfo
from urasync_l0.out import Out
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze import host_memory
from urasync_l0.ze import memory as ze_memory

SIZE = 4096
CONTENT = bytes(i % 251 for i in range(SIZE))


def create(
    client: Client, context: Context, size: int = SIZE, flags: int = 0, host: int = 0
) -> Buffer:
    out: Out[Buffer] = Out()
    properties = BufferProperties(host) if host else None
    client.adapter.urMemBufferCreate(context, flags, size, properties, out)
    return written(out)


def read(client: Client, queue: Queue, buffer: Buffer, size: int = SIZE) -> bytes:
    target = bytearray(size)
    client.adapter.urEnqueueMemBufferRead(queue, buffer, True, 0, size, target, 0, None, None)
    return bytes(target)


def info(client: Client, buffer: Buffer, prop_name: MemInfo) -> tuple[object, int]:
    out: Out[object] = Out()
    size: Out[int] = Out()
    client.adapter.urMemGetInfo(buffer, prop_name, 8, out, size)
    return written(out), written(size)


@pytest.fixture
def buffer(client: Client, context: Context) -> Iterator[Buffer]:
    made = create(client, context)
    yield made
    if not made.is_closed:
        client.adapter.urMemRelease(made)


def test_what_a_buffer_is(client: Client, context: Context, buffer: Buffer) -> None:
    """Device memory, or host memory where the devices of the context share no other."""
    assert info(client, buffer, MemInfo.SIZE) == (SIZE, 8)
    assert info(client, buffer, MemInfo.CONTEXT) == (context, 8)
    assert info(client, buffer, MemInfo.REFERENCE_COUNT) == (1, 4)
    found = context.find_allocation(buffer.address)
    assert found is not None
    assert found.nbytes == SIZE
    assert found.kind is (UsmType.DEVICE if len(context.devices) == 1 else UsmType.HOST)
    with refused(UrResult.UNSUPPORTED_ENUMERATION):
        client.adapter.urMemGetInfo(buffer, 99, 8, Out(), None)
    with refused(UrResult.INVALID_SIZE):
        client.adapter.urMemGetInfo(buffer, MemInfo.SIZE, 4, Out(), None)


def test_references(client: Client, context: Context, buffer: Buffer) -> None:
    client.adapter.urMemRetain(buffer)
    assert info(client, buffer, MemInfo.REFERENCE_COUNT) == (2, 4)
    client.adapter.urMemRelease(buffer)
    client.adapter.urMemRelease(buffer)
    with refused(UrResult.INVALID_MEM_OBJECT):
        client.adapter.urMemRelease(buffer)
    with refused(UrResult.INVALID_MEM_OBJECT):
        client.adapter.urMemGetInfo(buffer, MemInfo.SIZE, 8, Out(), None)
    assert context.find_allocation(buffer.address) is None


@pytest.mark.parametrize("flag", [MemFlag.USE_HOST_POINTER, MemFlag.ALLOC_COPY_HOST_POINTER])
@pytest.mark.needs_execution("data is read back")
def test_the_first_content(client: Client, context: Context, queue: Queue, flag: MemFlag) -> None:
    """It is there when the call returns; the host's memory may change then."""
    source = bytearray(CONTENT)
    pinned = host_memory.pin(source, writable=True)
    buffer = create(client, context, flags=flag, host=pinned.address)
    source[:] = bytes(SIZE)
    assert read(client, queue, buffer) == CONTENT
    client.adapter.urMemRelease(buffer)


@pytest.mark.parametrize(
    ("size", "flags", "host", "code"),
    [
        (0, 0, 0, UrResult.INVALID_BUFFER_SIZE),
        (2**62, 0, 0, UrResult.INVALID_BUFFER_SIZE),
        (SIZE, 1 << 6, 0, UrResult.INVALID_ENUMERATION),
        (SIZE, MemFlag.USE_HOST_POINTER, 0, UrResult.INVALID_HOST_PTR),
        (SIZE, MemFlag.ALLOC_COPY_HOST_POINTER, 0, UrResult.INVALID_HOST_PTR),
        (SIZE, MemFlag.READ_WRITE, 64, UrResult.INVALID_HOST_PTR),
        (SIZE, MemFlag.READ_ONLY | MemFlag.WRITE_ONLY, 0, UrResult.INVALID_VALUE),
        (
            SIZE,
            MemFlag.USE_HOST_POINTER | MemFlag.ALLOC_HOST_POINTER,
            64,
            UrResult.INVALID_VALUE,
        ),
    ],
)
def test_buffers_that_cannot_be(
    client: Client, context: Context, size: int, flags: int, host: int, code: UrResult
) -> None:
    out: Out[Buffer] = Out()
    with refused(code, out):
        client.adapter.urMemBufferCreate(context, flags, size, BufferProperties(host), out)


def test_memory_lives_until_the_queues_have_passed(
    client: Client, context: Context, queue: Queue, controls: Controls
) -> None:
    """The release does not wait, and nobody gets the memory before the copy has read it."""
    buffer = create(client, context)
    client.adapter.urEnqueueMemBufferWrite(queue, buffer, True, 0, SIZE, CONTENT, 0, None, None)
    target = bytearray(SIZE)
    with hold(controls, queue):
        client.adapter.urEnqueueMemBufferRead(queue, buffer, False, 0, SIZE, target, 0, None, None)
        client.adapter.urMemRelease(buffer)
        assert context.find_allocation(buffer.address) is not None
        other = create(client, context)
        assert other.address != buffer.address
        assert target == bytes(SIZE)
    client.adapter.urQueueFinish(queue)
    assert target == CONTENT
    client.adapter.urMemRelease(other)
    assert context.find_allocation(buffer.address) is None


# -- parts ----------------------------------------------------------------------------------------


def part_of(client: Client, buffer: Buffer, origin: int, size: int, flags: int = 0) -> Buffer:
    out: Out[Buffer] = Out()
    client.adapter.urMemBufferPartition(buffer, flags, 0, BufferRegion(origin, size), out)
    return written(out)


@pytest.mark.needs_execution("data is read back")
def test_a_part_is_the_same_memory(client: Client, queue: Queue, buffer: Buffer) -> None:
    part = part_of(client, buffer, 1024, 512)
    client.adapter.urEnqueueMemBufferFill(queue, buffer, b"\1", 1, 0, SIZE, 0, None, None)
    client.adapter.urEnqueueMemBufferFill(queue, part, b"\2", 1, 0, 512, 0, None, None)
    expected = b"\1" * 1024 + b"\2" * 512 + b"\1" * (SIZE - 1536)
    assert read(client, queue, buffer) == expected
    inner = part_of(client, part, 256, 256)
    assert read(client, queue, inner, 256) == b"\2" * 256
    with refused(UrResult.INVALID_SIZE):
        read(client, queue, part, 513)
    client.adapter.urMemRelease(part)
    client.adapter.urMemRelease(inner)


@pytest.mark.needs_execution("data is read back")
def test_a_part_keeps_the_memory(client: Client, context: Context, queue: Queue) -> None:
    buffer = create(client, context)
    part = part_of(client, buffer, 0, 512)
    client.adapter.urEnqueueMemBufferFill(queue, buffer, b"\3", 1, 0, SIZE, 0, None, None)
    client.adapter.urMemRelease(buffer)
    assert read(client, queue, part, 512) == b"\3" * 512
    client.adapter.urMemRelease(part)
    assert context.find_allocation(part.address) is None


def test_parts_that_cannot_be(client: Client, context: Context, buffer: Buffer) -> None:
    out: Out[Buffer] = Out()
    partition = client.adapter.urMemBufferPartition
    for origin, size in ((0, 0), (0, SIZE + 1), (SIZE, 1), (2**63, 2**63)):
        with refused(UrResult.INVALID_BUFFER_SIZE, out):
            partition(buffer, 0, 0, BufferRegion(origin, size), out)
    with refused(UrResult.INVALID_ENUMERATION, out):
        partition(buffer, 0, 1, BufferRegion(0, 1), out)
    with refused(UrResult.INVALID_VALUE, out):
        partition(buffer, MemFlag.ALLOC_HOST_POINTER, 0, BufferRegion(0, 1), out)
    read_only = create(client, context, flags=MemFlag.READ_ONLY)
    for flag in (MemFlag.READ_WRITE, MemFlag.WRITE_ONLY):
        with refused(UrResult.INVALID_VALUE, out):
            partition(read_only, flag, 0, BufferRegion(0, 1), out)
    part = part_of(client, read_only, 0, 1, MemFlag.READ_ONLY)
    client.adapter.urMemRelease(part)
    client.adapter.urMemRelease(read_only)


# -- native handles -------------------------------------------------------------------------------


def test_the_native_handle_is_the_address(client: Client, device: Device, buffer: Buffer) -> None:
    out: Out[int] = Out()
    for given in (None, device):
        client.adapter.urMemGetNativeHandle(buffer, given, out)
        assert written(out) == buffer.address


@pytest.mark.parametrize("owned", [False, True])
@pytest.mark.parametrize("of_the_driver", [False, True])
@pytest.mark.needs_execution("data is read back")
def test_a_buffer_over_memory_that_exists(
    client: Client, context: Context, queue: Queue, kind: UsmType, owned: bool, of_the_driver: bool
) -> None:
    """Of our pools, or of somebody who allocated from the driver in our native context."""
    native = context.native.handle
    if not of_the_driver:
        mem = client.alloc_only(queue, kind, SIZE)
    elif kind is UsmType.HOST:
        mem = ze_memory.alloc_host(native, SIZE)
    elif kind is UsmType.DEVICE:
        mem = ze_memory.alloc_device(native, queue.device.handle, SIZE)
    else:
        mem = ze_memory.alloc_shared(native, queue.device.handle, SIZE)
    out: Out[Buffer] = Out()
    properties = NativeHandleProperties(owned)
    client.adapter.urMemBufferCreateWithNativeHandle(mem, context, properties, out)
    buffer = written(out)
    assert info(client, buffer, MemInfo.SIZE) >= (SIZE, 8)
    client.adapter.urEnqueueMemBufferWrite(queue, buffer, False, 0, SIZE, CONTENT, 0, None, None)
    assert client.read(queue, mem, SIZE) == CONTENT
    client.adapter.urMemRelease(buffer)
    known = ze_memory.get_alloc_properties(native, mem).type
    if of_the_driver:
        assert (known is ze_memory.MemoryType.UNKNOWN) == owned
        if not owned:
            ze_memory.free(native, mem)
    else:
        assert (context.find_allocation(mem) is None) == owned
        if not owned:
            client.free_only(queue, mem)


def test_memory_that_no_buffer_can_be_over(client: Client, context: Context, queue: Queue) -> None:
    out: Out[Buffer] = Out()
    make = client.adapter.urMemBufferCreateWithNativeHandle
    with refused(UrResult.INVALID_NULL_POINTER, out):
        make(0, context, None, out)
    mem = client.alloc_only(queue, UsmType.DEVICE, SIZE)
    with refused(UrResult.INVALID_VALUE, out):
        make(mem + 16, context, NativeHandleProperties(True), out)
    make(mem + 16, context, None, out)
    assert info(client, out.value, MemInfo.SIZE) == (SIZE - 16, 8)
    client.adapter.urMemRelease(out.value)
    client.free_only(queue, mem)
    unknown: Out[Buffer] = Out()
    with pytest.raises(ValueError, match="not in memory"):
        make(0x1234560000, context, None, unknown)
    assert not unknown.is_set
