# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fills and copies of rows, and hints about shared memory."""

import pytest

from tests.helpers.calls import LevelZeroCalls
from tests.helpers.entries import Client, refused, waits, written
from tests.helpers.gates import hold
from urasync_l0 import Command, Event, Queue, UrResult, UsmType
from urasync_l0.enums import EventInfo, EventStatus, UsmAdviceFlag, UsmMigrationFlag
from urasync_l0.out import Out
from urasync_l0.rectangle import CopyRegion, Region, Rows, plan_copy
from urasync_l0.software_driver.controls import Controls
from urasync_l0.transfer import Copy

PITCH, HEIGHT = 64, 9


def info(client: Client, event: Event, prop_name: EventInfo) -> object:
    out: Out[object] = Out()
    client.adapter.urEventGetInfo(event, prop_name, 8, out, None)
    return written(out)


def expected_rows(pattern: bytes, width: int, height: int) -> bytes:
    """What a fill leaves in memory of HEIGHT rows that held 0xFF."""
    content = pattern * (width * height // len(pattern))
    rows = [content[i * width : (i + 1) * width].ljust(PITCH, b"\xff") for i in range(height)]
    return b"".join(rows).ljust(PITCH * HEIGHT, b"\xff")


@pytest.mark.parametrize(
    ("width", "height", "length"),
    [
        (1, 1, 1),
        (PITCH, HEIGHT, 1),  # dense
        (48, 1, 16),
        (48, HEIGHT, 16),
        (48, HEIGHT, 48),  # a pattern that the device cannot fill with
        (48, 8, 64),  # one that begins a row again after four
        (48, HEIGHT, 48 * HEIGHT),  # as large as all rows
        (33, HEIGHT, 1),
        (10, 6, 4),
    ],
)
@pytest.mark.needs_execution("data is read back")
def test_fill_of_rows(
    client: Client, queue: Queue, kind: UsmType, width: int, height: int, length: int
) -> None:
    """The pattern goes on from row to row, and nothing between the rows is touched."""
    pattern = bytes((7 * i + 1) % 251 for i in range(length))
    mem, allocated = client.alloc(queue, kind, PITCH * HEIGHT)
    before = client.fill(queue, mem, b"\xff", PITCH * HEIGHT, wait=[allocated])
    filled: Out[Event] = Out()
    client.adapter.urEnqueueUSMFill2D(
        queue, mem, PITCH, length, pattern, width, height, *waits([before]), filled
    )
    assert client.read(queue, mem, PITCH * HEIGHT) == expected_rows(pattern, width, height)
    assert info(client, written(filled), EventInfo.COMMAND_TYPE) == Command.USM_FILL_2D
    client.release(allocated, before, filled.value)
    client.free_only(queue, mem)


@pytest.mark.parametrize("blocking", [False, True])
@pytest.mark.needs_execution("data is read back")
def test_copy_of_rows(client: Client, queue: Queue, kind: UsmType, blocking: bool) -> None:
    """From rows that lie close to rows that lie far apart, and back to the host."""
    mem = client.alloc_only(queue, kind, PITCH * HEIGHT)
    client.release(client.fill(queue, mem, b"\xff", PITCH * HEIGHT))
    source = bytes(i % 251 for i in range(33 * HEIGHT))
    copied: Out[Event] = Out()
    copy = client.adapter.urEnqueueUSMMemcpy2D
    copy(queue, blocking, mem, PITCH, source, 33, 32, HEIGHT, 0, None, copied)
    rows = [source[i * 33 : i * 33 + 32] for i in range(HEIGHT)]
    if blocking:
        status = info(client, copied.value, EventInfo.COMMAND_EXECUTION_STATUS)
        assert status == EventStatus.COMPLETE
    content = b"".join(row.ljust(PITCH, b"\xff") for row in rows)
    assert client.read(queue, mem, PITCH * HEIGHT) == content
    assert info(client, copied.value, EventInfo.COMMAND_TYPE) == Command.USM_MEMCPY_2D
    dense = bytearray(32 * HEIGHT)
    copy(queue, True, dense, 32, mem, PITCH, 32, HEIGHT, 1, [copied.value], None)
    assert dense == b"".join(rows)
    client.release(copied.value)
    client.free_only(queue, mem)


def test_a_copy_of_rows_that_does_not_block_returns_at_once(
    client: Client, queue: Queue, controls: Controls
) -> None:
    mem = client.alloc_only(queue, UsmType.DEVICE, PITCH * HEIGHT)
    target = bytearray(PITCH * HEIGHT)
    copied: Out[Event] = Out()
    with hold(controls, queue):
        client.adapter.urEnqueueUSMFill2D(queue, mem, PITCH, 1, b"\x11", 32, HEIGHT, 0, None, None)
        client.adapter.urEnqueueUSMMemcpy2D(
            queue, False, target, PITCH, mem, PITCH, 32, HEIGHT, 0, None, copied
        )
        assert target == bytes(PITCH * HEIGHT)
    client.adapter.urEventWait(1, [copied.value])
    assert target == (b"\x11" * 32).ljust(PITCH, b"\0") * HEIGHT
    client.release(copied.value)
    client.free_only(queue, mem)


def test_rows_that_cannot_be(client: Client, queue: Queue, kind: UsmType) -> None:
    """As Unified Runtime demands, the whole last row must be there."""
    mem = client.alloc_only(queue, kind, 256)
    room = bytearray(256)
    event: Out[Event] = Out()
    for pitch, width, height in (
        (0, 4, 4),  # no pitch
        (4, 5, 4),  # rows that overlap
        (64, 0, 4),  # no bytes
        (64, 4, 0),  # no rows
        (65, 4, 4),  # beyond the end
        (2**62, 4, 4),
    ):
        with refused(UrResult.INVALID_SIZE, event):
            client.adapter.urEnqueueUSMFill2D(
                queue, mem, pitch, 1, b"a", width, height, 0, None, event
            )
        for blocking in (False, True):
            with refused(UrResult.INVALID_SIZE, event):
                client.adapter.urEnqueueUSMMemcpy2D(
                    queue, blocking, mem, pitch, room, 64, width, height, 0, None, event
                )
            with refused(UrResult.INVALID_SIZE, event):
                client.adapter.urEnqueueUSMMemcpy2D(
                    queue, blocking, room, 64, mem, pitch, width, height, 0, None, event
                )
    for length in (0, 3, 17, 5):  # nothing, no divisor, more than all, more than there is
        with refused(UrResult.INVALID_SIZE, event):
            client.adapter.urEnqueueUSMFill2D(queue, mem, 64, length, b"abc", 4, 4, 0, None, event)
    client.free_only(queue, mem)


def test_numbers_that_level_zero_cannot_say() -> None:
    """Rows and slices further apart than 4 GiB are copied with fewer dimensions at a time."""
    far = 2**32
    to, source = Rows(0x1000, 64, far), Rows(0x5000, 32, 32 * 3)
    slices = plan_copy(to, source, Region(16, 3, 2))
    assert slices == [
        CopyRegion(Rows(0x1000, 64), Rows(0x5000, 32), Region(16, 3)),
        CopyRegion(Rows(0x1000 + far, 64), Rows(0x5000 + 96, 32), Region(16, 3)),
    ]
    rows = plan_copy(Rows(0x1000, far), Rows(0x5000, 32), Region(16, 3))
    assert rows == [Copy(0x1000 + i * far, 0x5000 + i * 32, 16) for i in range(3)]
    assert len(plan_copy(Rows(0x1000, far), Rows(0x5000, far), Region(far, 3))) == 1


@pytest.mark.parametrize("asking", [False, True], ids=["no_event", "event"])
def test_hints_are_given_for_shared_memory_only(
    client: Client, queue: Queue, controls: Controls, kind: UsmType, asking: bool
) -> None:
    """Level Zero knows no others; the event stands at its place all the same."""
    mem = client.alloc_only(queue, kind, 4096)
    before: Out[Event] = Out()
    client.adapter.urEnqueueEventsWait(queue, 0, None, before)
    prefetched: Out[Event] | None = Out() if asking else None
    advised: Out[Event] | None = Out() if asking else None
    there, back = UsmMigrationFlag.HOST_TO_DEVICE, UsmMigrationFlag.DEVICE_TO_HOST
    advice = UsmAdviceFlag.SET_READ_MOSTLY | UsmAdviceFlag.BIAS_CACHED
    unknown = UsmAdviceFlag.SET_ACCESSED_BY_HOST | UsmAdviceFlag.DEFAULT
    with LevelZeroCalls() as calls:
        prefetch = client.adapter.urEnqueueUSMPrefetch
        prefetch(queue, mem, 4096, there, *waits([before.value]), prefetched)
        prefetch(queue, mem, 4096, back, 0, None, None)
        client.adapter.urEnqueueUSMAdvise(queue, mem, 4096, advice | unknown, advised)
        client.adapter.urEnqueueUSMAdvise(queue, mem, 4096, unknown, None)
    shared = kind is UsmType.SHARED
    assert calls.counts.get("zeCommandListAppendMemoryPrefetch", 0) == int(shared)
    assert calls.counts.get("zeCommandListAppendMemAdvise", 0) == 2 * int(shared)
    if prefetched is not None and advised is not None:
        client.adapter.urEventWait(2, [prefetched.value, advised.value])
        assert info(client, prefetched.value, EventInfo.COMMAND_TYPE) == Command.USM_PREFETCH
        assert info(client, advised.value, EventInfo.COMMAND_TYPE) == Command.USM_ADVISE
        client.release(prefetched.value, advised.value)
    client.release(before.value)
    client.free_only(queue, mem)


def test_hints_that_cannot_be(client: Client, queue: Queue, kind: UsmType) -> None:
    mem = client.alloc_only(queue, kind, 256)
    event: Out[Event] = Out()
    prefetch, advise = client.adapter.urEnqueueUSMPrefetch, client.adapter.urEnqueueUSMAdvise
    for size in (0, 257):
        with refused(UrResult.INVALID_SIZE, event):
            prefetch(queue, mem, size, 1, 0, None, event)
        with refused(UrResult.INVALID_SIZE, event):
            advise(queue, mem, size, 1, event)
    with refused(UrResult.INVALID_ENUMERATION, event):
        prefetch(queue, mem, 256, 4, 0, None, event)
    with refused(UrResult.INVALID_ENUMERATION, event):
        advise(queue, mem, 256, 1 << 17, event)
    client.free_only(queue, mem)
