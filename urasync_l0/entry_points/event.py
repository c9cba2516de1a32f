# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entry points of events, and of the commands that do nothing but wait and signal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from urasync_l0 import reference_count
from urasync_l0.entry_points._handles import (
    close_unused,
    complete,
    flags,
    handle,
    live_context,
    live_event,
    live_queue,
    pointer,
    wait_list,
    write_event,
)
from urasync_l0.enums import EnqueueExtFlag, EventInfo, ExecutionInfo, ProfilingInfo
from urasync_l0.info import ENUMERATION, HANDLE, UINT32, UINT64, InfoTable, Property
from urasync_l0.result import (
    InvalidEnumerationError,
    InvalidEventError,
    InvalidValueError,
)
from urasync_l0.ze.handles import handle_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from urasync_l0.context import Context
    from urasync_l0.descriptors import EnqueueExtProperties, NativeHandleProperties
    from urasync_l0.entry_points.parameters import EventList
    from urasync_l0.out import Out
    from urasync_l0.queue import Queue
    from urasync_l0.recorded_event import Event

_INFO: InfoTable[Event] = InfoTable(
    {
        EventInfo.COMMAND_QUEUE: Property(HANDLE, lambda event: event.queue),
        EventInfo.CONTEXT: Property(HANDLE, lambda event: event.context),
        EventInfo.COMMAND_TYPE: Property(ENUMERATION, lambda event: event.command),
        EventInfo.COMMAND_EXECUTION_STATUS: Property(ENUMERATION, lambda event: event.status),
        EventInfo.REFERENCE_COUNT: Property(UINT32, reference_count.count),
    },
    live=live_event,
)

_PROFILING: InfoTable[Event] = InfoTable(
    {
        ProfilingInfo.COMMAND_QUEUED: Property(UINT64, lambda event: event.profile().queued),
        ProfilingInfo.COMMAND_SUBMIT: Property(UINT64, lambda event: event.profile().submit),
        ProfilingInfo.COMMAND_START: Property(UINT64, lambda event: event.profile().start),
        ProfilingInfo.COMMAND_END: Property(UINT64, lambda event: event.profile().end),
        ProfilingInfo.COMMAND_COMPLETE: Property(UINT64, lambda event: event.profile().complete),
    },
    live=live_event,
)


class EventEntryPoints:
    """``urEvent…``, ``urEnqueueEventsWait…`` and ``urEnqueueTimestampRecordingExp``."""

    def urEventGetInfo(
        self,
        event: Event | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """An `EventInfo`."""
        _INFO.answer(handle(event, "event"), prop_name, prop_size, prop_value, prop_size_ret)

    def urEventGetProfilingInfo(
        self,
        event: Event | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `ProfilingInfo`, in nanoseconds."""
        event = handle(event, "event")
        if prop_value is None and prop_size_ret is None:
            # Who wants no answer asks whether there is one.
            live_event(event).require_times()
        _PROFILING.answer(event, prop_name, prop_size, prop_value, prop_size_ret)

    def urEventWait(self, num_events: int, event_wait_list: EventList) -> None:
        """Block until all are complete, of whichever contexts."""
        listed = pointer(event_wait_list, "event_wait_list")
        if not num_events or num_events != len(listed):
            raise InvalidValueError(
                f"{len(listed)} events are given, but {num_events} are counted; there must be one."
            )
        events: list[Event] = []
        for event in listed:
            if event is None:
                raise InvalidEventError("An event to wait for is a null handle.")
            events.append(live_event(event))
        for event in events:
            event.wait()

    def urEventRetain(self, event: Event | None) -> None:
        """Add a reference."""
        reference_count.retain(live_event(handle(event, "event")))

    def urEventRelease(self, event: Event | None) -> None:
        """Give a reference back. After the last one the event is released; calls no driver."""
        released = live_event(handle(event, "event"))
        reference_count.release(released, released.release)
        close_unused(released.context)

    def urEventGetNativeHandle(self, event: Event | None, native_event: Out[int] | None) -> None:
        """The ``ze_event_handle_t``."""
        event = handle(event, "event")
        native_event = pointer(native_event, "native_event")
        native_event.value = handle_value(live_event(event).handle)

    def urEventCreateWithNativeHandle(
        self,
        native_event: int,
        context: Context | None,
        properties: NativeHandleProperties | None,
        event: Out[Event] | None,
    ) -> None:
        """An event over a ``ze_event_handle_t``; over one of ours, a second event for its command.

        What is no such handle cannot be told from one.
        """
        context = handle(context, "context")
        event = pointer(event, "event")
        event.value = live_context(context).create_event_with_native_handle(
            native_event,
            is_owned=properties is not None and properties.is_native_handle_owned,
        )

    def urEventSetCallback(
        self,
        event: Event | None,
        exec_status: int,
        notify: Callable[[Event, int, Any], object] | None,
        user_data: Any,
    ) -> None:
        """Have a function called, with the event, the state and the data, at an `ExecutionInfo`."""
        event = handle(event, "event")
        notify = pointer(notify, "notify")
        try:
            status = ExecutionInfo(exec_status)
        except ValueError:
            raise InvalidEnumerationError(
                f"There is no execution status {exec_status:#x}."
            ) from None
        live_event(event).set_callback(notify, status, user_data)

    # -- commands ---------------------------------------------------------------------------------

    def urEnqueueEventsWait(
        self,
        queue: Queue | None,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """Wait for events, or for everything enqueued so far."""
        queue = live_queue(handle(queue, "queue"))
        waits = wait_list(num_events_in_wait_list, event_wait_list)
        write_event(event, queue.wait(waits, event is not None))

    def urEnqueueEventsWaitWithBarrier(
        self,
        queue: Queue | None,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """The same, and everything enqueued later comes after it."""
        queue = live_queue(handle(queue, "queue"))
        waits = wait_list(num_events_in_wait_list, event_wait_list)
        write_event(event, queue.barrier(waits, event is not None))

    def urEnqueueEventsWaitWithBarrierExt(
        self,
        queue: Queue | None,
        properties: EnqueueExtProperties | None,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """The same with hints for the command."""
        handle(queue, "queue")
        if properties is not None:
            known = EnqueueExtFlag.LOW_POWER_EVENTS_SUPPORT
            flags(properties.flags, known, "The properties' flags")
        self.urEnqueueEventsWaitWithBarrier(queue, num_events_in_wait_list, event_wait_list, event)

    def urEnqueueTimestampRecordingExp(
        self,
        queue: Queue | None,
        blocking: bool,
        num_events_in_wait_list: int,
        event_wait_list: EventList,
        event: Out[Event] | None,
    ) -> None:
        """An event with the device's time at its place in the queue."""
        queue = handle(queue, "queue")
        event = pointer(event, "event")
        live_queue(queue)
        waits = wait_list(num_events_in_wait_list, event_wait_list)
        recorded = queue.record_timestamp(waits)
        if blocking:
            complete(recorded)
        event.value = recorded
