# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory without a queue, and what is known about a pointer."""

from typing import Any

import pytest

from tests.helpers.entries import Client, refused, written
from tests.helpers.gates import hold
from tests.helpers.usm import MIB
from urasync_l0 import Context, Device, Pool, Queue, UrError, UrResult, UsmType
from urasync_l0.descriptors import Descriptor, UsmDesc, UsmDeviceDesc, UsmHostDesc, UsmPoolDesc
from urasync_l0.enums import UsmAllocInfo, UsmPoolFlag, UsmPoolInfo
from urasync_l0.out import Out
from urasync_l0.software_driver.controls import Controls


def allocate(
    client: Client,
    context: Context,
    kind: UsmType,
    device: Device,
    size: int,
    *,
    desc: UsmDesc | None = None,
    pool: Pool | None = None,
) -> int:
    mem: Out[int] = Out()
    client.usm_alloc(context, kind, device, size, mem, desc=desc, pool=pool)
    assert written(mem)
    return mem.value


def alloc_info(client: Client, context: Context, mem: int, prop_name: UsmAllocInfo) -> Any:
    size: Out[int] = Out()
    client.adapter.urUSMGetMemAllocInfo(context, mem, prop_name, 0, None, size)
    out: Out[Any] = Out()
    client.adapter.urUSMGetMemAllocInfo(context, mem, prop_name, written(size), out, None)
    return written(out)


@pytest.mark.parametrize("size", [1, 3, 8, 64, 1000, MIB])
@pytest.mark.needs_execution("data is read back")
def test_usable_at_once_by_every_queue(
    client: Client,
    context: Context,
    device: Device,
    queue: Queue,
    other_queue: Queue,
    kind: UsmType,
    size: int,
) -> None:
    """ERR-3: small sizes too."""
    mem = allocate(client, context, kind, device, size)
    filled = client.fill(queue, mem, b"\x3c", size)
    client.adapter.urEventWait(1, [filled])
    client.release(filled)
    assert client.read(other_queue, mem, size) == b"\x3c" * size
    client.adapter.urUSMFree(context, mem)


@pytest.mark.parametrize("enqueued", [False, True], ids=["allocated", "enqueued"])
@pytest.mark.parametrize("freed_in_order", [False, True], ids=["freed", "enqueued_free"])
def test_either_way_in_and_out(
    client: Client,
    context: Context,
    device: Device,
    queue: Queue,
    kind: UsmType,
    enqueued: bool,
    freed_in_order: bool,
) -> None:
    """Memory is freed in a queue's order or at once, however it was allocated."""
    pool = client.create_pool(context)
    if enqueued:
        mem = client.alloc_only(queue, kind, 1000, pool=pool)
    else:
        mem = allocate(client, context, kind, device, 1000, pool=pool)
    assert client.pool_info(pool, UsmPoolInfo.USED_CURRENT_EXP) == 1024
    if freed_in_order:
        client.free_only(queue, mem)
    else:
        client.adapter.urUSMFree(context, mem)
    assert client.pool_info(pool, UsmPoolInfo.USED_CURRENT_EXP) == 0
    client.adapter.urUSMPoolRelease(pool)


def test_free_waits_for_commands_before_it(
    client: Client, context: Context, device: Device, queue: Queue, controls: Controls
) -> None:
    """What UR's text asks for: here seen as a free that cannot end before the queue is let go."""
    mem = allocate(client, context, UsmType.DEVICE, device, MIB)
    with hold(controls, queue) as held:
        filled = client.fill(queue, mem, b"\x01", MIB)
        assert not filled.is_complete()
        held.release()
        client.adapter.urUSMFree(context, mem)
        assert filled.is_complete()
    client.release(filled)


# -- descriptors -----------------------------------------------------------------------------------


@pytest.mark.parametrize("align", [0, 1, 2, 64, 256, 512, 4096, 64 << 10])
def test_alignment(
    client: Client, context: Context, device: Device, kind: UsmType, align: int
) -> None:
    given = [
        allocate(client, context, kind, device, 100, desc=UsmDesc(align=align)) for _ in range(3)
    ]
    for mem in given:
        assert mem % max(align, 1) == 0
        client.adapter.urUSMFree(context, mem)


@pytest.mark.parametrize("align", [3, 48, 100, 128 << 10, 1 << 31])
def test_alignment_that_cannot_be(
    client: Client, context: Context, device: Device, kind: UsmType, align: int
) -> None:
    mem: Out[int] = Out()
    with refused(UrResult.INVALID_VALUE, mem):
        client.usm_alloc(context, kind, device, 100, mem, desc=UsmDesc(align=align))


@pytest.mark.parametrize(
    ("desc", "known"),
    [
        (UsmDesc(hints=(1 << 17) - 1), True),
        (UsmDesc(hints=1 << 17), False),
        (UsmDesc(next=UsmDeviceDesc(0b111)), True),
        (UsmDesc(next=UsmDeviceDesc(0b1000)), False),
        (UsmDesc(next=UsmHostDesc(1)), True),
        (UsmDesc(next=UsmHostDesc(2)), False),
        (UsmDesc(next=UsmHostDesc(1, next=UsmDeviceDesc(0b1000))), False),
        (UsmDesc(next=Descriptor(next=UsmDeviceDesc(1))), True),
    ],
    ids=repr,
)
def test_hints(
    client: Client, context: Context, device: Device, kind: UsmType, desc: UsmDesc, known: bool
) -> None:
    """All bits that UR knows are accepted, anywhere in a chain, and no others."""
    if known:
        mem = allocate(client, context, kind, device, 100, desc=desc)
        client.adapter.urUSMFree(context, mem)
        return
    out: Out[int] = Out()
    with refused(UrResult.INVALID_ENUMERATION, out):
        client.usm_alloc(context, kind, device, 100, out, desc=desc)


@pytest.mark.needs_execution("data is read back")
def test_pools_that_prepare_memory(
    client: Client, context: Context, device: Device, queue: Queue, kind: UsmType
) -> None:
    """ORD-12: zeros are there when the allocation returns, also in memory that was used before."""
    pool = client.create_pool(context, desc=UsmPoolDesc(UsmPoolFlag.ZERO_INITIALIZE_BLOCK))
    for _ in range(2):
        mem = allocate(client, context, kind, device, 1000, pool=pool)
        assert client.read(queue, mem, 1000) == bytes(1000)
        client.release(client.fill(queue, mem, b"\xff", 1000))
        client.adapter.urUSMFree(context, mem)
    client.adapter.urUSMPoolRelease(pool)


# -- what is known about a pointer -----------------------------------------------------------------


@pytest.mark.parametrize("enqueued", [False, True], ids=["allocated", "enqueued"])
@pytest.mark.parametrize("size", [1, 64, 1000, 3 * MIB])
def test_properties_of_a_pointer(
    client: Client,
    context: Context,
    device: Device,
    queue: Queue,
    kind: UsmType,
    enqueued: bool,
    size: int,
) -> None:
    """From our records, also where the driver does not know mapped memory; inside it as well."""
    pool = client.create_pool(context)
    if enqueued:
        mem = client.alloc_only(queue, kind, size, pool=pool)
    else:
        mem = allocate(client, context, kind, device, size, pool=pool)
    for pointer in (mem, mem + size - 1):
        assert alloc_info(client, context, pointer, UsmAllocInfo.TYPE) == kind
        assert alloc_info(client, context, pointer, UsmAllocInfo.BASE_PTR) == mem
        assert alloc_info(client, context, pointer, UsmAllocInfo.SIZE) == size
        owner = None if kind is UsmType.HOST else device
        assert alloc_info(client, context, pointer, UsmAllocInfo.DEVICE) is owner
        assert alloc_info(client, context, pointer, UsmAllocInfo.POOL) is pool
    client.adapter.urUSMFree(context, mem)
    client.adapter.urUSMPoolRelease(pool)


def test_pool_of_a_pointer_that_named_none(
    client: Client, context: Context, device: Device, queue: Queue, kind: UsmType
) -> None:
    mem = client.alloc_only(queue, kind, 64)
    pool = alloc_info(client, context, mem, UsmAllocInfo.POOL)
    if kind is not UsmType.HOST:
        default: Out[Pool] = Out()
        client.adapter.urUSMPoolGetDefaultDevicePoolExp(context, device, default)
        assert pool is default.value
    client.free_only(queue, mem)


def test_a_pool_that_is_gone_has_no_handle(
    client: Client, context: Context, device: Device, queue: Queue
) -> None:
    """The memory of a destroyed pool stays known; its pool is told while somebody holds it."""
    pool = client.create_pool(context, device)
    mem = client.alloc_only(queue, UsmType.DEVICE, 64, pool=pool)
    client.adapter.urUSMPoolDestroyExp(context, device, pool)
    assert alloc_info(client, context, mem, UsmAllocInfo.SIZE) == 64
    assert alloc_info(client, context, mem, UsmAllocInfo.POOL) is pool
    del pool
    out: Out[Any] = Out()
    with refused(UrResult.INVALID_VALUE, out):
        client.adapter.urUSMGetMemAllocInfo(context, mem, UsmAllocInfo.POOL, 8, out, None)
    client.free_only(queue, mem)


def test_unknown_pointers(client: Client, context: Context, queue: Queue, kind: UsmType) -> None:
    """Foreign and freed ones: their type is UNKNOWN, and nothing else is known."""
    freed = client.alloc_only(queue, kind, 64)
    client.free_only(queue, freed)
    for pointer in (0x1234500000, freed):
        assert alloc_info(client, context, pointer, UsmAllocInfo.TYPE) == UsmType.UNKNOWN
        for prop_name in set(UsmAllocInfo) - {UsmAllocInfo.TYPE}:
            out: Out[Any] = Out()
            with refused(UrResult.INVALID_MEM_OBJECT, out):
                client.adapter.urUSMGetMemAllocInfo(context, pointer, prop_name, 8, out, None)


def test_room_for_a_property(client: Client, context: Context, queue: Queue) -> None:
    """STAT-5's rule of sizes, for pointers."""
    mem = client.alloc_only(queue, UsmType.DEVICE, 64)
    for prop_name in UsmAllocInfo:
        size: Out[int] = Out()
        client.adapter.urUSMGetMemAllocInfo(context, mem, prop_name, 0, None, size)
        assert size.value == (4 if prop_name is UsmAllocInfo.TYPE else 8)
        for room in (0, size.value - 1):
            out: Out[Any] = Out()
            with refused(UrResult.INVALID_SIZE, out):
                client.adapter.urUSMGetMemAllocInfo(context, mem, prop_name, room, out, None)
    client.free_only(queue, mem)


def test_nothing_is_taken_when_memory_runs_out(
    client: Client, context: Context, device: Device, queue: Queue, kind: UsmType
) -> None:
    """ERR-1 through the entries: no cell, no event, no number; the pool works on."""
    pool = client.create_pool(context)
    client.adapter.urUSMPoolSetInfoExp(pool, UsmPoolInfo.MAXIMUM_SIZE_EXP, 4 * MIB, 8)
    held = client.alloc_only(queue, kind, MIB, pool=pool)
    numbers = [client.pool_info(pool, name) for name in tuple(UsmPoolInfo)[4:]]
    mem: Out[int] = Out()
    event: Out[Any] = Out()
    expected = UrResult.OUT_OF_DEVICE_MEMORY
    if kind is UsmType.HOST:
        expected = UrResult.OUT_OF_HOST_MEMORY
    with pytest.raises(UrError) as enqueued:
        client.enqueue_alloc(queue, kind, 8 * MIB, mem, event, pool=pool)
    with pytest.raises(UrError) as direct:
        client.usm_alloc(context, kind, device, 8 * MIB, mem, pool=pool)
    assert (enqueued.value.code, direct.value.code) == (expected, expected)
    assert isinstance(enqueued.value, MemoryError)
    assert not mem.is_set
    assert not event.is_set
    assert [client.pool_info(pool, name) for name in tuple(UsmPoolInfo)[4:]] == numbers
    client.free_only(queue, client.alloc_only(queue, kind, MIB, pool=pool))
    client.free_only(queue, held)
    client.adapter.urUSMPoolRelease(pool)
