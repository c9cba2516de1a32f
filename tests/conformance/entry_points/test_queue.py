# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The entry points of queues."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.helpers.calls import LevelZeroCalls
from tests.helpers.entries import Client, refused, written
from tests.helpers.gates import hold
from tests.helpers.usm import repeat_until
from urasync_l0 import Context, Device, Queue, UrError, UrResult, UsmType
from urasync_l0.descriptors import (
    NativeHandleProperties,
    QueueIndexProperties,
    QueueNativeDesc,
    QueueProperties,
)
from urasync_l0.enums import QueueFlag, QueueInfo
from urasync_l0.out import Out
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze import command_list as ze_list
from urasync_l0.ze.handles import handle_value
from urasync_l0.ze.result import ZeResult


def info(client: Client, queue: Queue, prop_name: QueueInfo) -> Any:
    out: Out[Any] = Out()
    client.adapter.urQueueGetInfo(queue, prop_name, 8, out, None)
    return written(out)


# -- create ----------------------------------------------------------------------------------------

FLAGS = [
    QueueFlag(0),
    QueueFlag.OUT_OF_ORDER_EXEC_MODE_ENABLE,
    QueueFlag.PROFILING_ENABLE,
    QueueFlag.DISCARD_EVENTS,
    QueueFlag.PRIORITY_LOW,
    QueueFlag.PRIORITY_HIGH,
    QueueFlag.USE_DEFAULT_STREAM,
    QueueFlag.SYNC_WITH_DEFAULT_STREAM,
    QueueFlag.LOW_POWER_EVENTS_SUPPORT_EXP,
]


@pytest.mark.parametrize("flag", FLAGS, ids=lambda flag: (flag.name or "none").lower())
@pytest.mark.needs_execution("data is read back")
def test_flags(
    client: Client, context: Context, device: Device, submission: QueueFlag, flag: QueueFlag
) -> None:
    queue = client.create_queue(context, device, flag | submission)
    assert info(client, queue, QueueInfo.FLAGS) == flag | submission
    mem, allocated = client.alloc(queue, UsmType.DEVICE, 64)
    filled = client.fill(queue, mem, b"\x11", 64, wait=[allocated])
    assert client.read(queue, mem, 64) == b"\x11" * 64
    freed = client.free(queue, mem, wait=[filled])
    client.release(allocated, filled, freed)
    client.adapter.urQueueRelease(queue)


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        (QueueFlag.ON_DEVICE, UrResult.INVALID_QUEUE_PROPERTIES),
        (QueueFlag.ON_DEVICE_DEFAULT, UrResult.INVALID_QUEUE_PROPERTIES),
        (QueueFlag.PRIORITY_LOW | QueueFlag.PRIORITY_HIGH, UrResult.INVALID_QUEUE_PROPERTIES),
        (
            QueueFlag.SUBMISSION_BATCHED | QueueFlag.SUBMISSION_IMMEDIATE,
            UrResult.INVALID_QUEUE_PROPERTIES,
        ),
        (1 << 12, UrResult.INVALID_ENUMERATION),
        (0x7FFFFFFF, UrResult.INVALID_ENUMERATION),
    ],
    ids=["on_device", "device_default", "priorities", "submissions", "unknown", "all"],
)
def test_flags_that_cannot_be(
    client: Client, context: Context, device: Device, flags: int, code: UrResult
) -> None:
    out: Out[Queue] = Out()
    with refused(code, out):
        client.adapter.urQueueCreate(context, device, QueueProperties(flags), out)


def test_properties_may_be_null(client: Client, context: Context, device: Device) -> None:
    out: Out[Queue] = Out()
    client.adapter.urQueueCreate(context, device, None, out)
    assert info(client, written(out), QueueInfo.FLAGS) == 0
    client.adapter.urQueueRelease(out.value)


def test_index(
    client: Client, context: Context, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chain chooses the native queue; one that the device does not have is refused."""
    asked: list[int] = []
    create = ze_list.create_immediate

    def create_immediate(*handles: Any, **arguments: Any) -> Any:
        asked.append(arguments["index"])
        return create(*handles, **arguments)

    monkeypatch.setattr(ze_list, "create_immediate", create_immediate)
    for index in range(device.compute_queues):
        out: Out[Queue] = Out()
        chain = QueueProperties(next=QueueIndexProperties(compute_index=index))
        client.adapter.urQueueCreate(context, device, chain, out)
        client.adapter.urQueueRelease(written(out))
    assert asked == list(range(device.compute_queues))
    chain = QueueProperties(next=QueueIndexProperties(compute_index=device.compute_queues))
    unset: Out[Queue] = Out()
    with refused(UrResult.INVALID_VALUE, unset):
        client.adapter.urQueueCreate(context, device, chain, unset)


def test_create_without_what_it_needs(client: Client, context: Context, device: Device) -> None:
    """Null handles come before null pointers, and those before the flags."""
    create = client.adapter.urQueueCreate
    out: Out[Queue] = Out()
    bad = QueueProperties(1 << 30)
    nulls: tuple[tuple[Context | None, Device | None], ...] = (
        (None, device),
        (context, None),
        (None, None),
    )
    for no_context, no_device in nulls:
        with refused(UrResult.INVALID_NULL_HANDLE, out):
            create(no_context, no_device, bad, None)
    with refused(UrResult.INVALID_NULL_POINTER, out):
        create(context, device, bad, None)


def test_a_device_of_another_context(client: Client, context: Context, device: Device) -> None:
    others = [each for each in device.platform.devices if each is not device]
    if not others:
        pytest.skip("needs two devices")
    small = client.create_context([device])
    out: Out[Queue] = Out()
    with refused(UrResult.INVALID_DEVICE, out):
        client.adapter.urQueueCreate(small, others[0], None, out)
    client.adapter.urContextRelease(small)
    with refused(UrResult.INVALID_CONTEXT, out):
        client.adapter.urQueueCreate(small, device, None, out)


def test_create_fails_as_a_whole(
    client: Client, context: Context, device: Device, controls: Controls, submission: QueueFlag
) -> None:
    """ERR-1: nothing is left of a queue that cannot be made."""
    before = controls.live_objects()
    controls.fail("zeCommandListCreateImmediate", 1, int(ZeResult.ERROR_UNKNOWN))
    out: Out[Queue] = Out()
    with pytest.raises(UrError):
        client.adapter.urQueueCreate(context, device, QueueProperties(submission), out)
    assert not out.is_set
    assert controls.live_objects() == before
    controls.clear_failures()


# -- info ------------------------------------------------------------------------------------------

INFO: list[tuple[QueueInfo, int, Callable[[Queue], Any]]] = [
    (QueueInfo.CONTEXT, 8, lambda queue: queue.context),
    (QueueInfo.DEVICE, 8, lambda queue: queue.device),
    (QueueInfo.FLAGS, 4, lambda queue: int(queue.flags)),
    (QueueInfo.REFERENCE_COUNT, 4, lambda queue: 1),
    (QueueInfo.EMPTY, 1, lambda queue: True),
]


@pytest.mark.parametrize(
    ("prop_name", "size", "value"), INFO, ids=[row[0].name.lower() for row in INFO]
)
def test_info(
    client: Client, queue: Queue, prop_name: QueueInfo, size: int, value: Callable[[Queue], Any]
) -> None:
    get = client.adapter.urQueueGetInfo
    needed: Out[int] = Out()
    get(queue, prop_name, 0, None, needed)
    assert written(needed) == size
    for room in (size, size + 8):
        out: Out[Any] = Out()
        needed = Out()
        get(queue, prop_name, room, out, needed)
        assert written(out) == value(queue)
        assert written(needed) == size
    unset: Out[Any] = Out()
    for room in (0, size - 1):
        with refused(UrResult.INVALID_SIZE, unset):
            get(queue, prop_name, room, unset, None)
    with refused(UrResult.INVALID_NULL_POINTER):
        get(queue, prop_name, size, None, None)
    with refused(UrResult.INVALID_NULL_HANDLE, unset):
        get(None, prop_name, size, unset, None)


@pytest.mark.parametrize("prop_name", [QueueInfo.DEVICE_DEFAULT, QueueInfo.SIZE, 7, 0x7FFFFFFF])
def test_info_of_device_queues_and_unknown(client: Client, queue: Queue, prop_name: int) -> None:
    unset: Out[Any] = Out()
    with refused(UrResult.UNSUPPORTED_ENUMERATION, unset):
        client.adapter.urQueueGetInfo(queue, prop_name, 8, unset, None)


def test_empty(client: Client, queue: Queue, controls: Controls) -> None:
    """It waits for nothing, and asking again and again adds nothing to a queue that is held."""
    assert info(client, queue, QueueInfo.EMPTY) is True
    with hold(controls, queue) as held:
        mem, allocated = client.alloc(queue, UsmType.DEVICE, 64)
        assert info(client, queue, QueueInfo.EMPTY) is False
        with LevelZeroCalls() as calls:
            for _ in range(5):
                assert info(client, queue, QueueInfo.EMPTY) is False
        assert calls.of("zeCommandListAppendSignalEvent") == 0
        held.release()
    client.adapter.urQueueFinish(queue)
    assert info(client, queue, QueueInfo.EMPTY) is True
    client.release(allocated)
    client.free_only(queue, mem)


# -- references ------------------------------------------------------------------------------------


def test_references(
    client: Client, context: Context, device: Device, submission: QueueFlag
) -> None:
    queue = client.create_queue(context, device, submission)
    for count in (2, 3):
        client.adapter.urQueueRetain(queue)
        assert info(client, queue, QueueInfo.REFERENCE_COUNT) == count
    for count in (2, 1):
        client.adapter.urQueueRelease(queue)
        assert info(client, queue, QueueInfo.REFERENCE_COUNT) == count
    client.adapter.urQueueFinish(queue)
    client.adapter.urQueueRelease(queue)
    out: Out[Any] = Out()
    adapter = client.adapter
    uses: list[Callable[[], None]] = [
        lambda: adapter.urQueueRetain(queue),
        lambda: adapter.urQueueRelease(queue),
        lambda: adapter.urQueueFinish(queue),
        lambda: adapter.urQueueFlush(queue),
        lambda: adapter.urQueueGetInfo(queue, QueueInfo.CONTEXT, 8, out, None),
        lambda: adapter.urQueueGetNativeHandle(queue, None, out),
        lambda: adapter.urEnqueueEventsWait(queue, 0, None, out),
        lambda: adapter.urEnqueueEventsWaitWithBarrier(queue, 0, None, out),
        lambda: adapter.urEnqueueEventsWaitWithBarrierExt(queue, None, 0, None, out),
        lambda: adapter.urEnqueueTimestampRecordingExp(queue, False, 0, None, out),
        lambda: adapter.urEnqueueUSMDeviceAllocExp(queue, None, 8, None, 0, None, out, out),
    ]
    for use in uses:
        with refused(UrResult.INVALID_QUEUE, out):
            use()


def test_release_completes(
    client: Client, context: Context, device: Device, controls: Controls, submission: QueueFlag
) -> None:
    """LIFE-2: the last release waits for what is enqueued; what the queue freed becomes idle."""
    queue = client.create_queue(context, device, submission)
    lists = controls.live_objects()["command_list"]
    target = bytearray(4)
    client.adapter.urEnqueueUSMMemcpy(queue, False, target, b"abcd", 4, 0, None, None)
    client.free_only(queue, client.alloc_only(queue, UsmType.DEVICE, 64))
    client.adapter.urQueueRelease(queue)
    assert target == b"abcd"
    assert context.default_pool(device).statistics().pending == 0
    assert controls.live_objects()["command_list"] == lists - 1


def test_null_queues(client: Client) -> None:
    adapter = client.adapter
    out: Out[Any] = Out()
    uses: list[Callable[[], None]] = [
        lambda: adapter.urQueueRetain(None),
        lambda: adapter.urQueueRelease(None),
        lambda: adapter.urQueueFinish(None),
        lambda: adapter.urQueueFlush(None),
        lambda: adapter.urQueueGetNativeHandle(None, None, out),
    ]
    for use in uses:
        with refused(UrResult.INVALID_NULL_HANDLE, out):
            use()


# -- finish and flush ------------------------------------------------------------------------------


def test_finish_and_flush(client: Client, queue: Queue, controls: Controls) -> None:
    """Flush makes no call and waits for nothing; finish waits for all."""
    target = bytearray(4)
    with hold(controls, queue) as held:
        client.adapter.urEnqueueUSMMemcpy(queue, False, target, b"abcd", 4, 0, None, None)
        with LevelZeroCalls() as calls:
            client.adapter.urQueueFlush(queue)
        assert calls.total == 0
        assert target == b"\0" * 4
        held.release()
        client.adapter.urQueueFinish(queue)
    assert target == b"abcd"


def test_finish_of_a_lost_device(
    client: Client, make_context: Callable[..., Context], controls: Controls
) -> None:
    queue = make_context().create_queue()
    controls.fail("zeCommandListAppendSignalEvent", 1, int(ZeResult.ERROR_DEVICE_LOST))
    out: Out[Any] = Out()
    with pytest.raises(UrError) as caught:
        client.adapter.urEnqueueEventsWait(queue, 0, None, out)
    assert caught.value.code is UrResult.DEVICE_LOST
    controls.clear_failures()
    for use in (client.adapter.urQueueFinish, lambda q: client.alloc(q, UsmType.DEVICE, 8)):
        with refused(UrResult.DEVICE_LOST, out):
            use(queue)


# -- native handles --------------------------------------------------------------------------------


def native_of(client: Client, queue: Queue) -> int:
    out: Out[int] = Out()
    client.adapter.urQueueGetNativeHandle(queue, None, out)
    return written(out)


@pytest.mark.parametrize("with_device", [True, False], ids=["device", "no_device"])
@pytest.mark.parametrize("properties", [None, NativeHandleProperties()], ids=["null", "not_owned"])
@pytest.mark.needs_execution("an event must be seen complete", run=False)
def test_native_round_trip(
    client: Client,
    context: Context,
    queue: Queue,
    device: Device,
    properties: NativeHandleProperties | None,
    with_device: bool,
) -> None:
    native = native_of(client, queue)
    assert native == handle_value(queue.handle)
    chosen = device if with_device or len(context.devices) > 1 else None
    out: Out[Queue] = Out()
    client.adapter.urQueueCreateWithNativeHandle(native, context, chosen, properties, out)
    again = written(out)
    assert native_of(client, again) == native
    assert info(client, again, QueueInfo.CONTEXT) is context
    assert info(client, again, QueueInfo.DEVICE) is device
    # A list that others may have appended to is asked by a marker, which a busy machine delays.
    repeat_until(lambda: bool(info(client, again, QueueInfo.EMPTY)), lambda: None)
    mem, allocated = client.alloc(again, UsmType.SHARED, 64)
    filled = client.fill(again, mem, b"\x11", 64)
    assert client.read(queue, mem, 64) == b"\x11" * 64
    client.free_only(again, mem)
    client.release(allocated, filled)
    client.adapter.urQueueRelease(again)
    client.adapter.urQueueFinish(queue)  # its list is still there


def test_an_owned_list(
    client: Client, context: Context, device: Device, controls: Controls
) -> None:
    handle = ze_list.create_immediate(context.native.handle, device.handle)
    lists = controls.live_objects()["command_list"]
    chain = NativeHandleProperties(True, next=QueueNativeDesc(native_data=1))
    out: Out[Queue] = Out()
    client.adapter.urQueueCreateWithNativeHandle(handle_value(handle), context, device, chain, out)
    client.adapter.urQueueRelease(written(out))
    assert controls.live_objects()["command_list"] == lists - 1


def test_native_handles_that_cannot_be(
    client: Client, context: Context, queue: Queue, device: Device
) -> None:
    adapter = client.adapter
    out: Out[Any] = Out()
    native = native_of(client, queue)
    with refused(UrResult.INVALID_NULL_POINTER):
        adapter.urQueueGetNativeHandle(queue, None, None)
    with refused(UrResult.INVALID_NULL_HANDLE, out):
        adapter.urQueueCreateWithNativeHandle(0, context, device, None, out)
    with refused(UrResult.INVALID_NULL_HANDLE, out):
        adapter.urQueueCreateWithNativeHandle(native, None, device, None, out)
    with refused(UrResult.INVALID_NULL_POINTER):
        adapter.urQueueCreateWithNativeHandle(native, context, device, None, None)
    command_queue = NativeHandleProperties(next=QueueNativeDesc(native_data=0))
    with refused(UrResult.UNSUPPORTED_FEATURE, out):
        adapter.urQueueCreateWithNativeHandle(native, context, device, command_queue, out)
