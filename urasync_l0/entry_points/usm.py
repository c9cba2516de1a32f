# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entry points of memory that is allocated and freed without a queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from urasync_l0.descriptors import UsmDeviceDesc, UsmHostDesc, find_in_chain
from urasync_l0.entry_points._handles import (
    address,
    flags,
    handle,
    live_context,
    live_pool,
    pointer,
)
from urasync_l0.enums import UsmAdviceFlag, UsmAllocInfo, UsmDeviceMemFlag, UsmHostMemFlag, UsmType
from urasync_l0.info import ENUMERATION, HANDLE, POINTER, SIZE, InfoTable, Property
from urasync_l0.result import InvalidMemObjectError, InvalidValueError

if TYPE_CHECKING:
    from urasync_l0.context import Context
    from urasync_l0.descriptors import UsmDesc
    from urasync_l0.device import Device
    from urasync_l0.out import Out
    from urasync_l0.usm_context import FoundAllocation
    from urasync_l0.usm_pool import Pool


_HINTS = sum(UsmAdviceFlag)
_DEVICE_FLAGS = sum(UsmDeviceMemFlag)
_HOST_FLAGS = sum(UsmHostMemFlag)


class _Pointer(NamedTuple):
    context: Context
    address: int

    def type(self) -> UsmType:
        found = self.context.find_allocation(self.address)
        return UsmType.UNKNOWN if found is None else found.kind

    def known(self) -> FoundAllocation:
        found = self.context.find_allocation(self.address)
        if found is None:
            raise InvalidMemObjectError(
                f"{self.address:#x} is not within an allocation of {self.context!r}, or it was "
                "freed already."
            )
        return found

    def pool(self) -> Pool:
        pool = self.known().pool
        if pool is None:
            raise InvalidValueError(
                f"Nobody holds the pool any more that {self.address:#x} comes from."
            )
        return pool


_INFO: InfoTable[_Pointer] = InfoTable(
    {
        UsmAllocInfo.TYPE: Property(ENUMERATION, _Pointer.type),
        UsmAllocInfo.BASE_PTR: Property(POINTER, lambda asked: asked.known().base),
        UsmAllocInfo.SIZE: Property(SIZE, lambda asked: asked.known().nbytes),
        UsmAllocInfo.DEVICE: Property(HANDLE, lambda asked: asked.known().device),
        UsmAllocInfo.POOL: Property(HANDLE, _Pointer.pool),
    },
    live=lambda asked: live_context(asked.context),
)


class UsmEntryPoints:
    """``urUSM…Alloc``, ``urUSMFree`` and ``urUSMGetMemAllocInfo``."""

    def urUSMHostAlloc(
        self,
        context: Context | None,
        usm_desc: UsmDesc | None,
        pool: Pool | None,
        size: int,
        mem: Out[int] | None,
    ) -> None:
        """Host memory, usable at once."""
        _allocate(handle(context, "context"), UsmType.HOST, None, usm_desc, pool, size, mem)

    def urUSMDeviceAlloc(
        self,
        context: Context | None,
        device: Device | None,
        usm_desc: UsmDesc | None,
        pool: Pool | None,
        size: int,
        mem: Out[int] | None,
    ) -> None:
        """Device memory, usable at once; without a pool from the device's current pool."""
        context = handle(context, "context")
        device = handle(device, "device")
        _allocate(context, UsmType.DEVICE, device, usm_desc, pool, size, mem)

    def urUSMSharedAlloc(
        self,
        context: Context | None,
        device: Device | None,
        usm_desc: UsmDesc | None,
        pool: Pool | None,
        size: int,
        mem: Out[int] | None,
    ) -> None:
        """Memory that host and device share; as `urUSMDeviceAlloc`."""
        context = handle(context, "context")
        device = handle(device, "device")
        _allocate(context, UsmType.SHARED, device, usm_desc, pool, size, mem)

    def urUSMFree(self, context: Context | None, mem: int) -> None:
        """Give memory back when what the context's queues were given so far is complete."""
        context = handle(context, "context")
        address(mem, "mem")
        live_context(context).free(mem)

    def urUSMGetMemAllocInfo(
        self,
        context: Context | None,
        mem: int,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `UsmAllocInfo`, from our own records; an unknown pointer has the type UNKNOWN."""
        asked = _Pointer(handle(context, "context"), address(mem, "mem"))
        _INFO.answer(asked, prop_name, prop_size, prop_value, prop_size_ret)


def _allocate(
    context: Context,
    kind: UsmType,
    device: Device | None,
    usm_desc: UsmDesc | None,
    pool: Pool | None,
    size: int,
    mem: Out[int] | None,
) -> None:
    mem = pointer(mem, "mem")
    alignment = 0
    if usm_desc is not None:
        # Hints are hints: Level Zero's allocations take none of them.
        flags(usm_desc.hints, _HINTS, "The hints")
        for_device = find_in_chain(usm_desc, UsmDeviceDesc)
        if for_device is not None:
            flags(for_device.flags, _DEVICE_FLAGS, "The flags for the device")
        for_host = find_in_chain(usm_desc, UsmHostDesc)
        if for_host is not None:
            flags(for_host.flags, _HOST_FLAGS, "The flags for the host")
        alignment = usm_desc.align
    live_context(context)
    if pool is not None:
        live_pool(pool)
    block, _ = context.usm_alloc(kind, device, size, pool, alignment)
    mem.value = block.address
