# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Events: of pools, and counter-based ones.

An event of a pool is signalled once and then stays so until reset. A counter-based event needs no
reset: each append that signals it in an in-order list gives it a new meaning.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from urasync_l0.result import ProfilingInfoNotAvailableError
from urasync_l0.ze._extension import ffi, lib
from urasync_l0.ze.handles import ContextHandle, DeviceHandle, EventHandle, EventPoolHandle
from urasync_l0.ze.host_wait import wait_for
from urasync_l0.ze.result import ZeResult, check

_NOT_READY = int(ZeResult.NOT_READY)

# Asked once for each event and poll, so the function finds the entry without a look-up in lib.
_query_status = lib.zeEventQueryStatus

QUERY_FUNCTION = int(ffi.cast("uintptr_t", ffi.addressof(lib, "zeEventQueryStatus")))
"""The address of what asks whether an event is signalled, for code in C: it takes the event, and is
counted as a call from Python is."""


@dataclass(frozen=True, slots=True)
class KernelTimestamp:
    """When an event's command ran, in ticks of the device's timer.

    The global clock goes on between commands; the context's clock runs only while the context does.
    """

    global_start: int
    global_end: int
    context_start: int
    context_end: int


def create_pool(
    context: ContextHandle,
    devices: Sequence[DeviceHandle],
    count: int,
    *,
    host_visible: bool = True,
    kernel_timestamp: bool = False,
    counter_based: bool = False,
) -> EventPoolHandle:
    """A pool of events.

    Parameters
    ----------
    devices
        Devices that may use the events; an empty sequence means all of the context.
    count
        How many events the pool has room for.
    host_visible
        Whether the host may wait for the events and query them.
    kernel_timestamp
        Whether the events take time stamps.
    counter_based
        Whether the events are counter-based, for immediate lists (an extension of the driver).
    """
    description = ffi.new("ze_event_pool_desc_t *")
    description.stype = lib.ZE_STRUCTURE_TYPE_EVENT_POOL_DESC
    description.flags = (lib.ZE_EVENT_POOL_FLAG_HOST_VISIBLE if host_visible else 0) | (
        lib.ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP if kernel_timestamp else 0
    )
    description.count = count
    chained = ffi.new("ze_event_pool_counter_based_exp_desc_t *")
    if counter_based:
        chained.stype = lib.ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC
        chained.flags = lib.ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_IMMEDIATE
        description.pNext = chained
    handles = ffi.new("ze_device_handle_t[]", list(devices)) if devices else ffi.NULL
    pool = ffi.new("ze_event_pool_handle_t *")
    code = lib.zeEventPoolCreate(context, description, len(devices), handles, pool)
    check(code, "zeEventPoolCreate", f"Asked for {count} events")
    return EventPoolHandle(pool[0])


def destroy_pool(pool: EventPoolHandle) -> None:
    """Destroy a pool; its events must be destroyed before."""
    check(lib.zeEventPoolDestroy(pool), "zeEventPoolDestroy")


def create(pool: EventPoolHandle, index: int) -> EventHandle:
    """The pool's event of a number; each number may be in use once. Not signalled at first."""
    description = ffi.new("ze_event_desc_t *")
    description.stype = lib.ZE_STRUCTURE_TYPE_EVENT_DESC
    description.index = index
    description.signal = lib.ZE_EVENT_SCOPE_FLAG_HOST
    description.wait = lib.ZE_EVENT_SCOPE_FLAG_HOST
    event = ffi.new("ze_event_handle_t *")
    code = lib.zeEventCreate(pool, description, event)
    check(code, "zeEventCreate", f"The event's number is {index}")
    return EventHandle(event[0])


def create_counter_based(
    context: ContextHandle,
    device: DeviceHandle,
    *,
    host_visible: bool = True,
    timestamp: bool = False,
) -> EventHandle:
    """A counter-based event for in-order immediate lists, without a pool. Signalled at first.

    Raises
    ------
    UnsupportedFeatureError
        If the loader or the driver has no zeEventCounterBasedCreate.
    """
    description = ffi.new("ze_event_counter_based_desc_t *")
    description.stype = lib.ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC
    description.flags = (
        lib.ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE
        | (lib.ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE if host_visible else 0)
        | (lib.ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP if timestamp else 0)
    )
    description.signal = lib.ZE_EVENT_SCOPE_FLAG_HOST
    description.wait = lib.ZE_EVENT_SCOPE_FLAG_HOST
    event = ffi.new("ze_event_handle_t *")
    code = lib.zeEventCounterBasedCreate(context, device, description, event)
    check(code, "zeEventCounterBasedCreate")
    return EventHandle(event[0])


def destroy(event: EventHandle) -> None:
    """Destroy an event; no command may still refer to it."""
    code = lib.zeEventDestroy(event)
    if code:
        check(code, "zeEventDestroy")


def host_signal(event: EventHandle) -> None:
    """Signal an event of a pool from the host."""
    code = lib.zeEventHostSignal(event)
    if code:
        check(code, "zeEventHostSignal")


def host_reset(event: EventHandle) -> None:
    """Make an event of a pool unsignalled; no command may still refer to it."""
    code = lib.zeEventHostReset(event)
    if code:
        check(code, "zeEventHostReset")


def query_status(event: EventHandle) -> bool:
    """Whether the event is signalled; never waits."""
    code = _query_status(event)
    if code not in (0, _NOT_READY):
        check(code, "zeEventQueryStatus")
    return code == 0


def check_query(code: int) -> None:
    """Raise what `query_status` does, for a call by `QUERY_FUNCTION`."""
    check(code, "zeEventQueryStatus")


def host_synchronize(
    event: EventHandle, timeout_ns: int, is_known: Callable[[], bool] = lambda: False
) -> bool:
    """Wait for an event at most timeout_ns nanoseconds; True when it is signalled.

    ``is_known`` is looked at between the calls of a long wait: whether it is signalled anyway.
    """
    name = "zeEventHostSynchronize"
    return wait_for(lib.zeEventHostSynchronize, name, event, timeout_ns, is_known)


def query_kernel_timestamp(event: EventHandle) -> KernelTimestamp:
    """The event's time stamps.

    Raises
    ------
    ProfilingInfoNotAvailableError
        If the event is not signalled yet.
    """
    result = ffi.new("ze_kernel_timestamp_result_t *")
    code = lib.zeEventQueryKernelTimestamp(event, result)
    if code == _NOT_READY:
        raise ProfilingInfoNotAvailableError(
            "The event is not signalled yet, so it has no time stamps.",
            function="zeEventQueryKernelTimestamp",
        )
    check(code, "zeEventQueryKernelTimestamp")
    times = result[0]
    return KernelTimestamp(
        global_start=int(getattr(times, "global").kernelStart),
        global_end=int(getattr(times, "global").kernelEnd),
        context_start=int(times.context.kernelStart),
        context_end=int(times.context.kernelEnd),
    )
