# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Descriptors of C clients, with the chains behind them, as the entry points take them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from urasync_l0 import descriptors
from urasync_l0.descriptors import Descriptor
from urasync_l0.enums import KernelArgType, StructureType

_LONGEST_CHAIN = 64  # one that leads back to itself must end somewhere

_Reader = Callable[[Any, Descriptor | None], Descriptor]


def _flags(kind: Callable[..., Descriptor]) -> tuple[str, _Reader]:
    # Structures with nothing but flags have one layout.
    return "ur_context_properties_t", lambda c, next_: kind(c.flags, next=next_)


def _native(c: Any, next_: Descriptor | None) -> Descriptor:
    return descriptors.NativeHandleProperties(bool(c.isNativeHandleOwned), next=next_)


def _partition(c: Any, next_: Descriptor | None) -> Descriptor:
    ways = None
    if c.pProperties:
        ways = tuple(
            descriptors.DevicePartitionProperty(way.type, way.value)
            for way in c.pProperties[0 : c.PropCount]
        )
    return descriptors.DevicePartitionProperties(ways, next=next_)


class StructureReader:
    """Reads structures of a cffi library.

    Parameters
    ----------
    ffi
        The library's.
    device
        The device of a handle.
    """

    def __init__(self, ffi: Any, device: Callable[[int], Any]) -> None:
        self._ffi = ffi
        self._base = ffi.typeof("ur_base_properties_t *")
        integer = ffi.typeof("uintptr_t")

        def address(pointer: Any) -> int:
            return int(ffi.cast(integer, pointer))

        def buffer(c: Any, next_: Descriptor | None) -> Descriptor:
            return descriptors.UsmPoolBufferDesc(
                address(c.pMem), c.size, c.memType, device(address(c.device)), next=next_
            )

        native = ("ur_platform_native_properties_t", _native)
        table: dict[StructureType, tuple[str, _Reader]] = {
            StructureType.CONTEXT_PROPERTIES: _flags(descriptors.ContextProperties),
            StructureType.QUEUE_PROPERTIES: _flags(descriptors.QueueProperties),
            StructureType.EXP_ENQUEUE_EXT_PROPERTIES: _flags(descriptors.EnqueueExtProperties),
            StructureType.EXP_ASYNC_USM_ALLOC_PROPERTIES: _flags(
                descriptors.AsyncUsmAllocProperties
            ),
            StructureType.USM_HOST_DESC: _flags(descriptors.UsmHostDesc),
            StructureType.USM_DEVICE_DESC: _flags(descriptors.UsmDeviceDesc),
            StructureType.USM_POOL_DESC: _flags(descriptors.UsmPoolDesc),
            StructureType.KERNEL_LAUNCH_EXT_PROPERTIES: _flags(
                descriptors.KernelLaunchExtProperties
            ),
            StructureType.PROGRAM_PROPERTIES: (
                "ur_base_properties_t",
                lambda c, next_: descriptors.ProgramProperties(next=next_),
            ),
            StructureType.QUEUE_INDEX_PROPERTIES: (
                "ur_queue_index_properties_t",
                lambda c, next_: descriptors.QueueIndexProperties(c.computeIndex, next=next_),
            ),
            StructureType.QUEUE_NATIVE_DESC: (
                "ur_queue_native_desc_t",
                lambda c, next_: descriptors.QueueNativeDesc(address(c.pNativeData), next=next_),
            ),
            StructureType.USM_DESC: (
                "ur_usm_desc_t",
                lambda c, next_: descriptors.UsmDesc(c.hints, c.align, next=next_),
            ),
            StructureType.USM_ALLOC_LOCATION_DESC: (
                "ur_usm_alloc_location_desc_t",
                lambda c, next_: descriptors.UsmAllocLocationDesc(c.location, next=next_),
            ),
            StructureType.USM_POOL_LIMITS_DESC: (
                "ur_usm_pool_limits_desc_t",
                lambda c, next_: descriptors.UsmPoolLimitsDesc(
                    c.maxPoolableSize, c.minDriverAllocSize, next=next_
                ),
            ),
            StructureType.BUFFER_PROPERTIES: (
                "ur_buffer_properties_t",
                lambda c, next_: descriptors.BufferProperties(address(c.pHost), next=next_),
            ),
            StructureType.BUFFER_REGION: (
                "ur_buffer_region_t",
                lambda c, next_: descriptors.BufferRegion(c.origin, c.size, next=next_),
            ),
            StructureType.USM_POOL_BUFFER_DESC: ("ur_usm_pool_buffer_desc_t", buffer),
            StructureType.DEVICE_PARTITION_PROPERTIES: (
                "ur_device_partition_properties_t",
                _partition,
            ),
            **{
                stype: native
                for stype in StructureType
                if stype.name.endswith("_NATIVE_PROPERTIES")
            },
        }
        self._readers = {
            int(stype): (ffi.typeof(f"{name} *"), read) for stype, (name, read) in table.items()
        }

    def __call__(self, pointer: Any, expected: int) -> Descriptor | None:
        """The structure at a pointer and the chain behind it; None for a null pointer.

        The first structure is what the function's type says, whatever it calls itself; further ones
        say what they are, and what is not known among them is passed over.
        """
        ffi = self._ffi
        found: list[tuple[Any, Any]] = []
        stype = expected
        while pointer and len(found) < _LONGEST_CHAIN:
            start = ffi.cast(self._base, pointer)
            known = self._readers.get(stype)
            found.append((known, start))
            pointer = start.pNext
            if pointer:
                stype = ffi.cast(self._base, pointer).stype
        chain: Descriptor | None = None
        for known, start in reversed(found):
            if known is not None:
                type_, read = known
                chain = read(ffi.cast(type_, start), chain)
        return chain


def kernel_arguments(
    ffi: Any, first: Any, count: int, buffer: Callable[[int], Any]
) -> list[descriptors.KernelArg]:
    """The arguments of a launch; ``buffer`` gives the buffer of a handle."""
    return [_kernel_argument(ffi, first[i], buffer) for i in range(count)]


def _kernel_argument(ffi: Any, c: Any, buffer: Callable[[int], Any]) -> descriptors.KernelArg:
    pointer = c.value.value
    value: Any = None
    if c.type == KernelArgType.POINTER:
        value = int(ffi.cast("uintptr_t", pointer))
    elif c.type == KernelArgType.MEM_OBJ:
        value = buffer(int(ffi.cast("uintptr_t", pointer)))
    elif c.type == KernelArgType.VALUE and pointer:
        value = bytes(ffi.buffer(pointer, c.size))
    return descriptors.KernelArg(c.type, c.index, c.size, value)


_LARGEST_CONSTANT = 8  # bytes; more of a value is not read


def constants(ffi: Any, first: Any, count: int) -> list[descriptors.SpecializationConstant]:
    """The values of specialisation constants."""
    found = []
    for i in range(count):
        c = first[i]
        content = bytes(ffi.buffer(c.pValue, min(c.size, _LARGEST_CONSTANT))) if c.pValue else None
        found.append(descriptors.SpecializationConstant(c.id, c.size, content))
    return found
