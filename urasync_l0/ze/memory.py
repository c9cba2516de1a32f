# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Allocations of the driver and questions about pointers.

Sizes and alignments are in bytes; addresses are plain numbers. An alignment of 0 leaves the choice
to the driver. The calls have no place in any queue's order.
"""

from dataclasses import dataclass
from enum import IntEnum

from urasync_l0.result import UrError, UrResult
from urasync_l0.ze._extension import CData, ffi, lib
from urasync_l0.ze.handles import ContextHandle, DeviceHandle
from urasync_l0.ze.result import check


class MemoryType(IntEnum):
    """``ze_memory_type_t``, as far as this package can meet it."""

    UNKNOWN = lib.ZE_MEMORY_TYPE_UNKNOWN
    HOST = lib.ZE_MEMORY_TYPE_HOST
    DEVICE = lib.ZE_MEMORY_TYPE_DEVICE
    SHARED = lib.ZE_MEMORY_TYPE_SHARED


@dataclass(frozen=True, slots=True)
class AllocationProperties:
    """What the driver knows about a pointer; UNKNOWN type when it is none of its allocations."""

    type: MemoryType
    id: int
    page_size: int
    device: DeviceHandle | None


def alloc_device(
    context: ContextHandle,
    device: DeviceHandle,
    size: int,
    alignment: int = 0,
    *,
    relaxed: bool = False,
) -> int:
    """Allocate device memory and return its address.

    Parameters
    ----------
    relaxed
        Allow more than the device's largest regular allocation, up to its memory's size.

    Raises
    ------
    OutOfMemoryError
        If the device has too little memory.
    InvalidSizeError
        If the size is 0 or above what the device supports.
    """
    pointer = ffi.new("void **")
    description = _RELAXED_DEVICE if relaxed else _DEVICE
    code = lib.zeMemAllocDevice(context, description, size, alignment, device, pointer)
    return _address(pointer, code, "zeMemAllocDevice", size, alignment)


def alloc_shared(
    context: ContextHandle,
    device: DeviceHandle | None,
    size: int,
    alignment: int = 0,
    *,
    relaxed: bool = False,
) -> int:
    """Allocate memory shared by the host and a device, or all devices; errors as alloc_device."""
    pointer = ffi.new("void **")
    description = _RELAXED_DEVICE if relaxed else _DEVICE
    handle = DeviceHandle(ffi.NULL) if device is None else device
    code = lib.zeMemAllocShared(context, description, _HOST, size, alignment, handle, pointer)
    return _address(pointer, code, "zeMemAllocShared", size, alignment)


def alloc_host(
    context: ContextHandle, size: int, alignment: int = 0, *, relaxed: bool = False
) -> int:
    """Allocate host memory that all devices of the context can use; errors as alloc_device."""
    pointer = ffi.new("void **")
    description = _RELAXED_HOST if relaxed else _HOST
    code = lib.zeMemAllocHost(context, description, size, alignment, pointer)
    return _address(pointer, code, "zeMemAllocHost", size, alignment)


def free(context: ContextHandle, address: int) -> None:
    """Give an allocation back at once; no command may still use it."""
    code = lib.zeMemFree(context, ffi.cast("void *", address))
    if code:
        check(code, "zeMemFree", f"The address is 0x{address:x}")


def free_blocking(context: ContextHandle, address: int) -> None:
    """Give an allocation back, after waiting for the commands that use it."""
    code = lib.zeMemFreeExt(context, _BLOCKING_FREE, ffi.cast("void *", address))
    if code:
        check(code, "zeMemFreeExt", f"The address is 0x{address:x}")


def get_alloc_properties(context: ContextHandle, address: int) -> AllocationProperties:
    """What the driver knows about any pointer; asking about a foreign one is no error."""
    properties = ffi.new("ze_memory_allocation_properties_t *")
    properties.stype = lib.ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES
    device = ffi.new("ze_device_handle_t *")
    pointer = ffi.cast("void *", address)
    code = lib.zeMemGetAllocProperties(context, pointer, properties, device)
    check(code, "zeMemGetAllocProperties", f"The address is 0x{address:x}")
    known = properties.type in MemoryType.__members__.values()
    return AllocationProperties(
        type=MemoryType(properties.type) if known else MemoryType.UNKNOWN,
        id=int(properties.id),
        page_size=int(properties.pageSize),
        device=DeviceHandle(device[0]) if device[0] != ffi.NULL else None,
    )


def get_address_range(context: ContextHandle, address: int) -> tuple[int, int]:
    """The first address and the size of the allocation that an address lies in."""
    base = ffi.new("void **")
    size = ffi.new("size_t *")
    code = lib.zeMemGetAddressRange(context, ffi.cast("void *", address), base, size)
    check(code, "zeMemGetAddressRange", f"The address is 0x{address:x}")
    return int(ffi.cast("uintptr_t", base[0])), int(size[0])


def _address(pointer: CData, code: int, entry: str, size: int, alignment: int) -> int:
    if code:
        check(code, entry, f"Asked for {size} bytes with alignment {alignment}")
    address = int(ffi.cast("uintptr_t", pointer[0]))
    if not address:
        raise UrError(
            f"The driver reports success but gives no memory for {size} bytes with alignment "
            f"{alignment}.",
            code=UrResult.UNKNOWN,
            function=entry,
        )
    return address


# Descriptors are only ever read, so each is made once. The driver follows the chained pointer, so
# the chained one must live as long.
def _description(kind: str, stype: int, chained: CData | None = None) -> CData:
    description: CData = ffi.new(f"{kind} *")
    description.stype = stype
    if chained is not None:
        description.pNext = chained
    return description


_RELAXED = _description(
    "ze_relaxed_allocation_limits_exp_desc_t",
    lib.ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC,
)
_RELAXED.flags = lib.ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE
_DEVICE_KIND = ("ze_device_mem_alloc_desc_t", lib.ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC)
_HOST_KIND = ("ze_host_mem_alloc_desc_t", lib.ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC)
_DEVICE = _description(*_DEVICE_KIND)
_HOST = _description(*_HOST_KIND)
_RELAXED_DEVICE = _description(*_DEVICE_KIND, _RELAXED)
_RELAXED_HOST = _description(*_HOST_KIND, _RELAXED)
_BLOCKING_FREE = _description(
    "ze_memory_free_ext_desc_t", lib.ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC
)
_BLOCKING_FREE.freePolicy = lib.ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE
