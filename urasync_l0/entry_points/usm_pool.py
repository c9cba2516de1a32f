# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entry points of pools."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from urasync_l0 import reference_count
from urasync_l0.descriptors import UsmPoolBufferDesc, UsmPoolLimitsDesc, find_in_chain
from urasync_l0.entry_points._handles import (
    close_unused,
    flags,
    handle,
    live_context,
    live_pool,
    pointer,
)
from urasync_l0.enums import UsmPoolFlag, UsmPoolInfo
from urasync_l0.info import HANDLE, SIZE, UINT32, InfoTable, Property
from urasync_l0.result import (
    InvalidSizeError,
    InvalidValueError,
    UnsupportedEnumerationError,
)
from urasync_l0.usm_pool import Pool

if TYPE_CHECKING:
    from urasync_l0.context import Context
    from urasync_l0.descriptors import UsmPoolDesc
    from urasync_l0.device import Device
    from urasync_l0.out import Out

_FLAGS = sum(UsmPoolFlag)

_INFO: InfoTable[Pool] = InfoTable(
    {
        UsmPoolInfo.REFERENCE_COUNT: Property(UINT32, reference_count.count),
        UsmPoolInfo.CONTEXT: Property(HANDLE, lambda pool: pool.context),
        UsmPoolInfo.RELEASE_THRESHOLD_EXP: Property(SIZE, lambda pool: pool.release_threshold),
        UsmPoolInfo.MAXIMUM_SIZE_EXP: Property(SIZE, lambda pool: pool.maximum_size),
        UsmPoolInfo.RESERVED_CURRENT_EXP: Property(SIZE, lambda pool: pool.reserved_bytes),
        UsmPoolInfo.RESERVED_HIGH_EXP: Property(SIZE, lambda pool: pool.statistics().reserved_high),
        UsmPoolInfo.USED_CURRENT_EXP: Property(SIZE, lambda pool: pool.used_bytes),
        UsmPoolInfo.USED_HIGH_EXP: Property(SIZE, lambda pool: pool.statistics().used_high),
    },
    live=live_pool,
)


def _set_threshold(pool: Pool, nbytes: int) -> None:
    pool.release_threshold = nbytes


def _set_maximum(pool: Pool, nbytes: int) -> None:
    pool.maximum_size = nbytes


_SIZES: dict[int, Callable[[Pool, int], None]] = {
    UsmPoolInfo.RELEASE_THRESHOLD_EXP: _set_threshold,
    UsmPoolInfo.MAXIMUM_SIZE_EXP: _set_maximum,
}
_HIGH_MARKS: dict[int, Callable[[Pool], None]] = {
    UsmPoolInfo.RESERVED_HIGH_EXP: Pool.reset_peak_reserved,
    UsmPoolInfo.USED_HIGH_EXP: Pool.reset_peak_used,
}


class UsmPoolEntryPoints:
    """``urUSMPool…``."""

    def urUSMPoolCreate(
        self, context: Context | None, pool_desc: UsmPoolDesc | None, pool: Out[Pool] | None
    ) -> None:
        """A pool for all kinds of memory on all devices of the context."""
        _create(handle(context, "context"), None, pool_desc, pool)

    def urUSMPoolRetain(self, pool: Pool | None) -> None:
        """Add a reference."""
        reference_count.retain(live_pool(handle(pool, "pool")))

    def urUSMPoolRelease(self, pool: Pool | None) -> None:
        """Give a reference back. After the last one the pool is destroyed. A default pool keeps its
        last one."""
        pool = live_pool(handle(pool, "pool"))
        reference_count.release(pool, pool.close)
        close_unused(pool.context)

    def urUSMPoolGetInfo(
        self,
        pool: Pool | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `UsmPoolInfo`."""
        _INFO.answer(handle(pool, "pool"), prop_name, prop_size, prop_value, prop_size_ret)

    def urUSMPoolCreateExp(
        self,
        context: Context | None,
        device: Device | None,
        pool_desc: UsmPoolDesc | None,
        pool: Out[Pool] | None,
    ) -> None:
        """A pool for device and shared memory of one device."""
        context = handle(context, "context")
        _create(context, handle(device, "device"), pool_desc, pool)

    def urUSMPoolDestroyExp(
        self, context: Context | None, device: Device | None, pool: Pool | None
    ) -> None:
        """Refuse new allocations; the memory goes when the last one is freed and complete. Not for
        default pools."""
        pool = _pool_of(context, device, pool)
        pool.close()
        close_unused(pool.context)

    def urUSMPoolGetDefaultDevicePoolExp(
        self, context: Context | None, device: Device | None, pool: Out[Pool] | None
    ) -> None:
        """The pool that the device always has."""
        context = handle(context, "context")
        device = handle(device, "device")
        pool = pointer(pool, "pool")
        pool.value = live_context(context).default_pool(device)

    def urUSMPoolGetDevicePoolExp(
        self, context: Context | None, device: Device | None, pool: Out[Pool] | None
    ) -> None:
        """The pool that serves allocations on the device which name none."""
        context = handle(context, "context")
        device = handle(device, "device")
        pool = pointer(pool, "pool")
        pool.value = live_context(context).current_pool(device)

    def urUSMPoolSetDevicePoolExp(
        self, context: Context | None, device: Device | None, pool: Pool | None
    ) -> None:
        """Let a pool serve them, which must serve device and shared memory of the device."""
        context = handle(context, "context")
        device = handle(device, "device")
        pool = handle(pool, "pool")
        live_context(context).set_current_pool(pool, device)

    def urUSMPoolGetInfoExp(
        self,
        pool: Pool | None,
        prop_name: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `UsmPoolInfo`; the caller's memory is taken to be large enough."""
        _INFO.answer(handle(pool, "pool"), prop_name, None, prop_value, prop_size_ret)

    def urUSMPoolSetInfoExp(
        self, pool: Pool | None, prop_name: int, prop_value: int | None, prop_size: int
    ) -> None:
        """Set the threshold or the maximum size, in bytes; with 0, a high mark to what is now."""
        pool = handle(pool, "pool")
        value = pointer(prop_value, "prop_value")
        known = _INFO.property(prop_name)
        if prop_name not in _SIZES and prop_name not in _HIGH_MARKS:
            raise UnsupportedEnumerationError(
                f"The property {UsmPoolInfo(prop_name).name} cannot be set."
            )
        live_pool(pool)
        if prop_size < known.type.size:
            raise InvalidSizeError(
                f"The property {UsmPoolInfo(prop_name).name} has {known.type.size} bytes, not "
                f"{prop_size}."
            )
        if prop_name in _SIZES:
            _SIZES[prop_name](pool, value)
            return
        if value:
            raise InvalidValueError(
                f"{UsmPoolInfo(prop_name).name} can only be reset, by 0, not set to {value}."
            )
        _HIGH_MARKS[prop_name](pool)

    def urUSMPoolTrimToExp(
        self,
        context: Context | None,
        device: Device | None,
        pool: Pool | None,
        min_bytes_to_keep: int,
    ) -> None:
        """Give idle memory back to the driver while more is reserved; never waits."""
        _pool_of(context, device, pool).trim_to(min_bytes_to_keep)


def _create(
    context: Context,
    device: Device | None,
    pool_desc: UsmPoolDesc | None,
    pool: Out[Pool] | None,
) -> None:
    pool_desc = pointer(pool_desc, "pool_desc")
    pool = pointer(pool, "pool")
    chosen = UsmPoolFlag(flags(pool_desc.flags, _FLAGS, "The pool's flags"))
    live_context(context)
    limits = find_in_chain(pool_desc, UsmPoolLimitsDesc)
    buffer = find_in_chain(pool_desc, UsmPoolBufferDesc)
    if buffer is not None:
        pool.value = _create_in(context, device, buffer, chosen)
    elif limits is None:
        pool.value = context.create_pool(device, flags=chosen)
    else:
        pool.value = context.create_pool(
            device,
            flags=chosen,
            maximum_pooled=limits.max_poolable_size,
            minimum_driver_allocation=limits.min_driver_alloc_size,
        )


def _create_in(
    context: Context, device: Device | None, buffer: UsmPoolBufferDesc, chosen: UsmPoolFlag
) -> Pool:
    """A pool in memory of the context, if the memory is what the descriptor says."""
    mem = pointer(buffer.mem or None, "mem of the buffer")
    found = context.find_allocation(mem)
    if found is not None:
        if found.kind != buffer.mem_type:
            raise InvalidValueError(
                f"The buffer at {mem:#x} is {found.kind.name} memory; its descriptor says "
                f"{buffer.mem_type}."
            )
        for claimed in (device, buffer.device):
            if claimed is not None and claimed is not found.device:
                raise InvalidValueError(
                    f"The buffer at {mem:#x} belongs to {found.device!r}, not to {claimed!r}."
                )
    return context.create_pool_in(mem, nbytes=buffer.size, flags=chosen)


def _pool_of(context: Context | None, device: Device | None, pool: Pool | None) -> Pool:
    """A live pool, if it belongs to the context and serves the device."""
    context = handle(context, "context")
    device = handle(device, "device")
    pool = handle(pool, "pool")
    live_context(context).member(device)
    live_pool(pool)
    if pool.context is not context:
        raise InvalidValueError(f"{pool!r} belongs to another context than {context!r}.")
    if pool.device is not None and pool.device is not device:
        raise InvalidValueError(f"{pool!r} belongs to {pool.device!r}, not to {device!r}.")
    return pool
