# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entry points of memory objects that are buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from urasync_l0 import reference_count
from urasync_l0.buffer import Buffer, buffer_over, create_buffer
from urasync_l0.entry_points._handles import (
    address,
    close_unused,
    flags,
    handle,
    live_buffer,
    live_context,
    pointer,
)
from urasync_l0.enums import BufferCreateType, MemFlag, MemInfo
from urasync_l0.info import HANDLE, SIZE, UINT32, InfoTable, Property
from urasync_l0.result import InvalidEnumerationError, InvalidValueError, UrError, UrResult

if TYPE_CHECKING:
    from urasync_l0.context import Context
    from urasync_l0.descriptors import BufferProperties, BufferRegion, NativeHandleProperties
    from urasync_l0.device import Device
    from urasync_l0.out import Out

_FLAGS = sum(MemFlag)
_ACCESS = MemFlag.READ_WRITE | MemFlag.WRITE_ONLY | MemFlag.READ_ONLY
_NEED_HOST = MemFlag.USE_HOST_POINTER | MemFlag.ALLOC_COPY_HOST_POINTER
_IN_PLACE = MemFlag.USE_HOST_POINTER | MemFlag.ALLOC_HOST_POINTER

_INFO: InfoTable[Buffer] = InfoTable(
    {
        MemInfo.SIZE: Property(SIZE, lambda buffer: buffer.nbytes),
        MemInfo.CONTEXT: Property(HANDLE, lambda buffer: buffer.context),
        MemInfo.REFERENCE_COUNT: Property(UINT32, reference_count.count),
    },
    live=live_buffer,
)


class BufferEntryPoints:
    """``urMem…``."""

    def urMemBufferCreate(
        self,
        context: Context | None,
        mem_flags: int,
        size: int,
        properties: BufferProperties | None,
        buffer: Out[Buffer] | None,
    ) -> None:
        """A buffer of so many bytes, by `MemFlag`.

        Its memory is the device's, or host memory if the flags say so or the context has several
        devices. If it is to use memory of the host, what is mapped is found there.
        """
        context = handle(context, "context")
        buffer = pointer(buffer, "buffer")
        _check_flags(mem_flags)
        live_context(context)
        host = 0 if properties is None else properties.host
        if bool(host) != bool(mem_flags & _NEED_HOST):
            raise UrError(
                f"The flags are {mem_flags:#x} and the host's memory is at {host:#x}; only flags "
                "that use or copy it go with it.",
                code=UrResult.INVALID_HOST_PTR,
            )
        buffer.value = create_buffer(
            context,
            size,
            on_host=bool(mem_flags & MemFlag.ALLOC_HOST_POINTER),
            content=host or None,
            host_address=host if mem_flags & MemFlag.USE_HOST_POINTER else None,
            access=_access(mem_flags) or MemFlag.READ_WRITE,
        )

    def urMemRetain(self, mem: Buffer | None) -> None:
        """Add a reference."""
        reference_count.retain(live_buffer(handle(mem, "memory object")))

    def urMemRelease(self, mem: Buffer | None) -> None:
        """Give a reference back. After the last one the memory goes when the queues have done
        what they were given so far."""
        released = live_buffer(handle(mem, "memory object"))
        reference_count.release(released, released.close)
        close_unused(released.context)

    def urMemGetInfo(
        self,
        mem: Buffer | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `MemInfo`."""
        _INFO.answer(handle(mem, "memory object"), prop_name, prop_size, prop_value, prop_size_ret)

    def urMemBufferPartition(
        self,
        buffer: Buffer | None,
        mem_flags: int,
        create_type: int,
        region: BufferRegion | None,
        part: Out[Buffer] | None,
    ) -> None:
        """A buffer over a part of another one, whose memory it keeps."""
        buffer = handle(buffer, "buffer")
        region = pointer(region, "region")
        part = pointer(part, "part")
        _check_flags(mem_flags)
        if create_type != BufferCreateType.REGION:
            raise InvalidEnumerationError(f"There is no part of the type {create_type:#x}.")
        if mem_flags & (_NEED_HOST | _IN_PLACE):
            raise InvalidValueError(
                f"A part of a buffer takes its memory as it is; the flags are {mem_flags:#x}."
            )
        part.value = live_buffer(buffer).part(region.origin, region.size, _access(mem_flags))

    def urMemGetNativeHandle(
        self, mem: Buffer | None, device: Device | None, native_mem: Out[int] | None
    ) -> None:
        """The address of the memory, which is the same for all devices."""
        mem = handle(mem, "memory object")
        native_mem = pointer(native_mem, "native_mem")
        live_buffer(mem)
        if device is not None:
            mem.context.member(device)
        native_mem.value = mem.address

    def urMemBufferCreateWithNativeHandle(
        self,
        native_mem: int,
        context: Context | None,
        properties: NativeHandleProperties | None,
        buffer: Out[Buffer] | None,
    ) -> None:
        """A buffer over memory at an address, up to the end of its allocation."""
        context = handle(context, "context")
        buffer = pointer(buffer, "buffer")
        address(native_mem, "native_mem")
        live_context(context)
        is_owned = properties is not None and properties.is_native_handle_owned
        buffer.value = buffer_over(context, native_mem, is_owned=is_owned)


def _check_flags(mem_flags: int) -> None:
    """Access is not enforced by Level Zero; what contradicts itself is refused all the same."""
    flags(mem_flags, _FLAGS, "The flags")
    if (mem_flags & _ACCESS).bit_count() > 1 or mem_flags & _IN_PLACE == _IN_PLACE:
        raise InvalidValueError(f"The flags {mem_flags:#x} contradict each other.")


def _access(mem_flags: int) -> MemFlag | None:
    return MemFlag(mem_flags & _ACCESS) or None
