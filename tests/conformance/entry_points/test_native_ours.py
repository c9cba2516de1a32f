# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Native handles of our own objects, given back to us: both objects share the native one.

It is destroyed with the last of them, whichever is released first, and whether the second was to
own it or not. Native objects that are left behind are found when the test ends.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.conformance.entry_points.test_peer_access_entries import run_on_two
from tests.helpers.entries import Client, refused, waits, written
from tests.helpers.gates import hold
from tests.helpers.signals import append_each
from tests.helpers.usm import TIMEOUT_NS
from urasync_l0 import Context, Device, Event, Queue, UrError, UrResult, UsmType
from urasync_l0.descriptors import NativeHandleProperties, QueueProperties
from urasync_l0.enums import EventInfo, EventStatus, ProfilingInfo, QueueFlag, QueueInfo
from urasync_l0.out import Out
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze import command_list as ze_list

owned = pytest.mark.parametrize("owned", [False, True], ids=["theirs", "owned"])
first = pytest.mark.parametrize("first", [0, 1], ids=["original-first", "second-first"])
needs_data = pytest.mark.needs_execution("data is read back")


def native_of(entry: Callable[..., None], *arguments: Any) -> int:
    """A native handle."""
    out: Out[int] = Out()
    entry(*arguments, out)
    return written(out)


def second_event(client: Client, context: Context, event: Event, owned: bool) -> Event:
    native = native_of(client.adapter.urEventGetNativeHandle, event)
    out: Out[Event] = Out()
    client.adapter.urEventCreateWithNativeHandle(
        native, context, NativeHandleProperties(owned), out
    )
    return written(out)


def second_queue(client: Client, queue: Queue, owned: bool) -> Queue:
    native = native_of(client.adapter.urQueueGetNativeHandle, queue, None)
    out: Out[Queue] = Out()
    properties = NativeHandleProperties(owned)
    client.adapter.urQueueCreateWithNativeHandle(native, queue.context, None, properties, out)
    return written(out)


def second_context(client: Client, context: Context, owned: bool) -> Context:
    native = native_of(client.adapter.urContextGetNativeHandle, context)
    out: Out[Context] = Out()
    client.adapter.urContextCreateWithNativeHandle(
        *(native, client.adapter, len(context.devices), context.devices),
        *(NativeHandleProperties(owned), out),
    )
    return written(out)


def use(client: Client, queue: Queue) -> None:
    """Allocate, fill, read and free on a queue."""
    mem = client.alloc_only(queue, UsmType.DEVICE, 64)
    client.release(client.fill(queue, mem, b"\x07", 64))
    assert client.read(queue, mem, 64) == b"\x07" * 64
    client.free_only(queue, mem)


@needs_data
@owned
@first
def test_events(client: Client, context: Context, queue: Queue, owned: bool, first: int) -> None:
    """MEM-5: and the queue's later events are not disturbed."""
    event: Out[Event] = Out()
    client.adapter.urEnqueueEventsWait(queue, 0, None, event)
    both = [event.value, second_event(client, context, event.value, owned)]
    answer: Out[Any] = Out()
    client.adapter.urEventGetInfo(both[1], EventInfo.COMMAND_QUEUE, 8, answer, None)
    assert answer.value is queue
    client.release(both.pop(first))
    client.adapter.urEventWait(1, both)
    client.release(*both)
    for _ in range(8):
        use(client, queue)


@owned
def test_a_second_event_keeps_the_native_one(
    client: Client,
    controls: Controls,
    context: Context,
    queue: Queue,
    other_queue: Queue,
    owned: bool,
) -> None:
    """ORD-10: no other signal is given the native event while the second one stands for it."""
    event: Out[Event] = Out()
    client.adapter.urEnqueueEventsWait(queue, 0, None, event)
    second = second_event(client, context, event.value, owned)
    native = native_of(client.adapter.urEventGetNativeHandle, second)
    client.adapter.urQueueFinish(queue)
    client.release(event.value)
    with hold(controls, other_queue):
        later: list[Event] = []
        for _ in range(8):
            made: Out[Event] = Out()
            client.adapter.urEnqueueEventsWait(other_queue, 0, None, made)
            later.append(made.value)
        handles = [native_of(client.adapter.urEventGetNativeHandle, each) for each in later]
        assert native not in handles
        assert second.status is EventStatus.COMPLETE
        assert second.wait(TIMEOUT_NS)
    client.release(second, *later)


@needs_data
def test_the_handle_of_a_released_event(client: Client, context: Context, queue: Queue) -> None:
    event: Out[Event] = Out()
    client.adapter.urEnqueueEventsWait(queue, 0, None, event)
    native = native_of(client.adapter.urEventGetNativeHandle, event.value)
    client.release(event.value)
    append_each(queue).record().release()  # until then the queue itself keeps its last signal
    out: Out[Event] = Out()
    for owned in (False, True):
        with refused(UrResult.INVALID_EVENT, out):
            client.adapter.urEventCreateWithNativeHandle(
                native, context, NativeHandleProperties(owned), out
            )
    use(client, queue)


@needs_data
@owned
@first
def test_queues(client: Client, queue: Queue, owned: bool, first: int) -> None:
    """LIFE-2: what is released first leaves the list to the other."""
    both = [queue, second_queue(client, queue, owned)]
    for each in both:
        use(client, each)
    client.adapter.urQueueRelease(both.pop(first))
    use(client, both[0])
    client.adapter.urQueueRelease(both[0])


@first
def test_a_shared_list_is_empty_when_both_queues_are(
    client: Client, controls: Controls, queue: Queue, first: int
) -> None:
    """What one of them appends is in the other's way."""
    both = [queue, second_queue(client, queue, False)]
    answer: Out[bool] = Out()
    with hold(controls, queue):
        event: Out[Event] = Out()
        client.adapter.urEnqueueEventsWait(both[1 - first], 0, None, event)
        client.adapter.urQueueGetInfo(both[first], QueueInfo.EMPTY, 1, answer, None)
        assert answer.value is False
    client.release(event.value)
    client.adapter.urQueueRelease(both[1])


@needs_data
@owned
def test_the_context_closes_with_both_queues(
    client: Client, make_context: Callable[..., Context], owned: bool
) -> None:
    context = make_context()
    queue = context.create_queue()
    second = second_queue(client, queue, owned)
    use(client, second)
    assert context.close(TIMEOUT_NS)
    assert queue.is_closed or second.is_closed


@needs_data
@owned
@first
def test_contexts(client: Client, device: Device, owned: bool, first: int) -> None:
    """Each has pools and queues of its own in the one native context."""
    original = client.create_context([device])
    both = [original, second_context(client, original, owned)]
    released = both.pop(first)
    client.adapter.urContextRelease(released)
    assert released.is_closed
    queue = client.create_queue(both[0], device)
    use(client, queue)
    client.adapter.urQueueRelease(queue)
    client.adapter.urContextRelease(both[0])
    assert both[0].is_closed


@pytest.mark.usefixtures("controls")  # Intel's driver lets it go
def test_a_context_that_the_driver_does_not_let_go(client: Client, device: Device) -> None:
    """ERR-1: it can be released again when somebody else's object is gone from it."""
    context = client.create_context([device])
    theirs = ze_list.create_immediate(context.native.handle, device.handle)
    with pytest.raises(UrError):
        client.adapter.urContextRelease(context)
    ze_list.destroy(theirs)
    client.adapter.urContextRelease(context)
    assert context.native.is_released
    with refused(UrResult.INVALID_CONTEXT):
        client.adapter.urContextRelease(context)


@needs_data
def test_natives_of_another_context(
    client: Client, context: Context, device: Device, queue: Queue
) -> None:
    other = client.create_context([device])
    event: Out[Event] = Out()
    client.adapter.urEnqueueEventsWait(queue, 0, None, event)
    native = native_of(client.adapter.urEventGetNativeHandle, event.value)
    out: Out[Any] = Out()
    with refused(UrResult.INVALID_CONTEXT, out):
        client.adapter.urEventCreateWithNativeHandle(native, other, None, out)
    native = native_of(client.adapter.urQueueGetNativeHandle, queue, None)
    with refused(UrResult.INVALID_CONTEXT, out):
        client.adapter.urQueueCreateWithNativeHandle(native, other, device, None, out)
    client.release(event.value)
    client.adapter.urContextRelease(other)
    use(client, queue)


@pytest.mark.needs_execution("an event's times are read")
def test_flags_in_the_chain(client: Client, context: Context, queue: Queue) -> None:
    """The properties of the queue are those of `urQueueCreate`."""
    native = native_of(client.adapter.urQueueGetNativeHandle, queue, None)
    out: Out[Queue] = Out()
    for flags, code in (
        (1 << 30, UrResult.INVALID_ENUMERATION),
        (QueueFlag.ON_DEVICE, UrResult.INVALID_QUEUE_PROPERTIES),
    ):
        properties = NativeHandleProperties(next=QueueProperties(flags))
        with refused(code, out):
            client.adapter.urQueueCreateWithNativeHandle(native, context, None, properties, out)
    properties = NativeHandleProperties(next=QueueProperties(QueueFlag.PROFILING_ENABLE))
    client.adapter.urQueueCreateWithNativeHandle(native, context, None, properties, out)
    answer: Out[int] = Out()
    client.adapter.urQueueGetInfo(out.value, QueueInfo.FLAGS, 4, answer, None)
    assert answer.value == QueueFlag.PROFILING_ENABLE
    event: Out[Event] = Out()
    client.adapter.urEnqueueEventsWait(out.value, 0, None, event)
    client.adapter.urEventWait(*waits([event.value]))
    client.adapter.urEventGetProfilingInfo(event.value, ProfilingInfo.COMMAND_END, 8, answer, None)
    assert answer.value > 0
    client.release(event.value)
    client.adapter.urQueueRelease(out.value)


@pytest.mark.usefixtures("controls")
def test_the_wrong_device_of_a_list(adapter: str) -> None:
    """MT-3: what is known to belong to another device is refused, also when one is named."""
    program = """
    both = Context(sys.argv[1])
    queue, handle = both.create_queue(1), Out()
    adapter.urQueueGetNativeHandle(queue, None, handle)
    make = adapter.urQueueCreateWithNativeHandle
    print(answer(make, handle.value, both, first, None, Out()),
          answer(make, handle.value, both, second, None, Out()),
          answer(make, handle.value, both, None, None, Out()))
    print(both.close())
    """
    assert run_on_two(program, adapter) == ["INVALID_DEVICE SUCCESS SUCCESS", "True"]
