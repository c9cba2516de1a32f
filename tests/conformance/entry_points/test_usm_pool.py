# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entry points of pools: making, destroying, the current pool of a device, numbers and limits."""

import gc
from collections.abc import Callable
from typing import Any

import pytest

from tests.helpers.calls import LevelZeroCalls
from tests.helpers.entries import Client, refused, written
from tests.helpers.gates import hold
from tests.helpers.usm import MIB
from urasync_l0 import (
    Context,
    Device,
    Event,
    InvalidValueError,
    Pool,
    Queue,
    UrResult,
    UsmType,
)
from urasync_l0.descriptors import UsmPoolBufferDesc, UsmPoolDesc, UsmPoolLimitsDesc
from urasync_l0.enums import UsmPoolFlag, UsmPoolInfo
from urasync_l0.out import Out
from urasync_l0.software_driver.controls import Controls

Making = Callable[[UsmPoolDesc | None, Out[Pool] | None], None]

KEPT = 2**64 - 1


@pytest.fixture(params=["of_the_context", "of_a_device"])
def make(
    request: pytest.FixtureRequest, client: Client, context: Context, device: Device
) -> Making:
    """Either way to make a pool."""

    def make(desc: UsmPoolDesc | None, out: Out[Pool] | None) -> None:
        if request.param == "of_a_device":
            client.adapter.urUSMPoolCreateExp(context, device, desc, out)
        else:
            client.adapter.urUSMPoolCreate(context, desc, out)

    return make


def made(make: Making, desc: UsmPoolDesc) -> Pool:
    out: Out[Pool] = Out()
    make(desc, out)
    return written(out)


def current_pool(client: Client, context: Context, device: Device) -> Pool:
    out: Out[Pool] = Out()
    client.adapter.urUSMPoolGetDevicePoolExp(context, device, out)
    return written(out)


def default_pool(client: Client, context: Context, device: Device) -> Pool:
    out: Out[Pool] = Out()
    client.adapter.urUSMPoolGetDefaultDevicePoolExp(context, device, out)
    return written(out)


# -- make and destroy ------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", range(8))
def test_every_combination_of_flags(client: Client, make: Making, bits: int) -> None:
    pool = made(make, UsmPoolDesc(bits))
    assert pool.flags == UsmPoolFlag(bits)
    client.adapter.urUSMPoolRelease(pool)


@pytest.mark.parametrize("bits", [1 << 3, 0b1111, 1 << 31])
def test_unknown_flags(make: Making, bits: int) -> None:
    out: Out[Pool] = Out()
    with refused(UrResult.INVALID_ENUMERATION, out):
        make(UsmPoolDesc(bits), out)


def test_kinds_that_a_pool_serves(
    client: Client, context: Context, device: Device, queue: Queue, kind: UsmType
) -> None:
    """ERR-11 and the design: a context's pool serves all kinds, a device's all but host."""
    for pool in (client.create_pool(context), client.create_pool(context, device)):
        if kind is UsmType.HOST and pool.device is not None:
            out: Out[int] = Out()
            with refused(UrResult.INVALID_ARGUMENT, out):
                client.enqueue_alloc(queue, kind, 100, out, pool=pool)
        else:
            mem = client.alloc_only(queue, kind, 100, pool=pool)
            assert client.pool_info(pool, UsmPoolInfo.USED_CURRENT_EXP) == 256
            client.free_only(queue, mem)
        client.adapter.urUSMPoolRelease(pool)


def test_limits(client: Client, make: Making, queue: Queue) -> None:
    """Larger allocations get memory of their own; the driver is asked for a minimum at a time."""
    limits = UsmPoolLimitsDesc(max_poolable_size=MIB, min_driver_alloc_size=8 * MIB)
    pool = made(make, UsmPoolDesc(next=limits))
    client.adapter.urUSMPoolSetInfoExp(pool, UsmPoolInfo.RELEASE_THRESHOLD_EXP, KEPT, 8)
    small = client.alloc_only(queue, UsmType.SHARED, MIB, pool=pool)
    reserved = client.pool_info(pool, UsmPoolInfo.RESERVED_CURRENT_EXP)
    assert reserved >= 8 * MIB
    large = client.alloc_only(queue, UsmType.SHARED, MIB + 1, pool=pool)
    assert client.pool_info(pool, UsmPoolInfo.RESERVED_CURRENT_EXP) > reserved
    client.free_only(queue, large)
    client.free_only(queue, small)
    client.adapter.urQueueFinish(queue)
    assert client.pool_info(pool, UsmPoolInfo.RESERVED_CURRENT_EXP) == reserved
    client.adapter.urUSMPoolRelease(pool)


def test_no_allocation_is_pooled_above_a_limit_of_0(
    client: Client, make: Making, queue: Queue
) -> None:
    pool = made(make, UsmPoolDesc(next=UsmPoolLimitsDesc()))
    client.adapter.urUSMPoolSetInfoExp(pool, UsmPoolInfo.RELEASE_THRESHOLD_EXP, KEPT, 8)
    client.free_only(queue, client.alloc_only(queue, UsmType.SHARED, 64, pool=pool))
    client.adapter.urQueueFinish(queue)
    assert client.pool_info(pool, UsmPoolInfo.RESERVED_CURRENT_EXP) == 0
    client.adapter.urUSMPoolRelease(pool)


def test_pool_inside_memory_of_the_user(
    client: Client, context: Context, device: Device, queue: Queue, kind: UsmType
) -> None:
    """It hands out that memory and no other, and never gives it to the driver."""
    outer = client.alloc_only(queue, kind, 4 * MIB)
    owner = None if kind is UsmType.HOST else device
    start, size = outer + MIB, 2 * MIB
    buffer = UsmPoolBufferDesc(start, size, kind, owner)
    pool = client.create_pool(context, owner, UsmPoolDesc(next=buffer))
    given = []
    out: Out[int] = Out()
    with LevelZeroCalls() as calls:
        given = [client.alloc_only(queue, kind, 512 << 10, pool=pool) for _ in range(3)]
    assert calls.total == 0
    assert all(start <= mem and mem + (512 << 10) <= start + size for mem in given)
    with pytest.raises(MemoryError):
        client.enqueue_alloc(queue, kind, MIB, out, pool=pool)
    assert not out.is_set
    for mem in given:
        client.free_only(queue, mem)
    client.adapter.urUSMPoolRelease(pool)
    client.release(client.fill(queue, outer, b"\x01", 4 * MIB))
    client.free_only(queue, outer)


def test_buffers_that_cannot_be(
    client: Client, context: Context, device: Device, queue: Queue, kind: UsmType
) -> None:
    mem = client.alloc_only(queue, kind, MIB)
    owner = None if kind is UsmType.HOST else device
    other_kind = UsmType.SHARED if kind is not UsmType.SHARED else UsmType.DEVICE
    cases = [
        (UrResult.INVALID_NULL_POINTER, UsmPoolBufferDesc(0, MIB, kind, owner)),
        (UrResult.INVALID_MEM_OBJECT, UsmPoolBufferDesc(0x1234500000, MIB, kind, owner)),
        (UrResult.INVALID_VALUE, UsmPoolBufferDesc(mem, MIB + 1, kind, owner)),
        (UrResult.INVALID_VALUE, UsmPoolBufferDesc(mem + 4096, MIB, kind, owner)),
        (UrResult.INVALID_VALUE, UsmPoolBufferDesc(mem, 256, kind, owner)),
        (UrResult.INVALID_VALUE, UsmPoolBufferDesc(mem + 8, 4096, kind, owner)),
        (UrResult.INVALID_VALUE, UsmPoolBufferDesc(mem, MIB, other_kind, owner)),
    ]
    if kind is UsmType.HOST:
        cases.append((UrResult.INVALID_VALUE, UsmPoolBufferDesc(mem, MIB, kind, device)))
    out: Out[Pool] = Out()
    for code, buffer in cases:
        with refused(code, out):
            client.adapter.urUSMPoolCreate(context, UsmPoolDesc(next=buffer), out)
    client.free_only(queue, mem)


@pytest.mark.needs_execution("data is read back")
def test_references(client: Client, make: Making, queue: Queue) -> None:
    """The last release destroys the pool; memory in use stays valid."""
    pool = made(make, UsmPoolDesc())
    client.adapter.urUSMPoolRetain(pool)
    assert client.pool_info(pool, UsmPoolInfo.REFERENCE_COUNT) == 2
    client.adapter.urUSMPoolRelease(pool)
    assert client.pool_info(pool, UsmPoolInfo.REFERENCE_COUNT) == 1
    assert client.pool_info(pool, UsmPoolInfo.CONTEXT) is pool.context
    mem = client.alloc_only(queue, UsmType.DEVICE, 100, pool=pool)
    client.adapter.urUSMPoolRelease(pool)
    with refused(UrResult.INVALID_VALUE):
        client.adapter.urUSMPoolRelease(pool)
    client.release(client.fill(queue, mem, b"\x09", 100))
    assert client.read(queue, mem, 100) == b"\x09" * 100
    client.free_only(queue, mem)


def test_destroy_with_memory_in_use(
    client: Client,
    context: Context,
    device: Device,
    queue: Queue,
    controls: Controls,
    kind: UsmType,
) -> None:
    """LIFE-5: nothing goes before the last allocation is freed and complete; then all goes."""
    pool = client.create_pool(context)
    mem = client.alloc_only(queue, kind, 4 * MIB, pool=pool)
    out: Out[int] = Out()

    def held_by_the_driver() -> int:
        objects = controls.live_objects()
        return sum(number for name, number in objects.items() if name.endswith("_memory"))

    before = held_by_the_driver()
    with hold(controls, queue):
        client.release(client.fill(queue, mem, b"\x77", 4 * MIB))
        client.adapter.urUSMPoolDestroyExp(context, device, pool)
        with refused(UrResult.INVALID_VALUE, out):
            client.enqueue_alloc(queue, kind, 100, out, pool=pool)
        with refused(UrResult.INVALID_VALUE):
            client.adapter.urUSMPoolDestroyExp(context, device, pool)
        client.free_only(queue, mem)
        assert pool.reserved_bytes >= 4 * MIB
        assert held_by_the_driver() == before
    client.adapter.urQueueFinish(queue)
    assert pool.reserved_bytes == 0
    assert held_by_the_driver() < before


# -- default and current pools ---------------------------------------------------------------------


def test_default_pool(client: Client, context: Context) -> None:
    """One for each device, always the same, current at first, not to be destroyed or released."""
    pools = [default_pool(client, context, device) for device in context.devices]
    assert len(set(map(id, pools))) == len(context.devices)
    for device, pool in zip(context.devices, pools, strict=True):
        assert default_pool(client, context, device) is pool
        assert current_pool(client, context, device) is pool
        with refused(UrResult.INVALID_VALUE):
            client.adapter.urUSMPoolDestroyExp(context, device, pool)
        client.adapter.urUSMPoolRetain(pool)
        client.adapter.urUSMPoolRelease(pool)
        with refused(UrResult.INVALID_VALUE):
            client.adapter.urUSMPoolRelease(pool)
        assert client.pool_info(pool, UsmPoolInfo.REFERENCE_COUNT) == 1


def test_current_pool_serves_who_names_none(
    client: Client, context: Context, device: Device, queue: Queue, kind: UsmType
) -> None:
    """MT-6: also queues made before, and memory without a queue; host memory is the context's."""
    pool = client.create_pool(context, device)
    client.adapter.urUSMPoolSetDevicePoolExp(context, device, pool)
    assert current_pool(client, context, device) is pool
    mem = client.alloc_only(queue, kind, 1000)
    direct: Out[int] = Out()
    client.usm_alloc(context, kind, device, 1000, direct)
    used = client.pool_info(pool, UsmPoolInfo.USED_CURRENT_EXP)
    assert used == (0 if kind is UsmType.HOST else 2048)
    client.adapter.urUSMPoolSetDevicePoolExp(context, device, default_pool(client, context, device))
    other = client.alloc_only(queue, kind, 1000)
    assert client.pool_info(pool, UsmPoolInfo.USED_CURRENT_EXP) == used
    for each in (mem, written(direct), other):
        client.free_only(queue, each)
    client.adapter.urUSMPoolDestroyExp(context, device, pool)


@pytest.mark.parametrize("released", [False, True], ids=["destroyed", "released"])
def test_a_current_pool_that_goes_gives_way_to_the_default(
    client: Client, context: Context, device: Device, queue: Queue, released: bool
) -> None:
    """LIFE-5."""
    pool = client.create_pool(context, device)
    client.adapter.urUSMPoolSetDevicePoolExp(context, device, pool)
    mem = client.alloc_only(queue, UsmType.DEVICE, 1000)
    if released:
        client.adapter.urUSMPoolRelease(pool)
    else:
        client.adapter.urUSMPoolDestroyExp(context, device, pool)
    assert current_pool(client, context, device) is default_pool(client, context, device)
    default = default_pool(client, context, device)
    before = client.pool_info(default, UsmPoolInfo.USED_CURRENT_EXP)
    again = client.alloc_only(queue, UsmType.DEVICE, 1000)
    assert client.pool_info(default, UsmPoolInfo.USED_CURRENT_EXP) == before + 1024
    client.free_only(queue, mem)
    client.free_only(queue, again)


def test_a_current_pool_that_nobody_holds_serves_on(
    client: Client, context: Context, device: Device, queue: Queue
) -> None:
    """LIFE-8."""
    pool = client.create_pool(context, device)
    client.adapter.urUSMPoolSetDevicePoolExp(context, device, pool)
    del pool
    gc.collect()
    mem = client.alloc_only(queue, UsmType.DEVICE, 1000)
    pool = current_pool(client, context, device)
    assert client.pool_info(pool, UsmPoolInfo.USED_CURRENT_EXP) == 1024
    client.free_only(queue, mem)
    client.adapter.urUSMPoolDestroyExp(context, device, pool)


def test_pools_that_cannot_be_current(
    client: Client, context: Context, device: Device, queue: Queue
) -> None:
    """LIFE-8: null is a null handle; others keep the pool that is current."""
    with refused(UrResult.INVALID_NULL_HANDLE):
        client.adapter.urUSMPoolSetDevicePoolExp(context, device, None)
    other = client.create_context(context.devices)
    foreign = client.create_pool(other, device)
    destroyed = client.create_pool(context, device)
    client.adapter.urUSMPoolDestroyExp(context, device, destroyed)
    mem = client.alloc_only(queue, UsmType.DEVICE, MIB)
    buffer = UsmPoolBufferDesc(mem, MIB, UsmType.DEVICE, device)
    partial = client.create_pool(context, device, UsmPoolDesc(next=buffer))
    for pool in (foreign, destroyed, partial, default_pool(client, other, device)):
        with refused(UrResult.INVALID_VALUE):
            client.adapter.urUSMPoolSetDevicePoolExp(context, device, pool)
        assert current_pool(client, context, device) is default_pool(client, context, device)
    general = client.create_pool(context)
    client.adapter.urUSMPoolSetDevicePoolExp(context, device, general)
    assert current_pool(client, context, device) is general
    for pool in (general, partial, foreign):
        client.adapter.urUSMPoolRelease(pool)
    client.free_only(queue, mem)
    client.adapter.urContextRelease(other)
    assert other.is_closed


@pytest.mark.parametrize("entry", ["urUSMPoolDestroyExp", "urUSMPoolTrimToExp"])
def test_pools_of_another_context(
    client: Client, context: Context, device: Device, entry: str
) -> None:
    other = client.create_context(context.devices)
    foreign = client.create_pool(other, device)
    arguments = (0,) if entry == "urUSMPoolTrimToExp" else ()
    with refused(UrResult.INVALID_VALUE):
        getattr(client.adapter, entry)(context, device, foreign, *arguments)
    client.adapter.urUSMPoolDestroyExp(other, device, foreign)
    client.adapter.urContextRelease(other)
    assert other.is_closed


# -- properties ------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0, 1, 2 * MIB, 2**64 - 1])
@pytest.mark.parametrize(
    "prop_name", [UsmPoolInfo.RELEASE_THRESHOLD_EXP, UsmPoolInfo.MAXIMUM_SIZE_EXP]
)
def test_sizes_read_back_as_set(
    client: Client, make: Making, prop_name: UsmPoolInfo, value: int
) -> None:
    """STAT-5 and MEM-9, through both entries that tell a property."""
    pool = made(make, UsmPoolDesc())
    assert client.pool_info(pool, prop_name) == 0
    client.adapter.urUSMPoolSetInfoExp(pool, prop_name, value, 8)
    assert client.pool_info(pool, prop_name) == value
    out: Out[Any] = Out()
    size: Out[int] = Out()
    client.adapter.urUSMPoolGetInfo(pool, prop_name, 8, out, size)
    assert (out.value, size.value) == (value, 8)
    client.adapter.urUSMPoolRelease(pool)


@pytest.mark.parametrize(
    ("prop_name", "value", "room", "code"),
    [
        (UsmPoolInfo.RESERVED_CURRENT_EXP, 0, 8, UrResult.UNSUPPORTED_ENUMERATION),
        (UsmPoolInfo.USED_CURRENT_EXP, 0, 8, UrResult.UNSUPPORTED_ENUMERATION),
        (UsmPoolInfo.REFERENCE_COUNT, 0, 8, UrResult.UNSUPPORTED_ENUMERATION),
        (UsmPoolInfo.CONTEXT, 0, 8, UrResult.UNSUPPORTED_ENUMERATION),
        (UsmPoolInfo.RESERVED_HIGH_EXP, 1, 8, UrResult.INVALID_VALUE),
        (UsmPoolInfo.USED_HIGH_EXP, 2**63, 8, UrResult.INVALID_VALUE),
        (UsmPoolInfo.USED_HIGH_EXP, 0, 7, UrResult.INVALID_SIZE),
        (UsmPoolInfo.MAXIMUM_SIZE_EXP, MIB, 4, UrResult.INVALID_SIZE),
        (UsmPoolInfo.RELEASE_THRESHOLD_EXP, MIB, 0, UrResult.INVALID_SIZE),
    ],
)
def test_settings_that_are_refused(
    client: Client, make: Making, prop_name: UsmPoolInfo, value: int, room: int, code: UrResult
) -> None:
    """STAT-5: current numbers are read-only, high marks take 0 alone, short values are refused."""
    pool = made(make, UsmPoolDesc())
    before = client.pool_info(pool, prop_name)
    with refused(code):
        client.adapter.urUSMPoolSetInfoExp(pool, prop_name, value, room)
    assert client.pool_info(pool, prop_name) == before
    client.adapter.urUSMPoolRelease(pool)


def test_high_marks_are_reset_to_the_present(client: Client, make: Making, queue: Queue) -> None:
    """STAT-5, and the order of STAT-1 on the way: used, reserved and their high marks."""
    pool = made(make, UsmPoolDesc())
    mem = [client.alloc_only(queue, UsmType.DEVICE, 3 * MIB, pool=pool) for _ in range(3)]

    def numbers() -> tuple[int, int, int, int]:
        names = (
            UsmPoolInfo.USED_CURRENT_EXP,
            UsmPoolInfo.USED_HIGH_EXP,
            UsmPoolInfo.RESERVED_CURRENT_EXP,
            UsmPoolInfo.RESERVED_HIGH_EXP,
        )
        used, used_high, reserved, reserved_high = (client.pool_info(pool, n) for n in names)
        assert 0 <= used <= used_high <= reserved_high
        assert used <= reserved <= reserved_high
        return used, used_high, reserved, reserved_high

    assert numbers()[:2] == (9 * MIB, 9 * MIB)
    client.free_only(queue, mem.pop())
    client.free_only(queue, mem.pop())
    client.adapter.urQueueFinish(queue)
    used, used_high, reserved, reserved_high = numbers()
    assert (used, used_high) == (3 * MIB, 9 * MIB)
    assert reserved < reserved_high
    client.adapter.urUSMPoolSetInfoExp(pool, UsmPoolInfo.USED_HIGH_EXP, 0, 8)
    assert numbers() == (used, used, reserved, reserved_high)
    client.adapter.urUSMPoolSetInfoExp(pool, UsmPoolInfo.RESERVED_HIGH_EXP, 0, 8)
    assert numbers() == (used, used, reserved, reserved)
    client.free_only(queue, mem.pop())
    client.adapter.urUSMPoolRelease(pool)


def test_used_counts_rounded_sizes_and_falls_at_the_free(
    client: Client, make: Making, queue: Queue, controls: Controls
) -> None:
    """STAT-2 and STAT-3, with the queue held: pending bytes are not used any more."""
    pool = made(make, UsmPoolDesc())
    mem = client.alloc_only(queue, UsmType.SHARED, 1, pool=pool)
    assert client.pool_info(pool, UsmPoolInfo.USED_CURRENT_EXP) == 256
    with hold(controls, queue):
        client.release(client.fill(queue, mem, b"\x01", 1))
        client.free_only(queue, mem)
        assert client.pool_info(pool, UsmPoolInfo.USED_CURRENT_EXP) == 0
        assert client.pool_info(pool, UsmPoolInfo.RESERVED_CURRENT_EXP) > 0
        assert pool.statistics().pending == 256
    client.adapter.urQueueFinish(queue)
    assert pool.statistics().pending == 0
    client.adapter.urUSMPoolRelease(pool)


# -- threshold, limit and trim ---------------------------------------------------------------------


@pytest.mark.parametrize("kept", [0, 1])
def test_threshold_is_kept_at_a_finish(
    client: Client, make: Making, queue: Queue, kept: int
) -> None:
    """MEM-8 and MEM-9: set before the first allocation."""
    pool = made(make, UsmPoolDesc())
    client.adapter.urUSMPoolSetInfoExp(pool, UsmPoolInfo.RELEASE_THRESHOLD_EXP, kept * 16 * MIB, 8)
    mem = [client.alloc_only(queue, UsmType.DEVICE, 16 * MIB, pool=pool) for _ in range(3)]
    for each in mem:
        client.free_only(queue, each)
    client.adapter.urQueueFinish(queue)
    assert client.pool_info(pool, UsmPoolInfo.RESERVED_CURRENT_EXP) == kept * 16 * MIB
    client.adapter.urUSMPoolRelease(pool)


def test_trim(
    client: Client, context: Context, device: Device, queue: Queue, controls: Controls
) -> None:
    """MEM-11: idle memory goes down to what shall stay; never used or pending memory, no wait."""
    pool = client.create_pool(context, device)
    client.adapter.urUSMPoolSetInfoExp(pool, UsmPoolInfo.RELEASE_THRESHOLD_EXP, KEPT, 8)
    mem = [client.alloc_only(queue, UsmType.SHARED, 16 * MIB, pool=pool) for _ in range(4)]
    for each in mem[:2]:
        client.free_only(queue, each)
    client.adapter.urQueueFinish(queue)

    def reserved() -> Any:
        return client.pool_info(pool, UsmPoolInfo.RESERVED_CURRENT_EXP)

    with hold(controls, queue):
        client.release(client.fill(queue, mem[2], b"\x01", 16 * MIB))
        client.free_only(queue, mem[2])
        assert reserved() == 64 * MIB
        for keep, left in ((2**63, 64), (64 * MIB, 64), (40 * MIB, 48), (0, 32), (0, 32)):
            client.adapter.urUSMPoolTrimToExp(context, device, pool, keep)
            assert reserved() == left * MIB
    client.adapter.urQueueFinish(queue)
    client.adapter.urUSMPoolTrimToExp(context, device, pool, 0)
    assert reserved() == 16 * MIB
    client.free_only(queue, mem[3])
    client.adapter.urUSMPoolDestroyExp(context, device, pool)


def test_maximum_size_bounds_all_kinds_together(
    client: Client, context: Context, queue: Queue
) -> None:
    """MEM-10: idle memory of one kind makes room for another; what is in use does not."""
    pool = client.create_pool(context)
    client.adapter.urUSMPoolSetInfoExp(pool, UsmPoolInfo.MAXIMUM_SIZE_EXP, 32 * MIB, 8)
    client.adapter.urUSMPoolSetInfoExp(pool, UsmPoolInfo.RELEASE_THRESHOLD_EXP, KEPT, 8)
    client.free_only(queue, client.alloc_only(queue, UsmType.DEVICE, 24 * MIB, pool=pool))
    client.adapter.urQueueFinish(queue)
    host = client.alloc_only(queue, UsmType.HOST, 24 * MIB, pool=pool)
    assert client.pool_info(pool, UsmPoolInfo.RESERVED_CURRENT_EXP) <= 32 * MIB
    out: Out[int] = Out()
    with pytest.raises(MemoryError):
        client.enqueue_alloc(queue, UsmType.SHARED, 16 * MIB, out, pool=pool)
    assert not out.is_set
    assert client.pool_info(pool, UsmPoolInfo.RESERVED_HIGH_EXP) <= 32 * MIB
    client.free_only(queue, host)
    client.adapter.urUSMPoolRelease(pool)


def test_finish_looks_at_every_pool(
    client: Client, context: Context, device: Device, queue: Queue
) -> None:
    """LIFE-6: the default and two of the user's, one of them destroyed already."""
    default = default_pool(client, context, device)
    pools = [default, client.create_pool(context, device), client.create_pool(context)]
    mem = [client.alloc_only(queue, UsmType.DEVICE, 1000, pool=pool) for pool in pools]
    client.adapter.urUSMPoolDestroyExp(context, device, pools[1])
    for each in mem:
        client.free_only(queue, each)
    client.adapter.urQueueFinish(queue)
    for pool in pools:
        numbers = pool.statistics()
        assert (numbers.used, numbers.pending, numbers.reserved) == (0, 0, 0)
    client.adapter.urUSMPoolRelease(pools[2])


def test_a_free_that_names_a_destroyed_pool(
    client: Client, context: Context, device: Device, queue: Queue
) -> None:
    """LIFE-5: the handle is dead, the memory is not; without the name it is freed."""
    pool = client.create_pool(context, device)
    mem = client.alloc_only(queue, UsmType.DEVICE, 4096, pool=pool)
    client.adapter.urUSMPoolDestroyExp(context, device, pool)
    out: Out[Event] = Out()
    with refused(UrResult.INVALID_VALUE, out):
        client.adapter.urEnqueueUSMFreeExp(queue, pool, mem, 0, None, out)
    with pytest.raises(InvalidValueError):
        queue.free(mem, pool)
    client.free_only(queue, mem)


def test_a_destroyed_pool_is_current_nowhere(
    client: Client, context: Context, device: Device
) -> None:
    """LIFE-5: each device, and each compute slice, goes back to its own default."""
    devices = (*context.devices, *device.compute_slices)
    pool = client.create_pool(context)
    for each in devices:
        client.adapter.urUSMPoolSetDevicePoolExp(context, each, pool)
    client.adapter.urUSMPoolRelease(pool)
    for each in devices:
        current: Out[Pool] = Out()
        default: Out[Pool] = Out()
        client.adapter.urUSMPoolGetDevicePoolExp(context, each, current)
        client.adapter.urUSMPoolGetDefaultDevicePoolExp(context, each, default)
        assert current.value is default.value
