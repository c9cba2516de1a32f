# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Structures that the UR-named entry points read. Sizes are bytes.

``next`` continues a chain, as ``pNext`` does; what an entry does not know in it is passed over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeVar

from urasync_l0.enums import NO_POOL_FLAGS, StructureType, UsmType

if TYPE_CHECKING:
    from urasync_l0.buffer import Buffer
    from urasync_l0.device import Device


@dataclass(frozen=True, kw_only=True)
class Descriptor:
    """A structure with a chain of further ones behind it."""

    next: Descriptor | None = None


D = TypeVar("D", bound=Descriptor)


def find_in_chain(start: Descriptor | None, kind: type[D]) -> D | None:
    """The first structure of a kind in a chain."""
    while start is not None:
        if isinstance(start, kind):
            return start
        start = start.next
    return None


@dataclass(frozen=True)
class ContextProperties(Descriptor):
    """``ur_context_properties_t``."""

    stype: ClassVar = StructureType.CONTEXT_PROPERTIES
    flags: int = 0


@dataclass(frozen=True)
class QueueProperties(Descriptor):
    """``ur_queue_properties_t``."""

    stype: ClassVar = StructureType.QUEUE_PROPERTIES
    flags: int = 0


@dataclass(frozen=True)
class QueueIndexProperties(Descriptor):
    """``ur_queue_index_properties_t``: which of the device's compute queues."""

    stype: ClassVar = StructureType.QUEUE_INDEX_PROPERTIES
    compute_index: int = 0


@dataclass(frozen=True)
class QueueNativeDesc(Descriptor):
    """``ur_queue_native_desc_t``: what a native queue handle is asked or given with.

    Attributes
    ----------
    native_data
        0 for a command queue, anything else for an immediate command list.
    """

    stype: ClassVar = StructureType.QUEUE_NATIVE_DESC
    native_data: int = 0


@dataclass(frozen=True)
class NativeHandleProperties(Descriptor):
    """``ur_*_native_properties_t`` of platforms, devices, contexts, queues, events and memory.

    Attributes
    ----------
    is_native_handle_owned
        Whether the native object is destroyed with the handle made for it.
    """

    is_native_handle_owned: bool = False


@dataclass(frozen=True)
class DevicePartitionProperty:
    """``ur_device_partition_property_t``: a way to divide a device, with its value.

    Attributes
    ----------
    type
        A `DevicePartition`.
    value
        Sub-devices or compute units, a `DeviceAffinityDomainFlag`, or 0, by the type.
    """

    type: int
    value: int = 0


@dataclass(frozen=True)
class DevicePartitionProperties(Descriptor):
    """``ur_device_partition_properties_t``."""

    stype: ClassVar = StructureType.DEVICE_PARTITION_PROPERTIES
    properties: tuple[DevicePartitionProperty, ...] | None = None


@dataclass(frozen=True)
class EnqueueExtProperties(Descriptor):
    """``ur_exp_enqueue_ext_properties_t``."""

    stype: ClassVar = StructureType.EXP_ENQUEUE_EXT_PROPERTIES
    flags: int = 0


@dataclass(frozen=True)
class UsmDesc(Descriptor):
    """``ur_usm_desc_t``: hints, and an alignment in bytes (0 for the usual one)."""

    stype: ClassVar = StructureType.USM_DESC
    hints: int = 0
    align: int = 0


@dataclass(frozen=True)
class UsmHostDesc(Descriptor):
    """``ur_usm_host_desc_t``."""

    stype: ClassVar = StructureType.USM_HOST_DESC
    flags: int = 0


@dataclass(frozen=True)
class UsmDeviceDesc(Descriptor):
    """``ur_usm_device_desc_t``."""

    stype: ClassVar = StructureType.USM_DEVICE_DESC
    flags: int = 0


@dataclass(frozen=True)
class UsmAllocLocationDesc(Descriptor):
    """``ur_usm_alloc_location_desc_t``: which of the device's memories."""

    stype: ClassVar = StructureType.USM_ALLOC_LOCATION_DESC
    location: int = 0


@dataclass(frozen=True)
class UsmPoolDesc(Descriptor):
    """``ur_usm_pool_desc_t``."""

    stype: ClassVar = StructureType.USM_POOL_DESC
    flags: int = NO_POOL_FLAGS


@dataclass(frozen=True)
class UsmPoolLimitsDesc(Descriptor):
    """``ur_usm_pool_limits_desc_t``.

    Attributes
    ----------
    max_poolable_size
        Allocations above it get driver memory of their own; with 0, all do.
    min_driver_alloc_size
        The least that the pool asks the driver for at a time.
    """

    stype: ClassVar = StructureType.USM_POOL_LIMITS_DESC
    max_poolable_size: int = 0
    min_driver_alloc_size: int = 0


@dataclass(frozen=True)
class UsmPoolBufferDesc(Descriptor):
    """``ur_usm_pool_buffer_desc_t``: the memory that the pool lives in.

    Attributes
    ----------
    mem
        The address of an allocation of the context.
    size
        Its bytes.
    mem_type
        Its kind.
    device
        The device that it belongs to; None for host memory.
    """

    stype: ClassVar = StructureType.USM_POOL_BUFFER_DESC
    mem: int = 0
    size: int = 0
    mem_type: int = UsmType.UNKNOWN
    device: Device | None = None


@dataclass(frozen=True)
class BufferProperties(Descriptor):
    """``ur_buffer_properties_t``: the address of the host's memory for a buffer."""

    stype: ClassVar = StructureType.BUFFER_PROPERTIES
    host: int = 0


@dataclass(frozen=True)
class BufferRegion(Descriptor):
    """``ur_buffer_region_t``: a part of a buffer."""

    stype: ClassVar = StructureType.BUFFER_REGION
    origin: int = 0
    size: int = 0


@dataclass(frozen=True)
class AsyncUsmAllocProperties(Descriptor):
    """``ur_exp_async_usm_alloc_properties_t``; its flags are reserved."""

    stype: ClassVar = StructureType.EXP_ASYNC_USM_ALLOC_PROPERTIES
    flags: int = 0


@dataclass(frozen=True)
class ProgramProperties(Descriptor):
    """``ur_program_properties_t``; the metadata in it says nothing to Level Zero."""

    stype: ClassVar = StructureType.PROGRAM_PROPERTIES


@dataclass(frozen=True)
class KernelLaunchExtProperties(Descriptor):
    """``ur_kernel_launch_ext_properties_t``."""

    stype: ClassVar = StructureType.KERNEL_LAUNCH_EXT_PROPERTIES
    flags: int = 0


@dataclass(frozen=True)
class KernelArg:
    """``ur_exp_kernel_arg_properties_t``: an argument of a launch.

    Attributes
    ----------
    type
        A `KernelArgType`.
    index
        Its place.
    size
        Bytes of the value, or of local memory.
    value
        The bytes of a value, an address, or a buffer.
    """

    type: int
    index: int
    size: int = 0
    value: bytes | int | Buffer | None = None


@dataclass(frozen=True)
class SpecializationConstant:
    """``ur_specialization_constant_info_t``: a value for a constant of a program.

    Attributes
    ----------
    id
        Its number.
    size
        Its bytes.
    value
        The value; None for a null pointer.
    """

    id: int
    size: int
    value: bytes | None
