# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Devices and what they can do."""

from dataclasses import dataclass
from enum import IntEnum, IntFlag

from urasync_l0.result import DeviceNotFoundError
from urasync_l0.ze._extension import ffi, lib
from urasync_l0.ze.handles import DeviceHandle, DriverHandle
from urasync_l0.ze.result import ZeResult, check


class DeviceType(IntEnum):
    """``ze_device_type_t``."""

    GPU = lib.ZE_DEVICE_TYPE_GPU
    CPU = lib.ZE_DEVICE_TYPE_CPU
    FPGA = lib.ZE_DEVICE_TYPE_FPGA
    MCA = lib.ZE_DEVICE_TYPE_MCA
    VPU = lib.ZE_DEVICE_TYPE_VPU


class DevicePropertyFlag(IntFlag):
    """``ze_device_property_flags_t``."""

    INTEGRATED = lib.ZE_DEVICE_PROPERTY_FLAG_INTEGRATED
    SUBDEVICE = lib.ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE
    ECC = lib.ZE_DEVICE_PROPERTY_FLAG_ECC
    ONDEMANDPAGING = lib.ZE_DEVICE_PROPERTY_FLAG_ONDEMANDPAGING


class CommandQueueGroupFlag(IntFlag):
    """``ze_command_queue_group_property_flags_t``, as far as this package uses them."""

    COMPUTE = lib.ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE
    COPY = lib.ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY


class MemoryAccessCapFlag(IntFlag):
    """``ze_memory_access_cap_flags_t``."""

    RW = lib.ZE_MEMORY_ACCESS_CAP_FLAG_RW
    ATOMIC = lib.ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC
    CONCURRENT = lib.ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT
    CONCURRENT_ATOMIC = lib.ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT_ATOMIC


@dataclass(frozen=True, slots=True)
class DeviceProperties:
    """What a device is.

    ``max_mem_alloc_size`` is in bytes, ``core_clock_rate`` in MHz, ``timer_resolution`` in
    nanoseconds a tick (the unit of the plain properties structure). Time stamps wrap after their
    valid bits. Execution units ("EUs") stand in slices of sub-slices.
    """

    type: DeviceType
    name: str
    vendor_id: int
    device_id: int
    uuid: bytes
    flags: DevicePropertyFlag
    subdevice_id: int
    core_clock_rate: int
    max_mem_alloc_size: int
    max_hardware_contexts: int
    timer_resolution: int
    timestamp_valid_bits: int
    kernel_timestamp_valid_bits: int
    max_command_queue_priority: int
    num_threads_per_eu: int
    physical_eu_simd_width: int
    num_eus_per_subslice: int
    num_subslices_per_slice: int
    num_slices: int


@dataclass(frozen=True, slots=True)
class MemoryProperties:
    """One memory of a device: size in bytes, clock rate in MHz, bus width in bits."""

    name: str
    total_size: int
    max_clock_rate: int
    max_bus_width: int


@dataclass(frozen=True, slots=True)
class MemoryAccessProperties:
    """What a device may do with each kind of memory; no flags: it cannot use that kind."""

    host: MemoryAccessCapFlag
    device: MemoryAccessCapFlag
    shared_single_device: MemoryAccessCapFlag
    shared_cross_device: MemoryAccessCapFlag
    shared_system: MemoryAccessCapFlag


@dataclass(frozen=True, slots=True)
class CommandQueueGroup:
    """A group of equal queues; its place in the list is the ordinal. Pattern size in bytes."""

    flags: CommandQueueGroupFlag
    max_memory_fill_pattern_size: int
    num_queues: int


@dataclass(frozen=True, slots=True)
class ComputeProperties:
    """Limits of kernels; shared local memory in bytes."""

    max_total_group_size: int
    max_group_size: tuple[int, int, int]
    max_group_count: tuple[int, int, int]
    max_shared_local_memory: int
    sub_group_sizes: tuple[int, ...]


def get_devices(driver: DriverHandle) -> list[DeviceHandle]:
    """The driver's root devices, at least one.

    Raises
    ------
    DeviceNotFoundError
        If the driver shows no device.
    """
    count = ffi.new("uint32_t *")
    check(lib.zeDeviceGet(driver, count, ffi.NULL), "zeDeviceGet")
    if not count[0]:
        raise DeviceNotFoundError(
            "The Level Zero driver works but shows no device. Check that ZE_AFFINITY_MASK does not "
            "hide them all and that this user may open /dev/dri/renderD*; or use the software "
            "driver: URASYNC_L0_DRIVER=software, or driver='software'.",
            function="zeDeviceGet",
        )
    handles = ffi.new("ze_device_handle_t[]", count[0])
    check(lib.zeDeviceGet(driver, count, handles), "zeDeviceGet")
    return list(handles[0 : count[0]])


def get_sub_devices(device: DeviceHandle) -> list[DeviceHandle]:
    """The parts of a device that can be used as devices; often none."""
    count = ffi.new("uint32_t *")
    check(lib.zeDeviceGetSubDevices(device, count, ffi.NULL), "zeDeviceGetSubDevices")
    if not count[0]:
        return []
    handles = ffi.new("ze_device_handle_t[]", count[0])
    check(lib.zeDeviceGetSubDevices(device, count, handles), "zeDeviceGetSubDevices")
    return list(handles[0 : count[0]])


def get_root_device(device: DeviceHandle) -> DeviceHandle | None:
    """The device that a sub-device is a part of; None if there is none, or nobody can tell."""
    root = ffi.new("ze_device_handle_t *")
    code = lib.zeDeviceGetRootDevice(device, root)
    if code == ZeResult.ERROR_UNSUPPORTED_FEATURE:  # an older loader or driver
        return None
    check(code, "zeDeviceGetRootDevice")
    return DeviceHandle(root[0]) if root[0] != ffi.NULL else None


def get_properties(device: DeviceHandle) -> DeviceProperties:
    """What the device is."""
    properties = ffi.new("ze_device_properties_t *")
    properties.stype = lib.ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES
    check(lib.zeDeviceGetProperties(device, properties), "zeDeviceGetProperties")
    return DeviceProperties(
        type=DeviceType(properties.type),
        name=_text(properties.name),
        vendor_id=int(properties.vendorId),
        device_id=int(properties.deviceId),
        uuid=bytes(properties.uuid.id),
        flags=DevicePropertyFlag(properties.flags),
        subdevice_id=int(properties.subdeviceId),
        core_clock_rate=int(properties.coreClockRate),
        max_mem_alloc_size=int(properties.maxMemAllocSize),
        max_hardware_contexts=int(properties.maxHardwareContexts),
        timer_resolution=int(properties.timerResolution),
        timestamp_valid_bits=int(properties.timestampValidBits),
        kernel_timestamp_valid_bits=int(properties.kernelTimestampValidBits),
        max_command_queue_priority=int(properties.maxCommandQueuePriority),
        num_threads_per_eu=int(properties.numThreadsPerEU),
        physical_eu_simd_width=int(properties.physicalEUSimdWidth),
        num_eus_per_subslice=int(properties.numEUsPerSubslice),
        num_subslices_per_slice=int(properties.numSubslicesPerSlice),
        num_slices=int(properties.numSlices),
    )


def get_memory_properties(device: DeviceHandle) -> list[MemoryProperties]:
    """The device's memories."""
    entry = "zeDeviceGetMemoryProperties"
    count = ffi.new("uint32_t *")
    check(lib.zeDeviceGetMemoryProperties(device, count, ffi.NULL), entry)
    if not count[0]:
        return []
    rows = ffi.new("ze_device_memory_properties_t[]", count[0])
    for row in rows:
        row.stype = lib.ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES
    check(lib.zeDeviceGetMemoryProperties(device, count, rows), entry)
    return [
        MemoryProperties(
            name=_text(row.name),
            total_size=int(row.totalSize),
            max_clock_rate=int(row.maxClockRate),
            max_bus_width=int(row.maxBusWidth),
        )
        for row in rows[0 : count[0]]
    ]


def get_memory_access_properties(device: DeviceHandle) -> MemoryAccessProperties:
    """What the device may do with each kind of memory."""
    properties = ffi.new("ze_device_memory_access_properties_t *")
    properties.stype = lib.ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES
    code = lib.zeDeviceGetMemoryAccessProperties(device, properties)
    check(code, "zeDeviceGetMemoryAccessProperties")
    return MemoryAccessProperties(
        host=MemoryAccessCapFlag(properties.hostAllocCapabilities),
        device=MemoryAccessCapFlag(properties.deviceAllocCapabilities),
        shared_single_device=MemoryAccessCapFlag(properties.sharedSingleDeviceAllocCapabilities),
        shared_cross_device=MemoryAccessCapFlag(properties.sharedCrossDeviceAllocCapabilities),
        shared_system=MemoryAccessCapFlag(properties.sharedSystemAllocCapabilities),
    )


def get_command_queue_group_properties(device: DeviceHandle) -> list[CommandQueueGroup]:
    """The device's groups of queues; the place in the list is the ordinal."""
    entry = "zeDeviceGetCommandQueueGroupProperties"
    count = ffi.new("uint32_t *")
    check(lib.zeDeviceGetCommandQueueGroupProperties(device, count, ffi.NULL), entry)
    if not count[0]:
        return []
    rows = ffi.new("ze_command_queue_group_properties_t[]", count[0])
    for row in rows:
        row.stype = lib.ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES
    check(lib.zeDeviceGetCommandQueueGroupProperties(device, count, rows), entry)
    return [
        CommandQueueGroup(
            flags=CommandQueueGroupFlag(row.flags),
            max_memory_fill_pattern_size=int(row.maxMemoryFillPatternSize),
            num_queues=int(row.numQueues),
        )
        for row in rows[0 : count[0]]
    ]


def get_compute_properties(device: DeviceHandle) -> ComputeProperties:
    """Limits of kernels on the device."""
    properties = ffi.new("ze_device_compute_properties_t *")
    properties.stype = lib.ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES
    check(lib.zeDeviceGetComputeProperties(device, properties), "zeDeviceGetComputeProperties")
    return ComputeProperties(
        max_total_group_size=int(properties.maxTotalGroupSize),
        max_group_size=(
            int(properties.maxGroupSizeX),
            int(properties.maxGroupSizeY),
            int(properties.maxGroupSizeZ),
        ),
        max_group_count=(
            int(properties.maxGroupCountX),
            int(properties.maxGroupCountY),
            int(properties.maxGroupCountZ),
        ),
        max_shared_local_memory=int(properties.maxSharedLocalMemory),
        sub_group_sizes=tuple(properties.subGroupSizes[0 : properties.numSubGroupSizes]),
    )


def can_access_peer(device: DeviceHandle, peer: DeviceHandle) -> bool:
    """Whether a device can use memory of another one directly."""
    value = ffi.new("ze_bool_t *")
    check(lib.zeDeviceCanAccessPeer(device, peer, value), "zeDeviceCanAccessPeer")
    return bool(value[0])


def get_global_timestamps(device: DeviceHandle) -> tuple[int, int]:
    """Host time and device time taken together: nanoseconds, and ticks of the device's timer."""
    host = ffi.new("uint64_t *")
    ticks = ffi.new("uint64_t *")
    check(lib.zeDeviceGetGlobalTimestamps(device, host, ticks), "zeDeviceGetGlobalTimestamps")
    return int(host[0]), int(ticks[0])


def _text(array: object) -> str:
    return bytes(ffi.string(array)).decode(errors="replace")
