# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Address ranges, physical memory, and mapping one to the other.

Sizes and offsets are in bytes and multiples of the page size; addresses are plain numbers. No
command may be using a range that is unmapped or freed.
"""

from collections.abc import Iterable
from typing import Any

from urasync_l0.result import UrError, UrResult
from urasync_l0.ze._extension import ffi, lib
from urasync_l0.ze.handles import ContextHandle, DeviceHandle, PhysicalMemHandle
from urasync_l0.ze.result import check


def query_page_size(context: ContextHandle, device: DeviceHandle, size: int) -> int:
    """The page size in bytes for ranges of about this size."""
    page_size = ffi.new("size_t *")
    code = lib.zeVirtualMemQueryPageSize(context, device, size, page_size)
    check(code, "zeVirtualMemQueryPageSize", f"Asked for ranges of {size} bytes")
    return int(page_size[0])


def reserve(context: ContextHandle, size: int, start: int = 0) -> int:
    """Reserve an address range and return its address; no memory stands behind it yet.

    Parameters
    ----------
    start
        Where the range would best begin; 0 for anywhere. The driver may choose another place.
    """
    pointer = ffi.new("void **")
    code = lib.zeVirtualMemReserve(context, ffi.cast("void *", start), size, pointer)
    if code:
        check(code, "zeVirtualMemReserve", f"Asked for {size} bytes of addresses at 0x{start:x}")
    address = int(ffi.cast("uintptr_t", pointer[0]))
    if not address:
        raise UrError(
            f"The driver reports success but gives no address range for {size} bytes.",
            code=UrResult.UNKNOWN,
            function="zeVirtualMemReserve",
        )
    return address


def free(context: ContextHandle, address: int, size: int) -> None:
    """Give a reserved range back; nothing may be mapped in it."""
    code = lib.zeVirtualMemFree(context, ffi.cast("void *", address), size)
    if code:
        check(code, "zeVirtualMemFree", f"The range is {size} bytes at 0x{address:x}")


def create_physical(
    context: ContextHandle, device: DeviceHandle, sizes: Iterable[int], created: list[Any]
) -> None:
    """Allocate physical memory of a device, a piece of each size in bytes.

    Their handles go into ``created``, each as soon as it is there.

    Raises
    ------
    OutOfMemoryError
        If the device has too little memory.
    """
    description = ffi.new("ze_physical_mem_desc_t *")
    description.stype = lib.ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC
    physical = ffi.new("ze_physical_mem_handle_t *")
    create = lib.zePhysicalMemCreate
    for size in sizes:
        description.size = size
        code = create(context, device, description, physical)
        if code:
            check(code, "zePhysicalMemCreate", f"Asked for {size} bytes")
        created.append(PhysicalMemHandle(physical[0]))


def destroy_physical(context: ContextHandle, physical: PhysicalMemHandle) -> None:
    """Give physical memory back; it must not be mapped."""
    code = lib.zePhysicalMemDestroy(context, physical)
    if code:
        check(code, "zePhysicalMemDestroy")


def map_memory(
    context: ContextHandle, address: int, size: int, physical: PhysicalMemHandle, offset: int = 0
) -> None:
    """Put physical memory, from an offset on, behind a reserved range; readable and writable."""
    access = lib.ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE
    pointer = ffi.cast("void *", address)
    code = lib.zeVirtualMemMap(context, pointer, size, physical, offset, access)
    if code:
        detail = f"The range is {size} bytes at 0x{address:x}, the offset {offset}"
        check(code, "zeVirtualMemMap", detail)


def unmap(context: ContextHandle, address: int, size: int) -> None:
    """Take the memory behind a range away; the range stays reserved."""
    code = lib.zeVirtualMemUnmap(context, ffi.cast("void *", address), size)
    if code:
        check(code, "zeVirtualMemUnmap", f"The range is {size} bytes at 0x{address:x}")
