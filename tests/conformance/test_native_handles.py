# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Native lists and events: ours for others to use, and theirs for us."""

from collections.abc import Callable, Iterator

import pytest

from tests.helpers.calls import LevelZeroCalls
from tests.helpers.gates import hold
from tests.helpers.usm import MIB, TIMEOUT_NS, finish, pool_of, read
from urasync_l0 import Command, Context, Event, Queue, UsmType
from urasync_l0.enums import EventStatus, QueueFlag
from urasync_l0.result import InvalidDeviceError, ProfilingInfoNotAvailableError
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze import command_list as ze_list
from urasync_l0.ze import event as ze_event
from urasync_l0.ze import loader
from urasync_l0.ze.handles import CommandListHandle, EventHandle, handle_value


@pytest.fixture
def native_list(context: Context) -> CommandListHandle:
    """Somebody else's in-order immediate list."""
    device = context.devices[0]
    return ze_list.create_immediate(context.native.handle, device.handle)


class TheirEvent:
    """Somebody else's event."""

    def __init__(self, context: Context) -> None:
        handles = [device.handle for device in context.devices]
        self.pool = ze_event.create_pool(context.native.handle, handles, 1)
        self.handle: EventHandle = ze_event.create(self.pool, 0)
        self.is_ours = True

    @property
    def value(self) -> int:
        return handle_value(self.handle)


@pytest.fixture
def their_event(context: Context) -> Iterator[TheirEvent]:
    event = TheirEvent(context)
    yield event
    ze_event.host_signal(event.handle) if event.is_ours else None
    assert context.close(TIMEOUT_NS) or not event.is_ours


def destroy(event: TheirEvent) -> None:
    ze_event.destroy(event.handle)
    ze_event.destroy_pool(event.pool)
    event.is_ours = False


# -- queues ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_number", [False, True], ids=["handle", "number"])
def test_a_queue_over_a_list(
    controls: Controls, context: Context, native_list: CommandListHandle, as_number: bool
) -> None:
    """It allocates, transfers and frees like any other, beside what its owner appends."""
    handle = handle_value(native_list) if as_number else native_list
    queue = context.create_queue_with_native_handle(handle, context.devices[0])
    assert handle_value(queue.handle) == handle_value(native_list)
    lists = controls.live_objects()["command_list"]
    with queue.alloc_device(64) as allocation:
        ze_list.append_memory_fill(native_list, allocation.ptr, b"\x21", 64)
        assert read(queue, allocation) == b"\x21" * 64
    assert queue.close(TIMEOUT_NS)
    assert controls.live_objects()["command_list"] == lists
    ze_list.destroy(native_list)


def test_an_owned_list_is_destroyed(
    controls: Controls, context: Context, native_list: CommandListHandle
) -> None:
    lists = controls.live_objects()["command_list"]
    queue = context.create_queue_with_native_handle(native_list, 0, is_owned=True)
    assert queue.close(TIMEOUT_NS)
    assert controls.live_objects()["command_list"] == lists - 1


def test_closing_waits_for_the_list(
    controls: Controls, context: Context, native_list: CommandListHandle
) -> None:
    """LIFE-2: not owned is completed all the same, also what its owner appended."""
    queue = context.create_queue_with_native_handle(native_list, 0)
    target = bytearray(4)
    with hold(controls, queue) as held:
        queue.memcpy(target, b"abcd")
        assert not queue.close(1_000_000)
        held.release()
        assert queue.close(TIMEOUT_NS)
    assert bytes(target) == b"abcd"
    ze_list.destroy(native_list)


def test_the_context_closes_before_the_list(
    context: Context, native_list: CommandListHandle
) -> None:
    queue = context.create_queue_with_native_handle(native_list, 0)
    queue.record()
    assert context.native.lists[queue.id].close(TIMEOUT_NS)
    ze_list.destroy(native_list)
    assert context.close(TIMEOUT_NS)


@pytest.mark.needs_execution("an event must be seen complete", run=False)
def test_flags_of_a_list(context: Context, native_list: CommandListHandle) -> None:
    queue = context.create_queue_with_native_handle(
        native_list, 0, flags=QueueFlag.PROFILING_ENABLE, is_owned=True
    )
    event = queue.record()
    assert event.wait(TIMEOUT_NS)
    assert event.profile().end > 0


def test_the_device_of_a_list(context: Context, native_list: CommandListHandle) -> None:
    """Without one the driver is asked; an old loader cannot, and one device needs no answer."""
    if len(context.devices) == 1 or loader.has("zeCommandListGetDeviceHandle"):
        queue = context.create_queue_with_native_handle(native_list, is_owned=True)
        assert queue.device is context.devices[0]
    else:
        with pytest.raises(InvalidDeviceError, match="name the device"):
            context.create_queue_with_native_handle(native_list)
        ze_list.destroy(native_list)


@pytest.mark.needs_execution("an event must be seen complete")
def test_a_native_handle_of_ours(context: Context, queue: Queue, other_queue: Queue) -> None:
    """What somebody appends to our list by its handle comes in its order."""
    event = queue.record()
    allocation = queue.alloc_device(8)
    ze_list.append_wait_on_events(other_queue.handle, ze_list.event_array([event.handle]))
    ze_list.append_memory_fill(queue.handle, allocation.ptr, b"\x05", 8)
    assert read(queue, allocation) == b"\x05" * 8
    finish(other_queue)


# -- events ----------------------------------------------------------------------------------------


@pytest.mark.needs_execution("an event must be seen complete")
def test_the_host_waits_for_their_event(context: Context, their_event: TheirEvent) -> None:
    event = context.create_event_with_native_handle(their_event.value)
    assert event.queue is None
    assert event.context is context
    assert event.command is Command.ENQUEUE_NATIVE_EXP
    assert handle_value(event.handle) == their_event.value
    states = [event.status]
    assert not event.wait(1_000_000)
    with pytest.raises(ProfilingInfoNotAvailableError):
        event.profile()
    ze_event.host_signal(their_event.handle)
    assert event.wait(TIMEOUT_NS)
    with LevelZeroCalls() as calls:
        assert event.is_complete()
        states.append(event.status)
    assert states == [EventStatus.SUBMITTED, EventStatus.COMPLETE]
    assert calls.total == 0
    event.release()
    destroy(their_event)


@pytest.mark.needs_execution("an event must be seen complete")
def test_queues_wait_for_their_event(
    context: Context, queue: Queue, other_queue: Queue, their_event: TheirEvent
) -> None:
    target = bytearray(4)
    event = context.create_event_with_native_handle(their_event.value)
    queue.memcpy(target, b"abcd", wait=(event,))
    with other_queue.alloc_device(64, wait=(event,)):
        other_queue.barrier((event,))
    assert not queue.finish(1_000_000)
    assert not other_queue.finish(1_000_000)
    assert bytes(target) == b"\0" * 4
    ze_event.host_signal(their_event.handle)
    finish(queue)
    finish(other_queue)
    assert bytes(target) == b"abcd"
    # Who waited for it knows that it has happened.
    assert event.mark.is_complete()
    with LevelZeroCalls() as calls:
        queue.wait(event)
    assert calls.total == 0
    event.release()
    destroy(their_event)


def test_their_event_proves_no_order(
    controls: Controls, context: Context, queue: Queue, other_queue: Queue, their_event: TheirEvent
) -> None:
    """Though it is signalled on our queue, behind a free: nobody here can know that."""
    pool = pool_of(queue, UsmType.DEVICE)
    allocation = queue.alloc_device(MIB)
    with hold(controls, queue) as held:
        allocation.free()
        ze_list.append_signal_event(queue.handle, their_event.handle)
        event = context.create_event_with_native_handle(their_event.value)
        before = pool.statistics().reused_clock
        other = other_queue.alloc_device(MIB, wait=(event,))
        assert pool.statistics().reused_clock == before
        held.release()
        assert event.wait(TIMEOUT_NS)
    assert other.ptr != allocation.ptr
    other.free()
    event.release()
    finish(queue)
    finish(other_queue)
    destroy(their_event)


def test_events_of_ours_by_handle(context: Context, queue: Queue, other_queue: Queue) -> None:
    """A round trip: our event's handle, taken for somebody else's, is waited for all the same."""
    ours = queue.record()
    theirs = context.create_event_with_native_handle(handle_value(ours.handle))
    other_queue.wait(theirs)
    finish(other_queue)
    assert theirs.is_complete()
    theirs.release()
    ours.release()


@pytest.mark.parametrize("is_owned", [False, True], ids=["theirs", "owned"])
def test_who_destroys_it(
    controls: Controls,
    context: Context,
    queue: Queue,
    their_event: TheirEvent,
    is_owned: bool,
) -> None:
    """Only if owned, and not before it has happened and the queue has passed its wait."""
    events = controls.live_objects()["event"]
    event = context.create_event_with_native_handle(their_event.value, is_owned=is_owned)
    with hold(controls, queue) as held:
        queue.wait(event)
        event.release()
        ze_event.host_signal(their_event.handle)
        for _ in range(3):
            context.native.foreign_events.recycle()
        assert controls.live_objects()["event"] >= events
        held.release()
        finish(queue)
    finish(queue)
    with LevelZeroCalls() as calls:
        context.native.foreign_events.recycle()
    assert calls.total == 0
    if is_owned:
        ze_event.destroy_pool(their_event.pool)  # refused while it holds an event
        their_event.is_ours = False
    else:
        destroy(their_event)


def test_an_owned_event_that_never_happens(
    make_context: Callable[..., Context], controls: Controls
) -> None:
    """MEM-5: it goes with the context."""
    context = make_context()
    their_event = TheirEvent(context)
    event: Event = context.create_event_with_native_handle(their_event.value, is_owned=True)
    before = controls.live_objects()["event"]
    event.release()
    context.native.foreign_events.recycle()
    assert controls.live_objects()["event"] == before
    context.native.foreign_events.close()  # as the context's end does
    assert controls.live_objects()["event"] == before - 1
    ze_event.destroy_pool(their_event.pool)
