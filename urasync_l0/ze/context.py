# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contexts and residency."""

from collections.abc import Sequence

from urasync_l0.ze._extension import ffi, lib
from urasync_l0.ze.handles import ContextHandle, DeviceHandle, DriverHandle
from urasync_l0.ze.result import check


def create(driver: DriverHandle, devices: Sequence[DeviceHandle]) -> ContextHandle:
    """A context for some devices of a driver; an empty sequence means all of them."""
    description = ffi.new("ze_context_desc_t *")
    description.stype = lib.ZE_STRUCTURE_TYPE_CONTEXT_DESC
    handles = ffi.new("ze_device_handle_t[]", list(devices)) if devices else ffi.NULL
    context = ffi.new("ze_context_handle_t *")
    code = lib.zeContextCreateEx(driver, description, len(devices), handles, context)
    check(code, "zeContextCreateEx", f"Asked for a context of {len(devices)} devices")
    return ContextHandle(context[0])


def destroy(context: ContextHandle) -> None:
    """Destroy a context; everything made in it must be gone and nothing may run."""
    check(lib.zeContextDestroy(context), "zeContextDestroy")


def get_status(context: ContextHandle) -> None:
    """Return when the context can be used.

    Raises
    ------
    DeviceLostError
        If a device of the context is lost.
    """
    check(lib.zeContextGetStatus(context), "zeContextGetStatus")


def make_memory_resident(
    context: ContextHandle, device: DeviceHandle, address: int, size: int
) -> None:
    """Keep size bytes at an address in the device's memory until evicted."""
    pointer = ffi.cast("void *", address)
    code = lib.zeContextMakeMemoryResident(context, device, pointer, size)
    if code:
        check(code, "zeContextMakeMemoryResident", f"Asked for {size} bytes at 0x{address:x}")


def evict_memory(context: ContextHandle, device: DeviceHandle, address: int, size: int) -> None:
    """Let size bytes at an address leave the device's memory; no command may be using them."""
    code = lib.zeContextEvictMemory(context, device, ffi.cast("void *", address), size)
    if code:
        check(code, "zeContextEvictMemory", f"Asked for {size} bytes at 0x{address:x}")
