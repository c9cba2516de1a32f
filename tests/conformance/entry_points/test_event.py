# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The entry points of events, and of the commands that only wait and signal."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.helpers.calls import SIGNAL, WAIT, LevelZeroCalls
from tests.helpers.entries import Client, refused, waits, written
from tests.helpers.gates import hold
from tests.helpers.usm import TIMEOUT_NS
from urasync_l0 import Command, Context, Device, Event, Queue, UrError, UrResult, UsmType
from urasync_l0.descriptors import EnqueueExtProperties, NativeHandleProperties
from urasync_l0.enums import (
    EnqueueExtFlag,
    EventInfo,
    EventStatus,
    ExecutionInfo,
    ProfilingInfo,
    QueueFlag,
)
from urasync_l0.out import Out
from urasync_l0.software_driver.controls import Controls
from urasync_l0.ze import event as ze_event
from urasync_l0.ze.handles import handle_value
from urasync_l0.ze.result import ZeResult

BARRIER = "zeCommandListAppendBarrier"

Enqueue = Callable[[Client, Queue, list[Event], Out[Event] | None], None]

COMMANDS: dict[str, tuple[Command, Enqueue]] = {
    "events_wait": (
        Command.EVENTS_WAIT,
        lambda c, q, w, e: c.adapter.urEnqueueEventsWait(q, *waits(w), e),
    ),
    "barrier": (
        Command.EVENTS_WAIT_WITH_BARRIER,
        lambda c, q, w, e: c.adapter.urEnqueueEventsWaitWithBarrier(q, *waits(w), e),
    ),
    "barrier_ext": (
        Command.EVENTS_WAIT_WITH_BARRIER,
        lambda c, q, w, e: c.adapter.urEnqueueEventsWaitWithBarrierExt(q, None, *waits(w), e),
    ),
    "timestamp": (
        Command.TIMESTAMP_RECORDING_EXP,
        lambda c, q, w, e: c.adapter.urEnqueueTimestampRecordingExp(q, False, *waits(w), e),
    ),
}
WAITS = [name for name in COMMANDS if name != "timestamp"]


@pytest.fixture(params=list(COMMANDS))
def command(request: pytest.FixtureRequest) -> str:
    """Each command that only waits and signals."""
    return str(request.param)


def enqueue(client: Client, queue: Queue, name: str, wait: list[Event] | None = None) -> Event:
    out: Out[Event] = Out()
    COMMANDS[name][1](client, queue, wait or [], out)
    return written(out)


def info(client: Client, event: Event, prop_name: EventInfo) -> Any:
    out: Out[Any] = Out()
    client.adapter.urEventGetInfo(event, prop_name, 8, out, None)
    return written(out)


def profiling(client: Client, event: Event, prop_name: ProfilingInfo) -> int:
    out: Out[int] = Out()
    client.adapter.urEventGetProfilingInfo(event, prop_name, 8, out, None)
    return written(out)


def wait(client: Client, *events: Event) -> None:
    client.adapter.urEventWait(len(events), events)


# -- commands --------------------------------------------------------------------------------------


def test_events_of_commands(client: Client, queue: Queue, context: Context, command: str) -> None:
    event = enqueue(client, queue, command)
    wait(client, event)
    assert info(client, event, EventInfo.COMMAND_TYPE) == COMMANDS[command][0]
    assert info(client, event, EventInfo.COMMAND_QUEUE) is queue
    assert info(client, event, EventInfo.CONTEXT) is context
    assert info(client, event, EventInfo.COMMAND_EXECUTION_STATUS) == EventStatus.COMPLETE
    assert info(client, event, EventInfo.REFERENCE_COUNT) == 1
    client.release(event)


def test_an_empty_list_means_everything_before(
    client: Client, queue: Queue, controls: Controls, command: str
) -> None:
    target = bytearray(4)
    with hold(controls, queue) as held:
        client.adapter.urEnqueueUSMMemcpy(queue, False, target, b"abcd", 4, 0, None, None)
        event = enqueue(client, queue, command)
        assert info(client, event, EventInfo.COMMAND_EXECUTION_STATUS) == EventStatus.SUBMITTED
        assert target == b"\0" * 4
        held.release()
        wait(client, event)
    assert target == b"abcd"
    client.release(event)


def test_waits_for_events_of_another_queue(
    client: Client, queue: Queue, other_queue: Queue, controls: Controls, command: str
) -> None:
    """Everything behind the command waits as well, whether or not it has an event."""
    target = bytearray(4)
    with hold(controls, other_queue) as held:
        awaited = enqueue(client, other_queue, "events_wait")
        event = enqueue(client, queue, command, [awaited])
        later = enqueue(client, queue, "events_wait")
        if command in WAITS:
            COMMANDS[command][1](client, queue, [enqueue_and_keep(client, other_queue)], None)
        client.adapter.urEnqueueUSMMemcpy(queue, False, target, b"abcd", 4, 0, None, None)
        for each in (event, later):
            status = info(client, each, EventInfo.COMMAND_EXECUTION_STATUS)
            assert status == EventStatus.SUBMITTED
        assert target == b"\0" * 4
        held.release()
        client.adapter.urQueueFinish(queue)
    assert target == b"abcd"
    client.release(awaited, event, later)


def enqueue_and_keep(client: Client, queue: Queue) -> Event:
    """An event whose owner drops it: collection gives it back."""
    return enqueue(client, queue, "barrier")


@pytest.mark.parametrize("name", WAITS)
@pytest.mark.parametrize("waiting", [False, True], ids=["no_wait", "one_wait"])
@pytest.mark.parametrize("asking", [False, True], ids=["no_event", "event"])
def test_appends_only_what_is_asked_for(
    client: Client,
    queue: Queue,
    other_queue: Queue,
    controls: Controls,
    name: str,
    waiting: bool,
    asking: bool,
) -> None:
    """ORD-11: nothing at all for no list and no event; never a wait without events."""
    with hold(controls, other_queue):
        awaited = enqueue(client, other_queue, "events_wait")
        out: Out[Event] = Out()
        with LevelZeroCalls() as calls:
            listed = [awaited] if waiting else []
            COMMANDS[name][1](client, queue, listed, out if asking else None)
        assert (calls.of(WAIT), calls.of(SIGNAL), calls.of(BARRIER)) == (waiting, asking, 0)
        if not waiting and not asking:
            assert calls.total == 0
        assert out.is_set == asking
    client.release(awaited, *([out.value] if asking else []))


def test_one_barrier_tells_the_time(
    client: Client, queue: Queue, other_queue: Queue, controls: Controls
) -> None:
    """ORD-11: a time stamp is one append, waits and all."""
    with hold(controls, other_queue):
        awaited = enqueue(client, other_queue, "events_wait")
        with LevelZeroCalls() as calls:
            event = enqueue(client, queue, "timestamp", [awaited])
        assert (calls.of(WAIT), calls.of(SIGNAL), calls.of(BARRIER)) == (0, 0, 1)
    client.release(awaited, event)


@pytest.mark.parametrize("name", COMMANDS)
def test_wait_lists_that_cannot_be(client: Client, queue: Queue, name: str) -> None:
    event = enqueue(client, queue, "events_wait")
    dead = enqueue(client, queue, "events_wait")
    client.release(dead)
    adapter = client.adapter
    entries: dict[str, Callable[..., None]] = {
        "events_wait": partial(adapter.urEnqueueEventsWait, queue),
        "barrier": partial(adapter.urEnqueueEventsWaitWithBarrier, queue),
        "barrier_ext": partial(adapter.urEnqueueEventsWaitWithBarrierExt, queue, None),
        "timestamp": partial(adapter.urEnqueueTimestampRecordingExp, queue, True),
    }
    out: Out[Event] = Out()
    for count, listed in (
        (1, None),
        (0, [event]),
        (0, []),
        (2, [event]),
        (1, [None]),
        (2, [event, dead]),
    ):
        with refused(UrResult.INVALID_EVENT_WAIT_LIST, out):
            entries[name](count, listed, out)
    client.release(event)


def test_ext_flags(client: Client, queue: Queue) -> None:
    ext = client.adapter.urEnqueueEventsWaitWithBarrierExt
    for flags in (0, EnqueueExtFlag.LOW_POWER_EVENTS_SUPPORT):
        out: Out[Event] = Out()
        ext(queue, EnqueueExtProperties(flags), 0, None, out)
        client.release(written(out))
    unset: Out[Event] = Out()
    for flags in (1, 1 << 12, 1 << 31):
        with refused(UrResult.INVALID_ENUMERATION, unset):
            ext(queue, EnqueueExtProperties(flags), 0, None, unset)


@pytest.mark.parametrize("name", COMMANDS)
def test_null_queue(client: Client, name: str) -> None:
    out: Out[Event] = Out()
    with refused(UrResult.INVALID_NULL_HANDLE, out):
        COMMANDS[name][1](client, None, [], out)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", COMMANDS)
def test_each_failing_call(
    client: Client,
    queue: Queue,
    other_queue: Queue,
    controls: Controls,
    name: str,
) -> None:
    """ERR-1, ERR-8: no event is handed out, no object is left, and the next call works."""
    with hold(controls, other_queue):
        awaited = enqueue(client, other_queue, "events_wait")
        with LevelZeroCalls() as calls:
            client.release(enqueue(client, queue, name, [awaited]))
        client.adapter.urEventGetInfo(awaited, EventInfo.REFERENCE_COUNT, 4, Out(), None)
        for entry, count in calls.counts.items():
            for nth in range(1, count + 1):
                before = controls.live_objects()
                out: Out[Event] = Out()
                controls.fail(entry, nth, int(ZeResult.ERROR_UNKNOWN))
                try:
                    COMMANDS[name][1](client, queue, [awaited], out)
                except UrError:
                    assert not out.is_set
                    assert controls.live_objects() == before
                else:
                    client.release(written(out))
                controls.clear_failures()
                client.release(enqueue(client, queue, name, [awaited]))
    client.release(awaited)


# -- info ------------------------------------------------------------------------------------------

INFO: list[tuple[EventInfo, int, Callable[[Event], Any]]] = [
    (EventInfo.COMMAND_QUEUE, 8, lambda event: event.queue),
    (EventInfo.CONTEXT, 8, lambda event: event.context),
    (EventInfo.COMMAND_TYPE, 4, lambda event: Command.EVENTS_WAIT),
    (EventInfo.COMMAND_EXECUTION_STATUS, 4, lambda event: EventStatus.COMPLETE),
    (EventInfo.REFERENCE_COUNT, 4, lambda event: 1),
]


@pytest.mark.parametrize(
    ("prop_name", "size", "value"), INFO, ids=[row[0].name.lower() for row in INFO]
)
def test_info(
    client: Client, queue: Queue, prop_name: EventInfo, size: int, value: Callable[[Event], Any]
) -> None:
    event = enqueue(client, queue, "events_wait")
    wait(client, event)
    check_info(client.adapter.urEventGetInfo, event, prop_name, size, value(event))
    client.release(event)


def check_info(get: Any, event: Event, prop_name: int, size: int, value: object) -> None:
    needed: Out[int] = Out()
    get(event, prop_name, 0, None, needed)
    assert written(needed) == size
    for room in (size, size + 8):
        out: Out[Any] = Out()
        get(event, prop_name, room, out, None)
        assert written(out) == value
    unset: Out[Any] = Out()
    for room in (0, size - 1):
        with pytest.raises(UrError) as caught:
            get(event, prop_name, room, unset, None)
        assert caught.value.code is UrResult.INVALID_SIZE
    assert not unset.is_set
    with refused(UrResult.INVALID_NULL_POINTER):
        get(event, prop_name, size, None, None)
    with refused(UrResult.INVALID_NULL_HANDLE, unset):
        get(None, prop_name, size, unset, None)
    for unknown in (5, 0x7FFFFFFF):
        with refused(UrResult.UNSUPPORTED_ENUMERATION, unset):
            get(event, unknown, 8, unset, None)


@pytest.mark.parametrize("prop_name", ProfilingInfo, ids=lambda each: each.name.lower())
@pytest.mark.needs_execution("only execution writes time stamps", run=False)
def test_profiling_info(
    client: Client,
    context: Context,
    device: Device,
    submission: QueueFlag,
    prop_name: ProfilingInfo,
) -> None:
    queue = client.create_queue(context, device, QueueFlag.PROFILING_ENABLE | submission)
    event = enqueue(client, queue, "events_wait")
    wait(client, event)
    value = profiling(client, event, prop_name)
    assert value > 0
    check_info(client.adapter.urEventGetProfilingInfo, event, prop_name, 8, value)
    client.release(event)
    client.adapter.urQueueRelease(queue)


@pytest.mark.needs_execution("only execution writes time stamps", run=False)
def test_profiling_is_on_the_scale_of_the_device(
    client: Client, context: Context, device: Device, submission: QueueFlag, kind: UsmType
) -> None:
    """Allocation, fill and free, one after the other, between two looks at the clock."""

    def now() -> int:
        out: Out[int] = Out()
        client.adapter.urDeviceGetGlobalTimestamps(device, out, None)
        return written(out)

    queue = client.create_queue(context, device, QueueFlag.PROFILING_ENABLE | submission)
    times = [now()]
    mem, allocated = client.alloc(queue, kind, 4096)
    filled = client.fill(queue, mem, b"\x01", 4096)
    freed = client.free(queue, mem)
    wait(client, allocated, filled, freed)
    for event in (allocated, filled, freed):
        queued, submit, start, end, complete = (
            profiling(client, event, each) for each in ProfilingInfo
        )
        assert queued <= submit <= start <= end <= complete
        assert times[-1] <= start
        times += [start, end]
    times.append(now())
    assert times == sorted(times)
    client.release(allocated, filled, freed)
    client.adapter.urQueueRelease(queue)


def test_no_profiling_info(
    client: Client,
    context: Context,
    device: Device,
    queue: Queue,
    controls: Controls,
    submission: QueueFlag,
) -> None:
    """Neither of a queue that takes no times, nor of a command that is not complete."""
    unset: Out[int] = Out()
    get = client.adapter.urEventGetProfilingInfo
    plain = enqueue(client, queue, "events_wait")
    wait(client, plain)
    with refused(UrResult.PROFILING_INFO_NOT_AVAILABLE, unset):
        get(plain, ProfilingInfo.COMMAND_START, 8, unset, None)
    with refused(UrResult.PROFILING_INFO_NOT_AVAILABLE):
        get(plain, ProfilingInfo.COMMAND_START, 8, None, None)  # only asks whether there are times
    profiled = client.create_queue(context, device, QueueFlag.PROFILING_ENABLE | submission)
    with hold(controls, profiled):
        event = enqueue(client, profiled, "barrier")
        for prop_name in ProfilingInfo:
            with pytest.raises(UrError) as caught:
                get(event, prop_name, 8, unset, None)
            assert caught.value.code is UrResult.PROFILING_INFO_NOT_AVAILABLE
    assert not unset.is_set
    client.release(plain, event)
    client.adapter.urQueueRelease(profiled)


@pytest.mark.parametrize("blocking", [False, True], ids=["asynchronous", "blocking"])
@pytest.mark.needs_execution("only execution writes time stamps", run=False)
def test_timestamp_recording(client: Client, queue: Queue, blocking: bool) -> None:
    """On a queue without profiling too: one moment, at or after the call."""
    out: Out[Event] = Out()
    client.adapter.urEnqueueTimestampRecordingExp(queue, blocking, 0, None, out)
    event = written(out)
    if blocking:
        assert event.mark.is_complete()
    wait(client, event)
    start = profiling(client, event, ProfilingInfo.COMMAND_START)
    assert start == profiling(client, event, ProfilingInfo.COMMAND_END)
    assert start >= profiling(client, event, ProfilingInfo.COMMAND_QUEUED)
    assert start >= profiling(client, event, ProfilingInfo.COMMAND_SUBMIT)
    client.release(event)


def test_timestamp_recording_needs_an_event(client: Client, queue: Queue) -> None:
    with refused(UrResult.INVALID_NULL_POINTER):
        client.adapter.urEnqueueTimestampRecordingExp(queue, True, 0, None, None)


# -- wait ------------------------------------------------------------------------------------------


def test_wait(client: Client, queue: Queue, other_queue: Queue) -> None:
    events = [enqueue(client, each, "events_wait") for each in (queue, other_queue, queue)]
    wait(client, *events)
    with LevelZeroCalls() as calls:
        for event in events:
            status = info(client, event, EventInfo.COMMAND_EXECUTION_STATUS)
            assert status == EventStatus.COMPLETE
        wait(client, *events)
    assert calls.total == 0
    client.release(*events)


def test_waits_that_cannot_be(
    client: Client, queue: Queue, make_context: Callable[..., Context]
) -> None:
    event, dead = (enqueue(client, queue, "events_wait") for _ in range(2))
    client.release(dead)
    foreign = make_context().create_queue().record()
    ur_wait = client.adapter.urEventWait
    with refused(UrResult.INVALID_NULL_POINTER):
        ur_wait(1, None)
    for count, listed in ((0, []), (0, [event]), (2, [event])):
        with refused(UrResult.INVALID_VALUE):
            ur_wait(count, listed)
    unusable: tuple[list[Event | None], ...] = ([None], [event, None], [event, dead])
    for each in unusable:
        with refused(UrResult.INVALID_EVENT):
            ur_wait(len(each), each)
    ur_wait(2, [event, foreign])
    for waited in (event, foreign):
        status = info(client, waited, EventInfo.COMMAND_EXECUTION_STATUS)
        assert status == EventStatus.COMPLETE
    client.release(event)
    foreign.release()


# -- references ------------------------------------------------------------------------------------


def test_references(client: Client, context: Context, queue: Queue) -> None:
    event = enqueue(client, queue, "barrier")
    adapter = client.adapter
    for count in (2, 3):
        adapter.urEventRetain(event)
        assert info(client, event, EventInfo.REFERENCE_COUNT) == count
    for count in (2, 1):
        adapter.urEventRelease(event)
        assert info(client, event, EventInfo.REFERENCE_COUNT) == count
    with LevelZeroCalls() as calls:
        adapter.urEventRelease(event)
    assert calls.total == 0
    out: Out[Any] = Out()
    uses: list[Callable[[], None]] = [
        lambda: adapter.urEventRetain(event),
        lambda: adapter.urEventRelease(event),
        lambda: adapter.urEventWait(1, [event]),
        lambda: adapter.urEventGetInfo(event, EventInfo.CONTEXT, 8, out, None),
        lambda: adapter.urEventGetProfilingInfo(event, ProfilingInfo.COMMAND_END, 8, out, None),
        lambda: adapter.urEventGetNativeHandle(event, out),
        lambda: adapter.urEventSetCallback(event, ExecutionInfo.COMPLETE, print, None),
    ]
    for use in uses:
        with refused(UrResult.INVALID_EVENT, out):
            use()


def test_null_events(client: Client, context: Context) -> None:
    adapter = client.adapter
    out: Out[Any] = Out()
    uses: list[Callable[[], None]] = [
        lambda: adapter.urEventRetain(None),
        lambda: adapter.urEventRelease(None),
        lambda: adapter.urEventGetNativeHandle(None, out),
        lambda: adapter.urEventSetCallback(None, ExecutionInfo.COMPLETE, print, None),
        lambda: adapter.urEventCreateWithNativeHandle(0, None, None, out),
    ]
    for use in uses:
        with refused(UrResult.INVALID_NULL_HANDLE, out):
            use()


def test_events_released_before_they_happen(
    client: Client, queue: Queue, other_queue: Queue, controls: Controls
) -> None:
    """ORD-10: who waits for it still waits for its command."""
    with hold(controls, queue) as held:
        event = enqueue(client, queue, "events_wait")
        waiting = enqueue(client, other_queue, "barrier", [event])
        client.release(event)
        for _ in range(100):
            client.release(enqueue(client, other_queue, "events_wait"))
        status = info(client, waiting, EventInfo.COMMAND_EXECUTION_STATUS)
        assert status == EventStatus.SUBMITTED
        held.release()
        wait(client, waiting)
    client.release(waiting)


# -- callbacks -------------------------------------------------------------------------------------


def test_callback(client: Client, queue: Queue, controls: Controls) -> None:
    called = threading.Event()
    told: list[tuple[Event, int, Any]] = []

    def notify(event: Event, status: int, user_data: Any) -> None:
        told.append((event, status, user_data))
        called.set()

    data = object()
    with hold(controls, queue) as held:
        event = enqueue(client, queue, "events_wait")
        client.adapter.urEventSetCallback(event, ExecutionInfo.COMPLETE, notify, data)
        assert not told
        held.release()
        assert called.wait(TIMEOUT_NS / 1e9)
    assert told == [(event, ExecutionInfo.COMPLETE, data)]
    client.release(event)


def test_callbacks_that_cannot_be(client: Client, queue: Queue) -> None:
    event = enqueue(client, queue, "events_wait")
    set_callback = client.adapter.urEventSetCallback
    with refused(UrResult.INVALID_NULL_POINTER):
        set_callback(event, ExecutionInfo.COMPLETE, None, None)
    with refused(UrResult.UNSUPPORTED_ENUMERATION):
        set_callback(event, ExecutionInfo.QUEUED, print, None)
    for status in (4, 0x7FFFFFFF):
        with refused(UrResult.INVALID_ENUMERATION):
            set_callback(event, status, print, None)
    client.release(event)


# -- native handles --------------------------------------------------------------------------------


def test_native_round_trip(
    client: Client, context: Context, queue: Queue, other_queue: Queue, controls: Controls
) -> None:
    """The event of our own event's handle: it tells the context, the queue and the state."""
    with hold(controls, queue) as held:
        event = enqueue(client, queue, "events_wait")
        native: Out[int] = Out()
        client.adapter.urEventGetNativeHandle(event, native)
        assert written(native) == handle_value(event.handle)
        out: Out[Event] = Out()
        client.adapter.urEventCreateWithNativeHandle(native.value, context, None, out)
        again = written(out)
        assert info(client, again, EventInfo.CONTEXT) is context
        assert info(client, again, EventInfo.COMMAND_QUEUE) is queue
        assert info(client, again, EventInfo.COMMAND_EXECUTION_STATUS) == EventStatus.SUBMITTED
        waiting = enqueue(client, other_queue, "events_wait", [again])
        status = info(client, waiting, EventInfo.COMMAND_EXECUTION_STATUS)
        assert status == EventStatus.SUBMITTED
        held.release()
        wait(client, again, waiting)
    client.release(event, again, waiting)


@pytest.mark.parametrize("is_owned", [False, True], ids=["theirs", "owned"])
def test_a_foreign_event(
    client: Client,
    context: Context,
    queue: Queue,
    controls: Controls,
    is_owned: bool,
) -> None:
    pool = ze_event.create_pool(context.native.handle, [d.handle for d in context.devices], 1)
    handle = ze_event.create(pool, 0)
    properties = NativeHandleProperties(is_owned)
    out: Out[Event] = Out()
    client.adapter.urEventCreateWithNativeHandle(handle_value(handle), context, properties, out)
    event = written(out)
    assert info(client, event, EventInfo.COMMAND_QUEUE) is None
    assert info(client, event, EventInfo.COMMAND_TYPE) == Command.ENQUEUE_NATIVE_EXP
    waiting = enqueue(client, queue, "barrier", [event])
    assert info(client, waiting, EventInfo.COMMAND_EXECUTION_STATUS) == EventStatus.SUBMITTED
    ze_event.host_signal(handle)
    wait(client, event, waiting)
    client.release(event, waiting)
    client.adapter.urQueueFinish(queue)
    if not is_owned:
        ze_event.destroy(handle)
    ze_event.destroy_pool(pool)  # refused while it holds an event


def test_the_null_event_has_happened(client: Client, context: Context, queue: Queue) -> None:
    """Clients make one when they need a handle and no event."""
    out: Out[Event] = Out()
    with LevelZeroCalls() as calls:
        client.adapter.urEventCreateWithNativeHandle(0, context, None, out)
        event = written(out)
        assert info(client, event, EventInfo.COMMAND_EXECUTION_STATUS) == EventStatus.COMPLETE
        wait(client, event)
        client.adapter.urEnqueueEventsWait(queue, 1, [event], None)
    assert calls.total == 0
    client.release(event)


def test_native_handles_that_cannot_be(client: Client, context: Context, queue: Queue) -> None:
    event = enqueue(client, queue, "events_wait")
    native = handle_value(event.handle)
    out: Out[Event] = Out()
    with refused(UrResult.INVALID_NULL_POINTER):
        client.adapter.urEventGetNativeHandle(event, None)
    with refused(UrResult.INVALID_NULL_POINTER):
        client.adapter.urEventCreateWithNativeHandle(native, context, None, None)
    with refused(UrResult.INVALID_NULL_HANDLE, out):
        client.adapter.urEventCreateWithNativeHandle(native, None, None, out)
    client.release(event)
