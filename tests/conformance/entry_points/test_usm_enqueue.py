# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Allocations, frees, fills and copies in a queue's order."""

from typing import Any

import pytest

from tests.helpers.calls import SIGNAL, WAIT, LevelZeroCalls
from tests.helpers.entries import Client, refused, waits, written
from tests.helpers.gates import hold
from tests.helpers.signals import append_each
from tests.helpers.usm import MIB
from urasync_l0 import Command, Context, Device, Event, Queue, UrResult, UsmType
from urasync_l0.descriptors import AsyncUsmAllocProperties
from urasync_l0.enums import AsyncUsmAllocFlag, EventInfo, EventStatus, UsmPoolInfo
from urasync_l0.out import Out
from urasync_l0.software_driver.controls import Controls

ALLOC_COMMANDS = {
    UsmType.DEVICE: Command.ENQUEUE_USM_DEVICE_ALLOC_EXP,
    UsmType.SHARED: Command.ENQUEUE_USM_SHARED_ALLOC_EXP,
    UsmType.HOST: Command.ENQUEUE_USM_HOST_ALLOC_EXP,
}


def event_info(client: Client, event: Event, prop_name: EventInfo) -> object:
    out: Out[object] = Out()
    client.adapter.urEventGetInfo(event, prop_name, 8, out, None)
    return written(out)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 8, 63, 64, 255, 256, 257, 64 << 10, 3 * MIB])
@pytest.mark.needs_execution("data is read back")
def test_memory_of_any_size_can_be_used(
    client: Client, queue: Queue, kind: UsmType, size: int
) -> None:
    """ERR-3: small sizes too."""
    mem, allocated = client.alloc(queue, kind, size)
    filled = client.fill(queue, mem, b"\xa5", size, wait=[allocated])
    assert client.read(queue, mem, size) == b"\xa5" * size
    freed = client.free(queue, mem, wait=[filled])
    client.adapter.urQueueFinish(queue)
    client.release(allocated, filled, freed)


@pytest.mark.needs_execution("an event must be seen complete")
def test_events_tell_their_command(client: Client, queue: Queue, kind: UsmType) -> None:
    mem, allocated = client.alloc(queue, kind, 4)
    filled = client.fill(queue, mem, b"\1\2\3\4", 4)
    copied: Out[Event] = Out()
    target = bytearray(4)
    client.adapter.urEnqueueUSMMemcpy(queue, False, target, mem, 4, 0, None, copied)
    freed = client.free(queue, mem)
    client.adapter.urQueueFinish(queue)
    assert target == b"\1\2\3\4"
    events = (allocated, filled, written(copied), freed)
    commands = [event_info(client, event, EventInfo.COMMAND_TYPE) for event in events]
    assert commands == [
        ALLOC_COMMANDS[kind],
        Command.USM_FILL,
        Command.USM_MEMCPY,
        Command.ENQUEUE_USM_FREE_EXP,
    ]
    for event in events:
        assert event_info(client, event, EventInfo.COMMAND_QUEUE) is queue
        assert event_info(client, event, EventInfo.REFERENCE_COUNT) == 1
        status = event_info(client, event, EventInfo.COMMAND_EXECUTION_STATUS)
        assert status == EventStatus.COMPLETE
    client.release(*events)


@pytest.mark.parametrize("waiting", [False, True], ids=["no_wait", "one_wait"])
@pytest.mark.parametrize("asking", [False, True], ids=["no_event", "event"])
def test_appends_only_what_is_asked_for(
    client: Client,
    queue: Queue,
    other_queue: Queue,
    controls: Controls,
    kind: UsmType,
    waiting: bool,
    asking: bool,
) -> None:
    """ORD-11: one wait for a wait list, one signal for an event, and nothing otherwise."""
    append_each(queue)
    client.free_only(queue, client.alloc_only(queue, kind, 64))  # memory is there from now on
    client.adapter.urQueueFinish(queue)
    with hold(controls, other_queue):
        awaited: Out[Event] = Out()
        client.adapter.urEnqueueEventsWait(other_queue, 0, None, awaited)
        later: Out[Event] = Out()
        client.adapter.urEnqueueEventsWait(other_queue, 0, None, later)
        mem: Out[int] = Out()
        events: list[Out[Event]] = [Out(), Out()]
        cells = events if asking else [None, None]
        with LevelZeroCalls() as allocating:
            wait = [awaited.value] if waiting else []
            client.enqueue_alloc(queue, kind, 64, mem, cells[0], wait=wait)
        with LevelZeroCalls() as freeing:
            listed = waits([later.value] if waiting else [])
            client.adapter.urEnqueueUSMFreeExp(queue, None, mem.value, *listed, cells[1])
    for calls in (allocating, freeing):
        assert calls.of(WAIT) == waiting
        assert calls.of(SIGNAL) == asking
    assert [event.is_set for event in events] == [asking, asking]
    client.release(awaited.value, later.value, *(event.value for event in events if asking))


def test_alloc_properties(client: Client, queue: Queue) -> None:
    """The flags are reserved: the reserved bit does nothing, an unknown one is refused."""
    mem: Out[int] = Out()
    event: Out[Event] = Out()
    for flags in (0, AsyncUsmAllocFlag.TBD):
        properties = AsyncUsmAllocProperties(flags)
        client.adapter.urEnqueueUSMDeviceAllocExp(queue, None, 8, properties, 0, None, mem, None)
        client.free_only(queue, written(mem))
        mem = Out()
    with refused(UrResult.INVALID_ENUMERATION, mem, event):
        properties = AsyncUsmAllocProperties(1 << 1)
        client.adapter.urEnqueueUSMDeviceAllocExp(queue, None, 8, properties, 0, None, mem, event)


def test_sizes_that_cannot_be(
    client: Client, context: Context, device: Device, queue: Queue, kind: UsmType
) -> None:
    """ERR-3 and ERR-4: 0 and what no device has; the design makes both INVALID_USM_SIZE."""
    mem: Out[int] = Out()
    event: Out[Event] = Out()
    impossible = (0, device.max_allocation + 1, 2**63, 2**64 - 1, 2**64 - 511)
    for size in impossible:
        with refused(UrResult.INVALID_USM_SIZE, mem, event):
            client.enqueue_alloc(queue, kind, size, mem, event)
        with refused(UrResult.INVALID_USM_SIZE, mem):
            client.usm_alloc(context, kind, device, size, mem)
    client.free_only(queue, client.alloc_only(queue, kind, 1))


def test_free_of_what_is_no_allocation(
    client: Client, context: Context, queue: Queue, kind: UsmType
) -> None:
    """ERR-7: a foreign pointer, and one inside an allocation."""
    mem = client.alloc_only(queue, kind, 1000)
    other = client.create_context(context.devices)
    other_queue = client.create_queue(other, other.devices[0])
    foreign = client.alloc_only(other_queue, kind, 1000)
    event: Out[Event] = Out()
    for pointer in (0x1234560000, mem + 256, mem + 999, foreign):
        with refused(UrResult.INVALID_MEM_OBJECT, event):
            client.adapter.urEnqueueUSMFreeExp(queue, None, pointer, 0, None, event)
        with refused(UrResult.INVALID_MEM_OBJECT):
            client.adapter.urUSMFree(context, pointer)
    client.free_only(queue, mem)
    client.free_only(other_queue, foreign)
    client.adapter.urQueueRelease(other_queue)
    client.adapter.urContextRelease(other)
    assert other.is_closed


def test_free_with_a_pool_that_does_not_own_it(
    client: Client, context: Context, device: Device, queue: Queue, kind: UsmType
) -> None:
    """ERR-7: INVALID_VALUE; the owner, and no pool at all, are both right."""
    owner = client.create_pool(context)
    stranger = client.create_pool(context, device)
    mem = client.alloc_only(queue, kind, 100, pool=owner)
    event: Out[Event] = Out()
    with refused(UrResult.INVALID_VALUE, event):
        client.adapter.urEnqueueUSMFreeExp(queue, stranger, mem, 0, None, event)
    assert client.pool_info(owner, UsmPoolInfo.USED_CURRENT_EXP) == 256
    client.adapter.urEnqueueUSMFreeExp(queue, owner, mem, 0, None, event)
    assert client.pool_info(owner, UsmPoolInfo.USED_CURRENT_EXP) == 0
    client.release(event.value)
    client.adapter.urUSMPoolRelease(owner)
    client.adapter.urUSMPoolRelease(stranger)


def test_double_free(client: Client, context: Context, queue: Queue, kind: UsmType) -> None:
    """ERR-9: freed in either way, then freed in either way."""
    event: Out[Event] = Out()
    for enqueued in (True, False):
        mem = client.alloc_only(queue, kind, 512)
        if enqueued:
            client.free_only(queue, mem)
        else:
            client.adapter.urUSMFree(context, mem)
        with refused(UrResult.INVALID_MEM_OBJECT, event):
            client.adapter.urEnqueueUSMFreeExp(queue, None, mem, 0, None, event)
        with refused(UrResult.INVALID_MEM_OBJECT):
            client.adapter.urUSMFree(context, mem)


def test_an_address_may_be_freed_again_when_it_was_given_out_again(
    client: Client, queue: Queue, kind: UsmType
) -> None:
    """ERR-9: reuse of the address by a live allocation is no double free."""
    mem = client.alloc_only(queue, kind, 512)
    client.free_only(queue, mem)
    again = client.alloc_only(queue, kind, 512)
    assert again == mem
    client.free_only(queue, again)


def test_pools_that_cannot_serve(
    client: Client, context: Context, device: Device, queue: Queue, kind: UsmType
) -> None:
    """ERR-11 and the errors of the design: of another context, destroyed, without host memory."""
    mem: Out[int] = Out()
    event: Out[Event] = Out()

    def both_refused(code: UrResult, pool: object) -> None:
        with refused(code, mem, event):
            client.enqueue_alloc(queue, kind, 64, mem, event, pool=pool)  # type: ignore[arg-type]
        with refused(code, mem):
            client.usm_alloc(context, kind, device, 64, mem, pool=pool)  # type: ignore[arg-type]

    other = client.create_context(context.devices)
    foreign = client.create_pool(other)
    both_refused(UrResult.INVALID_VALUE, foreign)
    client.adapter.urUSMPoolRelease(foreign)
    client.adapter.urContextRelease(other)
    assert other.is_closed

    own = client.create_pool(context, device)
    if kind is UsmType.HOST:
        both_refused(UrResult.INVALID_ARGUMENT, own)
        both_refused(UrResult.INVALID_ARGUMENT, context.default_pool(device))
    client.adapter.urUSMPoolDestroyExp(context, device, own)
    if kind is not UsmType.HOST:
        both_refused(UrResult.INVALID_VALUE, own)
    general = client.create_pool(context)
    client.adapter.urUSMPoolRelease(general)
    both_refused(UrResult.INVALID_VALUE, general)


# -- fill and copy --------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [1, 2, 4, 8, 16, 3, 5, 100, 256])
@pytest.mark.needs_execution("data is read back")
def test_fill_repeats_a_pattern(client: Client, queue: Queue, kind: UsmType, length: int) -> None:
    pattern = bytes(range(length))
    mem = client.alloc_only(queue, kind, 4096)
    client.release(client.fill(queue, mem, b"\xff", 4096))
    client.release(client.fill(queue, mem + 256, pattern, length * 7))
    data = client.read(queue, mem, 4096)
    assert data == (b"\xff" * 256 + pattern * 7).ljust(4096, b"\xff")
    client.free_only(queue, mem)


@pytest.mark.parametrize(
    ("pattern_size", "size"),
    [(0, 16), (4, 0), (8, 4), (4, 6), (5, 10), (1, 257), (4, 2**62)],
    ids=["no_pattern", "nothing", "less", "no_multiple", "short", "beyond_the_end", "huge"],
)
def test_fills_that_cannot_be(
    client: Client, queue: Queue, kind: UsmType, pattern_size: int, size: int
) -> None:
    mem = client.alloc_only(queue, kind, 256)
    event: Out[Event] = Out()
    with refused(UrResult.INVALID_SIZE, event):
        client.adapter.urEnqueueUSMFill(queue, mem, pattern_size, b"abcd", size, 0, None, event)
    with refused(UrResult.INVALID_SIZE, event):
        client.adapter.urEnqueueUSMFill(queue, mem + 200, 1, b"a", 57, 0, None, event)
    client.free_only(queue, mem)


@pytest.mark.needs_execution("data is read back")
def test_a_blocking_copy_is_complete_on_return(client: Client, queue: Queue, kind: UsmType) -> None:
    """Also without an event, of which none is left then."""
    mem = client.alloc_only(queue, kind, MIB)
    client.release(client.fill(queue, mem, b"\x5a", MIB))
    for event in (None, Out[Event]()):
        target = bytearray(MIB)
        client.adapter.urEnqueueUSMMemcpy(queue, True, target, mem, MIB, 0, None, event)
        assert target == b"\x5a" * MIB
        if event is not None:
            status = event_info(client, event.value, EventInfo.COMMAND_EXECUTION_STATUS)
            assert status == EventStatus.COMPLETE
            client.release(event.value)
    client.free_only(queue, mem)


def test_a_copy_that_does_not_block_returns_at_once(
    client: Client, queue: Queue, controls: Controls, kind: UsmType
) -> None:
    mem = client.alloc_only(queue, kind, 16)
    target = bytearray(16)
    copied: Out[Event] = Out()
    with hold(controls, queue):
        client.release(client.fill(queue, mem, b"\x11", 16))
        client.adapter.urEnqueueUSMMemcpy(queue, False, target, mem, 16, 0, None, copied)
        assert target == bytes(16)
        status = event_info(client, copied.value, EventInfo.COMMAND_EXECUTION_STATUS)
        assert status != EventStatus.COMPLETE
    client.adapter.urEventWait(1, [copied.value])
    assert target == b"\x11" * 16
    client.release(copied.value)
    client.free_only(queue, mem)


@pytest.mark.needs_execution("data is read back")
def test_copies_between_kinds(
    client: Client, queue: Queue, other_queue: Queue, kind: UsmType
) -> None:
    """From each kind to device memory and back, between addresses alone, on two queues."""
    source, allocated = client.alloc(queue, kind, 1000)
    filled = client.fill(queue, source, b"\x01\x02", 1000, wait=[allocated])
    middle = client.alloc_only(other_queue, UsmType.DEVICE, 1000)
    copied: Out[Event] = Out()
    client.adapter.urEnqueueUSMMemcpy(other_queue, False, middle, source, 1000, 1, [filled], copied)
    assert client.read(other_queue, middle, 1000) == b"\x01\x02" * 500
    freed = client.free(queue, source, wait=[copied.value])
    client.free_only(other_queue, middle)
    client.release(allocated, filled, copied.value, freed)


def test_copies_that_cannot_be(client: Client, queue: Queue, kind: UsmType) -> None:
    mem = client.alloc_only(queue, kind, 100)
    event: Out[Event] = Out()
    memcpy = client.adapter.urEnqueueUSMMemcpy
    room = bytearray(1000)
    for blocking in (False, True):
        for size in (0, 101, 2**63):
            with refused(UrResult.INVALID_SIZE, event):
                memcpy(queue, blocking, room, mem, size, 0, None, event)
            with refused(UrResult.INVALID_SIZE, event):
                memcpy(queue, blocking, mem, room, size, 0, None, event)
        with refused(UrResult.INVALID_NULL_POINTER, event):
            memcpy(queue, blocking, 0, mem, 10, 0, None, event)
        with refused(UrResult.INVALID_NULL_POINTER, event):
            memcpy(queue, blocking, mem, 0, 10, 0, None, event)
        with refused(UrResult.INVALID_VALUE, event):
            memcpy(queue, blocking, b"cannot be written", mem, 10, 0, None, event)
    client.free_only(queue, mem)


def test_a_dead_queue_comes_before_a_dead_event(client: Client, queue: Queue) -> None:
    """Every enqueue entry looks at its queue first."""
    mem = client.alloc_only(queue, UsmType.SHARED, 64)
    dead: Out[Event] = Out()
    client.adapter.urEnqueueEventsWait(queue, 0, None, dead)
    client.release(dead.value)
    client.free_only(queue, mem)
    client.adapter.urQueueRelease(queue)
    listed = waits([dead.value])
    out: Out[Any] = Out()
    calls: list[tuple[Any, tuple[Any, ...]]] = [
        (client.adapter.urEnqueueUSMFreeExp, (None, mem)),
        (client.adapter.urEnqueueUSMFill, (mem, 1, b"x", 8)),
        (client.adapter.urEnqueueUSMMemcpy, (False, mem, mem + 32, 8)),
        (client.adapter.urEnqueueUSMPrefetch, (mem, 8, 0)),
        (client.adapter.urEnqueueEventsWait, ()),
        (client.adapter.urEnqueueEventsWaitWithBarrier, ()),
        (client.adapter.urEnqueueTimestampRecordingExp, (False,)),
    ]
    for entry, arguments in calls:
        with refused(UrResult.INVALID_QUEUE, out):
            entry(queue, *arguments, *listed, out)
    with refused(UrResult.INVALID_QUEUE, out):
        client.enqueue_alloc(queue, UsmType.DEVICE, 8, Out(), out, wait=[dead.value])
