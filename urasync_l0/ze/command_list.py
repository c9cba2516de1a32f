# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Immediate command lists: commands start as soon as they are appended.

In an in-order list each command starts after the one before it is complete. Signal events are
optional everywhere; a wait array makes a command wait for all its events first. One list must not
be used by two threads at a time.
"""

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import NewType

from urasync_l0.ze._extension import CData, ffi, lib
from urasync_l0.ze.handles import CommandListHandle, ContextHandle, DeviceHandle, EventHandle
from urasync_l0.ze.host_wait import INFINITE, wait_for
from urasync_l0.ze.result import check

# An array of event handles for a wait; ``len()`` tells how many. It does not keep the events alive.
EventArray = NewType("EventArray", CData)


class Priority(IntEnum):
    """``ze_command_queue_priority_t``."""

    NORMAL = lib.ZE_COMMAND_QUEUE_PRIORITY_NORMAL
    LOW = lib.ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW
    HIGH = lib.ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH


class MemoryAdvice(IntEnum):
    """``ze_memory_advice_t``."""

    SET_READ_MOSTLY = lib.ZE_MEMORY_ADVICE_SET_READ_MOSTLY
    CLEAR_READ_MOSTLY = lib.ZE_MEMORY_ADVICE_CLEAR_READ_MOSTLY
    SET_PREFERRED_LOCATION = lib.ZE_MEMORY_ADVICE_SET_PREFERRED_LOCATION
    CLEAR_PREFERRED_LOCATION = lib.ZE_MEMORY_ADVICE_CLEAR_PREFERRED_LOCATION
    SET_NON_ATOMIC_MOSTLY = lib.ZE_MEMORY_ADVICE_SET_NON_ATOMIC_MOSTLY
    CLEAR_NON_ATOMIC_MOSTLY = lib.ZE_MEMORY_ADVICE_CLEAR_NON_ATOMIC_MOSTLY
    BIAS_CACHED = lib.ZE_MEMORY_ADVICE_BIAS_CACHED
    BIAS_UNCACHED = lib.ZE_MEMORY_ADVICE_BIAS_UNCACHED


_NO_EVENT = EventHandle(ffi.NULL)
_NO_EVENTS = EventArray(ffi.NULL)

# The functions below run once for each command, so they find the entry without a look-up in lib.
_append_signal_event = lib.zeCommandListAppendSignalEvent
_append_wait_on_events = lib.zeCommandListAppendWaitOnEvents
_append_memory_copy = lib.zeCommandListAppendMemoryCopy
_append_memory_fill = lib.zeCommandListAppendMemoryFill


SIGNAL_FUNCTION = int(ffi.cast("uintptr_t", ffi.addressof(lib, "zeCommandListAppendSignalEvent")))
"""The address of what appends a signal, for code in C: it takes a list and an event, and is counted
as a call from Python is."""

WAIT_FUNCTION = int(ffi.cast("uintptr_t", ffi.addressof(lib, "zeCommandListAppendWaitOnEvents")))
"""Likewise that of what appends a wait: it takes a list, a number and so many events."""


def event_array(events: Sequence[EventHandle]) -> EventArray:
    """The events as an array for a wait."""
    return EventArray(ffi.new("ze_event_handle_t[]", events))


def create_immediate(
    context: ContextHandle,
    device: DeviceHandle,
    *,
    ordinal: int = 0,
    index: int = 0,
    in_order: bool = True,
    priority: Priority = Priority.NORMAL,
) -> CommandListHandle:
    """An asynchronous immediate list on a device.

    Parameters
    ----------
    ordinal
        Number of the device's queue group.
    index
        Number of the queue in its group.
    """
    description = ffi.new("ze_command_queue_desc_t *")
    description.stype = lib.ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC
    description.ordinal = ordinal
    description.index = index
    description.flags = lib.ZE_COMMAND_QUEUE_FLAG_IN_ORDER if in_order else 0
    description.mode = lib.ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS
    description.priority = priority
    handle = ffi.new("ze_command_list_handle_t *")
    code = lib.zeCommandListCreateImmediate(context, device, description, handle)
    check(code, "zeCommandListCreateImmediate", f"The queue is {index} of group {ordinal}")
    return CommandListHandle(handle[0])


def destroy(command_list: CommandListHandle) -> None:
    """Destroy a list; its commands must be complete."""
    check(lib.zeCommandListDestroy(command_list), "zeCommandListDestroy")


def is_immediate(command_list: CommandListHandle) -> bool:
    """Whether a list is an immediate one.

    Raises
    ------
    UnsupportedFeatureError
        If the loader has no zeCommandListIsImmediate.
    """
    answer = ffi.new("ze_bool_t *")
    check(lib.zeCommandListIsImmediate(command_list, answer), "zeCommandListIsImmediate")
    return bool(answer[0])


def get_device(command_list: CommandListHandle) -> DeviceHandle:
    """The device of a list.

    Raises
    ------
    UnsupportedFeatureError
        If the loader has no zeCommandListGetDeviceHandle.
    """
    device = ffi.new("ze_device_handle_t *")
    check(lib.zeCommandListGetDeviceHandle(command_list, device), "zeCommandListGetDeviceHandle")
    return DeviceHandle(device[0])


def append_signal_event(command_list: CommandListHandle, event: EventHandle) -> None:
    """Signal an event when everything before it in the list is complete."""
    code = _append_signal_event(command_list, event)
    if code:
        check(code, "zeCommandListAppendSignalEvent")


def check_signal(code: int) -> None:
    """Raise what `append_signal_event` does, for a call by `SIGNAL_FUNCTION`."""
    check(code, "zeCommandListAppendSignalEvent")


def append_wait_on_events(command_list: CommandListHandle, events: EventArray) -> None:
    """Make everything after it in the list wait for the events; they must not be none."""
    code = _append_wait_on_events(command_list, len(events), events)
    if code:
        check(code, "zeCommandListAppendWaitOnEvents", f"The list waits for {len(events)} events")


def check_wait(code: int, count: int) -> None:
    """Raise what `append_wait_on_events` does, for a call by `WAIT_FUNCTION`."""
    check(code, "zeCommandListAppendWaitOnEvents", f"The list waits for {count} events")


def append_event_reset(command_list: CommandListHandle, event: EventHandle) -> None:
    """Make an event of a pool unsignalled again, in the list's order."""
    code = lib.zeCommandListAppendEventReset(command_list, event)
    if code:
        check(code, "zeCommandListAppendEventReset")


def append_barrier(
    command_list: CommandListHandle,
    signal: EventHandle | None = None,
    waits: EventArray | None = None,
) -> None:
    """Order everything after it behind everything before it, in a list that is not in-order too."""
    code = lib.zeCommandListAppendBarrier(
        command_list,
        _NO_EVENT if signal is None else signal,
        0 if waits is None else len(waits),
        _NO_EVENTS if waits is None else waits,
    )
    if code:
        check(code, "zeCommandListAppendBarrier")


def append_memory_copy(
    command_list: CommandListHandle,
    destination: int,
    source: int,
    size: int,
    signal: EventHandle | None = None,
    waits: EventArray | None = None,
) -> None:
    """Copy size bytes; the two ranges must not overlap."""
    code = _append_memory_copy(
        command_list,
        ffi.cast("void *", destination),
        ffi.cast("void *", source),
        size,
        _NO_EVENT if signal is None else signal,
        0 if waits is None else len(waits),
        _NO_EVENTS if waits is None else waits,
    )
    if code:
        detail = f"Copying {size} bytes from 0x{source:x} to 0x{destination:x}"
        check(code, "zeCommandListAppendMemoryCopy", detail)


def append_memory_fill(
    command_list: CommandListHandle,
    address: int,
    pattern: bytes,
    size: int,
    signal: EventHandle | None = None,
    waits: EventArray | None = None,
) -> None:
    """Fill size bytes with a repeated pattern.

    Parameters
    ----------
    pattern
        As many bytes as the queue group allows, usually a power of two up to 128; the call copies
        them.
    """
    code = _append_memory_fill(
        command_list,
        ffi.cast("void *", address),
        pattern,
        len(pattern),
        size,
        _NO_EVENT if signal is None else signal,
        0 if waits is None else len(waits),
        _NO_EVENTS if waits is None else waits,
    )
    if code:
        detail = f"Filling {size} bytes at 0x{address:x} with a pattern of {len(pattern)} bytes"
        check(code, "zeCommandListAppendMemoryFill", detail)


def append_memory_copy_region(
    command_list: CommandListHandle,
    destination: int,
    destination_pitches: tuple[int, int],
    source: int,
    source_pitches: tuple[int, int],
    region: tuple[int, int, int],
    signal: EventHandle | None = None,
    waits: EventArray | None = None,
) -> None:
    """Copy bytes of rows; the two regions must not overlap.

    Parameters
    ----------
    destination_pitches, source_pitches
        Bytes from row to row and from slice to slice.
    region
        Bytes of a row, rows of a slice, and slices. All numbers have at most 32 bits.
    """
    width, height, depth = region
    both = ffi.new("ze_copy_region_t *", (0, 0, 0, width, height, depth))
    code = lib.zeCommandListAppendMemoryCopyRegion(
        command_list,
        ffi.cast("void *", destination),
        both,
        *destination_pitches,
        ffi.cast("void *", source),
        both,
        *source_pitches,
        _NO_EVENT if signal is None else signal,
        0 if waits is None else len(waits),
        _NO_EVENTS if waits is None else waits,
    )
    if code:
        detail = (
            f"Copying {width} x {height} x {depth} bytes from 0x{source:x} to 0x{destination:x}, "
            f"with rows and slices {source_pitches} and {destination_pitches} bytes apart"
        )
        check(code, "zeCommandListAppendMemoryCopyRegion", detail)


def append_memory_prefetch(command_list: CommandListHandle, address: int, size: int) -> None:
    """Tell the driver that the list's device will use size bytes of shared memory."""
    code = lib.zeCommandListAppendMemoryPrefetch(command_list, ffi.cast("void *", address), size)
    if code:
        detail = f"{size} bytes at 0x{address:x}"
        check(code, "zeCommandListAppendMemoryPrefetch", detail)


def append_mem_advise(
    command_list: CommandListHandle,
    device: DeviceHandle,
    address: int,
    size: int,
    advice: MemoryAdvice,
) -> None:
    """Give the driver a hint about size bytes of shared memory."""
    pointer = ffi.cast("void *", address)
    code = lib.zeCommandListAppendMemAdvise(command_list, device, pointer, size, advice)
    if code:
        detail = f"The advice is {advice.name} for {size} bytes at 0x{address:x}"
        check(code, "zeCommandListAppendMemAdvise", detail)


def append_write_global_timestamp(
    command_list: CommandListHandle,
    destination: int,
    signal: EventHandle | None = None,
    waits: EventArray | None = None,
) -> None:
    """Write the device's time, 8 bytes in ticks, when everything before it is complete."""
    code = lib.zeCommandListAppendWriteGlobalTimestamp(
        command_list,
        ffi.cast("uint64_t *", destination),
        _NO_EVENT if signal is None else signal,
        0 if waits is None else len(waits),
        _NO_EVENTS if waits is None else waits,
    )
    if code:
        detail = f"The destination is 0x{destination:x}"
        check(code, "zeCommandListAppendWriteGlobalTimestamp", detail)


def host_synchronize(
    command_list: CommandListHandle,
    timeout_ns: int = INFINITE,
    is_known: Callable[[], bool] = lambda: False,
) -> bool:
    """Wait until all commands of the list are complete.

    Parameters
    ----------
    timeout_ns
        Nanoseconds to wait at most; 0 only asks.
    is_known
        Looked at between the calls of a long wait: whether they are complete anyway.

    Returns
    -------
    bool
        True when complete, False when the time ran out first.

    Raises
    ------
    UnsupportedFeatureError
        If the loader has no zeCommandListHostSynchronize; signal an event and wait for it instead.
    """
    name = "zeCommandListHostSynchronize"
    return wait_for(lib.zeCommandListHostSynchronize, name, command_list, timeout_ns, is_known)
