# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ``urDeviceGetInfo`` answers, and where each answer comes from.

Most answers are the driver's. Those about features that need entry points of their own say what
this package offers, which a client would call next: not what the driver could do
(`device_features`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum, IntFlag
from typing import Any, TypeVar

from urasync_l0 import reference_count
from urasync_l0.descriptors import DevicePartitionProperty
from urasync_l0.device import Device
from urasync_l0.device_features import NOT_OFFERED
from urasync_l0.enums import (
    DeviceAffinityDomainFlag,
    DeviceExecCapabilityFlag,
    DeviceFpCapabilityFlag,
    DeviceInfo,
    DeviceLocalMemType,
    DeviceMemCacheType,
    DevicePartition,
    DeviceType,
    DeviceUsmAccessCapabilityFlag,
    MemoryOrderCapabilityFlag,
    MemoryScopeCapabilityFlag,
    QueueFlag,
)
from urasync_l0.info import (
    BOOL,
    BYTES,
    ENUMERATION,
    ENUMERATIONS,
    FLAGS,
    HANDLE,
    HANDLES,
    SIZE,
    SIZES,
    STRING,
    UINT32,
    UINT64,
    InfoTable,
    InfoType,
    Property,
)
from urasync_l0.result import UnsupportedEnumerationError
from urasync_l0.ze import device as ze_device
from urasync_l0.ze.device import DevicePropertyFlag, MemoryAccessCapFlag
from urasync_l0.ze.device_properties import FloatFlag, ModuleFlag

F = TypeVar("F", bound=IntFlag)

UINT32S = InfoType("uint32_t", 4, is_sequence=True)
PARTITION_PROPERTIES = InfoType("ur_device_partition_property_t", 8, is_sequence=True)

QUEUE_FLAGS = (
    QueueFlag.OUT_OF_ORDER_EXEC_MODE_ENABLE
    | QueueFlag.PROFILING_ENABLE
    | QueueFlag.DISCARD_EVENTS
    | QueueFlag.PRIORITY_LOW
    | QueueFlag.PRIORITY_HIGH
    | QueueFlag.SUBMISSION_BATCHED
    | QueueFlag.SUBMISSION_IMMEDIATE
)
"""What queues can be made with. Out-of-order queues run in order, which is always allowed."""

_TYPES = {
    ze_device.DeviceType.GPU: DeviceType.GPU,
    ze_device.DeviceType.CPU: DeviceType.CPU,
    ze_device.DeviceType.FPGA: DeviceType.FPGA,
    ze_device.DeviceType.MCA: DeviceType.MCA,
    ze_device.DeviceType.VPU: DeviceType.VPU,
}

_ACCESS = {
    MemoryAccessCapFlag.RW: DeviceUsmAccessCapabilityFlag.ACCESS,
    MemoryAccessCapFlag.ATOMIC: DeviceUsmAccessCapabilityFlag.ATOMIC_ACCESS,
    MemoryAccessCapFlag.CONCURRENT: DeviceUsmAccessCapabilityFlag.CONCURRENT_ACCESS,
    MemoryAccessCapFlag.CONCURRENT_ATOMIC: DeviceUsmAccessCapabilityFlag.ATOMIC_CONCURRENT_ACCESS,
}

_FLOAT = {
    FloatFlag.DENORM: DeviceFpCapabilityFlag.DENORM,
    FloatFlag.INF_NAN: DeviceFpCapabilityFlag.INF_NAN,
    FloatFlag.ROUND_TO_NEAREST: DeviceFpCapabilityFlag.ROUND_TO_NEAREST,
    FloatFlag.ROUND_TO_ZERO: DeviceFpCapabilityFlag.ROUND_TO_ZERO,
    FloatFlag.ROUND_TO_INF: DeviceFpCapabilityFlag.ROUND_TO_INF,
    FloatFlag.FMA: DeviceFpCapabilityFlag.FMA,
    FloatFlag.ROUNDED_DIVIDE_SQRT: DeviceFpCapabilityFlag.CORRECTLY_ROUNDED_DIVIDE_SQRT,
    FloatFlag.SOFT_FLOAT: DeviceFpCapabilityFlag.SOFT_FLOAT,
}


_KERNEL_EXTENSIONS = (
    "cl_khr_il_program",
    "cl_khr_subgroups",
    "cl_intel_subgroups",
    "cl_intel_subgroups_short",
    "cl_intel_required_subgroup_size",
)
"""What kernels may use on every device of Level Zero."""

_MODULE_EXTENSIONS = {
    ModuleFlag.FP16: ("cl_khr_fp16",),
    ModuleFlag.FP64: ("cl_khr_fp64",),
    ModuleFlag.INT64_ATOMICS: ("cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"),
}

_BFLOAT16 = "ZE_extension_bfloat16_conversions"


_POINTER_SIZE = 8
_ORDERS = MemoryOrderCapabilityFlag(sum(MemoryOrderCapabilityFlag))
_SCOPES = MemoryScopeCapabilityFlag(sum(MemoryScopeCapabilityFlag))


def device_type(device: Device) -> DeviceType:
    """The device's type."""
    return _TYPES.get(device.properties.type, DeviceType.CUSTOM)


def _translated(flags: IntFlag, table: Mapping[Any, F], none: F) -> F:
    answer = none
    for theirs, ours in table.items():
        if flags & theirs:
            answer |= ours
    return answer


def _access(flags: MemoryAccessCapFlag) -> DeviceUsmAccessCapabilityFlag:
    return _translated(flags, _ACCESS, DeviceUsmAccessCapabilityFlag(0))


def _float(flags: FloatFlag) -> DeviceFpCapabilityFlag:
    return _translated(flags, _FLOAT, DeviceFpCapabilityFlag(0))


def _is(flag: DevicePropertyFlag) -> Callable[[Device], bool]:
    return lambda device: bool(device.properties.flags & flag)


def _known(what: str, read: Callable[[Device], Any]) -> Callable[[Device], Any]:
    """An answer that not every driver has; ``read`` gives None without it."""

    def answer(device: Device) -> Any:
        value = read(device)
        if value is None:
            raise UnsupportedEnumerationError(f"The driver does not tell {what} of {device!r}.")
        return value

    return answer


def _always(value: Any) -> Callable[[Device], Any]:
    return lambda _: value


def _version(device: Device) -> str | None:
    number = device.ip_version
    if number is None:
        return None
    return f"{number >> 22}.{number >> 14 & 0xFF}.{number & 0x3F}"


def _il_version(device: Device) -> str | None:
    number = device.module.spirv_version
    return f"SPIR-V_{number >> 16}.{number & 0xFFFF}" if number else None


def _pci_address(device: Device) -> str | None:
    return None if device.pci_address is None else str(device.pci_address)


def _extensions(device: Device) -> str:
    """Those of OpenCL C that a kernel may use: clients look for fp16 and fp64 among them."""
    names = [*_KERNEL_EXTENSIONS]
    for flag, extensions in _MODULE_EXTENSIONS.items():
        if device.module.flags & flag:
            names += extensions
    if _has_bfloat16(device):
        names.append("cl_intel_bfloat16_conversions")
    return " ".join(names)


def _has_bfloat16(device: Device) -> bool:
    return _BFLOAT16 in device.platform.extensions


def _cache_type(device: Device) -> DeviceMemCacheType:
    return (
        DeviceMemCacheType.READ_WRITE_CACHE if any(device.cache_sizes) else DeviceMemCacheType.NONE
    )


def _slowest(attribute: str) -> Callable[[Device], int]:
    return lambda device: min((getattr(memory, attribute) for memory in device.memories), default=0)


def _max_work_groups(device: Device) -> int:
    x, y, z = device.compute.max_group_count
    return int(min(x * y * z, 2**64 - 1))


def _max_sub_groups(device: Device) -> int:
    smallest = min(device.compute.sub_group_sizes, default=1)
    return int(device.compute.max_total_group_size // smallest)


def _partitions(device: Device) -> tuple[DevicePartition, ...]:
    if len(device.sub_devices) > 1:
        return (DevicePartition.BY_AFFINITY_DOMAIN,)
    return (DevicePartition.BY_CSLICE,) if device.compute_slices else ()


def _affinity_domains(device: Device) -> DeviceAffinityDomainFlag:
    if not device.sub_devices:
        return DeviceAffinityDomainFlag(0)
    return DeviceAffinityDomainFlag.NUMA | DeviceAffinityDomainFlag.NEXT_PARTITIONABLE


def _partition_type(device: Device) -> tuple[DevicePartitionProperty, ...]:
    partition = device.partition
    if partition is None:
        return ()
    by_domain = partition is DevicePartition.BY_AFFINITY_DOMAIN
    return (DevicePartitionProperty(partition, DeviceAffinityDomainFlag.NUMA if by_domain else 0),)


def _number(attribute: str) -> Callable[[Device], int]:
    return lambda device: int(getattr(device.properties, attribute))


# Bytes of the types whose vectors clients ask about.
_VECTORS = {"CHAR": 1, "SHORT": 2, "INT": 4, "LONG": 8, "LONG_LONG": 8}
_VECTORS |= {"HALF": 2, "FLOAT": 4, "DOUBLE": 8}


def _vector_widths() -> dict[IntEnum, Property[Device]]:
    def width(size: int) -> Property[Device]:
        return Property(UINT32, lambda d: max(d.properties.physical_eu_simd_width // size, 1))

    return {
        DeviceInfo[f"{kind}_VECTOR_WIDTH_{name}"]: width(size)
        for kind in ("PREFERRED", "NATIVE")
        for name, size in _VECTORS.items()
    }


DEVICE_INFO: InfoTable[Device] = InfoTable(
    {
        # What it is.
        DeviceInfo.TYPE: Property(ENUMERATION, device_type),
        DeviceInfo.NAME: Property(STRING, lambda device: device.name),
        DeviceInfo.VENDOR: Property(STRING, lambda device: device.vendor),
        DeviceInfo.VENDOR_ID: Property(UINT32, _number("vendor_id")),
        DeviceInfo.DEVICE_ID: Property(UINT32, _number("device_id")),
        DeviceInfo.UUID: Property(BYTES, lambda device: device.uuid),
        DeviceInfo.PCI_ADDRESS: Property(STRING, _known("the PCI address", _pci_address)),
        DeviceInfo.IP_VERSION: Property(UINT32, _known("the IP version", lambda d: d.ip_version)),
        DeviceInfo.VERSION: Property(STRING, _known("the IP version", _version)),
        DeviceInfo.DRIVER_VERSION: Property(STRING, lambda d: d.platform.version_text),
        DeviceInfo.BACKEND_RUNTIME_VERSION: Property(STRING, lambda d: d.platform.version_text),
        DeviceInfo.EXTENSIONS: Property(STRING, _extensions),
        DeviceInfo.PLATFORM: Property(HANDLE, lambda device: device.platform),
        DeviceInfo.REFERENCE_COUNT: Property(UINT32, reference_count.count),
        DeviceInfo.AVAILABLE: Property(BOOL, _always(True)),
        DeviceInfo.ENDIAN_LITTLE: Property(BOOL, _always(True)),
        DeviceInfo.ADDRESS_BITS: Property(UINT32, _always(64)),
        DeviceInfo.IS_INTEGRATED_GPU: Property(BOOL, _is(DevicePropertyFlag.INTEGRATED)),
        DeviceInfo.HOST_UNIFIED_MEMORY: Property(BOOL, _is(DevicePropertyFlag.INTEGRATED)),
        DeviceInfo.ERROR_CORRECTION_SUPPORT: Property(BOOL, _is(DevicePropertyFlag.ECC)),
        # Its parts.
        DeviceInfo.PARENT_DEVICE: Property(HANDLE, lambda device: device.parent),
        DeviceInfo.SUPPORTED_PARTITIONS: Property(ENUMERATIONS, _partitions),
        DeviceInfo.PARTITION_MAX_SUB_DEVICES: Property(
            UINT32, lambda device: len(device.sub_devices or device.compute_slices)
        ),
        DeviceInfo.PARTITION_AFFINITY_DOMAIN: Property(FLAGS, _affinity_domains),
        DeviceInfo.PARTITION_TYPE: Property(PARTITION_PROPERTIES, _partition_type),
        DeviceInfo.COMPONENT_DEVICES: Property(HANDLES, lambda device: device.components),
        DeviceInfo.COMPOSITE_DEVICE: Property(HANDLE, lambda device: device.composite),
        # Memory.
        DeviceInfo.GLOBAL_MEM_SIZE: Property(UINT64, lambda device: device.total_memory),
        DeviceInfo.GLOBAL_MEM_FREE: Property(
            UINT64, _known("the free memory", lambda device: device.free_memory)
        ),
        DeviceInfo.MAX_MEM_ALLOC_SIZE: Property(UINT64, lambda device: device.max_allocation),
        DeviceInfo.GLOBAL_MEM_CACHE_SIZE: Property(
            UINT64, lambda device: max(device.cache_sizes, default=0)
        ),
        DeviceInfo.GLOBAL_MEM_CACHE_TYPE: Property(ENUMERATION, _cache_type),
        # Not told, and who has a cache wants a number: a line has one byte at least.
        DeviceInfo.GLOBAL_MEM_CACHELINE_SIZE: Property(UINT32, lambda d: int(any(d.cache_sizes))),
        DeviceInfo.MEM_BASE_ADDR_ALIGN: Property(UINT32, _always(8)),  # bits: parts begin anywhere
        DeviceInfo.LOCAL_MEM_TYPE: Property(ENUMERATION, _always(DeviceLocalMemType.LOCAL)),
        DeviceInfo.LOCAL_MEM_SIZE: Property(
            UINT64, lambda device: device.compute.max_shared_local_memory
        ),
        DeviceInfo.MEMORY_CLOCK_RATE: Property(UINT32, _slowest("max_clock_rate")),
        DeviceInfo.MEMORY_BUS_WIDTH: Property(UINT32, _slowest("max_bus_width")),
        DeviceInfo.USM_HOST_SUPPORT: Property(FLAGS, lambda d: _access(d.memory_access.host)),
        DeviceInfo.USM_DEVICE_SUPPORT: Property(FLAGS, lambda d: _access(d.memory_access.device)),
        DeviceInfo.USM_SINGLE_SHARED_SUPPORT: Property(
            FLAGS, lambda device: _access(device.memory_access.shared_single_device)
        ),
        DeviceInfo.USM_CROSS_SHARED_SUPPORT: Property(
            FLAGS, lambda device: _access(device.memory_access.shared_cross_device)
        ),
        DeviceInfo.USM_SYSTEM_SHARED_SUPPORT: Property(
            FLAGS, lambda device: _access(device.memory_access.shared_system)
        ),
        DeviceInfo.USM_POOL_SUPPORT: Property(BOOL, lambda device: device.supports_async_alloc),
        DeviceInfo.ASYNC_USM_ALLOCATIONS_SUPPORT_EXP: Property(
            BOOL, lambda device: device.supports_async_alloc
        ),
        DeviceInfo.USM_P2P_SUPPORT_EXP: Property(BOOL, _always(True)),
        # Queues and time.
        DeviceInfo.QUEUE_PROPERTIES: Property(FLAGS, _always(QUEUE_FLAGS)),
        DeviceInfo.QUEUE_ON_HOST_PROPERTIES: Property(FLAGS, _always(QUEUE_FLAGS)),
        DeviceInfo.QUEUE_ON_DEVICE_PROPERTIES: Property(FLAGS, _always(QueueFlag(0))),
        DeviceInfo.MAX_COMPUTE_QUEUE_INDICES: Property(UINT32, lambda d: d.compute_queues),
        DeviceInfo.PROFILING_TIMER_RESOLUTION: Property(
            SIZE, lambda device: 1_000_000_000 // device.clock.frequency
        ),
        DeviceInfo.TIMESTAMP_RECORDING_SUPPORT_EXP: Property(BOOL, _always(True)),
        # Kernels.
        DeviceInfo.PROGRAM_SET_SPECIALIZATION_CONSTANTS: Property(BOOL, _always(True)),
        DeviceInfo.MAX_COMPUTE_UNITS: Property(UINT32, lambda device: device.compute_units),
        DeviceInfo.NUM_COMPUTE_UNITS: Property(
            UINT32,
            lambda d: d.properties.num_subslices_per_slice * d.properties.num_slices,
        ),
        DeviceInfo.MAX_CLOCK_FREQUENCY: Property(UINT32, _number("core_clock_rate")),
        DeviceInfo.MAX_WORK_ITEM_DIMENSIONS: Property(UINT32, _always(3)),
        DeviceInfo.MAX_WORK_ITEM_SIZES: Property(SIZES, lambda d: d.compute.max_group_size),
        DeviceInfo.MAX_WORK_GROUP_SIZE: Property(SIZE, lambda d: d.compute.max_total_group_size),
        DeviceInfo.MAX_WORK_GROUPS_3D: Property(SIZES, lambda d: d.compute.max_group_count),
        DeviceInfo.MAX_WORK_GROUPS: Property(SIZE, _max_work_groups),
        DeviceInfo.MAX_NUM_SUB_GROUPS: Property(UINT32, _max_sub_groups),
        DeviceInfo.SUB_GROUP_SIZES_INTEL: Property(UINT32S, lambda d: d.compute.sub_group_sizes),
        DeviceInfo.MAX_PARAMETER_SIZE: Property(SIZE, lambda d: d.module.max_arguments_size),
        DeviceInfo.MAX_CONSTANT_ARGS: Property(
            UINT32, lambda d: d.module.max_arguments_size // _POINTER_SIZE
        ),
        DeviceInfo.MAX_CONSTANT_BUFFER_SIZE: Property(UINT64, lambda d: d.max_allocation),
        DeviceInfo.EXECUTION_CAPABILITIES: Property(
            FLAGS, _always(DeviceExecCapabilityFlag.KERNEL)
        ),
        DeviceInfo.PROFILE: Property(STRING, _always("FULL_PROFILE")),
        DeviceInfo.PREFERRED_INTEROP_USER_SYNC: Property(BOOL, _always(True)),
        DeviceInfo.SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS: Property(BOOL, _always(False)),
        DeviceInfo.BUILD_ON_SUBDEVICE: Property(BOOL, _always(False)),
        DeviceInfo.MULTI_DEVICE_COMPILE_SUPPORT_EXP: Property(BOOL, _always(True)),
        DeviceInfo.PRINTF_BUFFER_SIZE: Property(SIZE, lambda d: d.module.printf_buffer_size),
        DeviceInfo.BUILT_IN_KERNELS: Property(STRING, _always("")),
        DeviceInfo.COMPILER_AVAILABLE: Property(BOOL, lambda d: d.module.spirv_version != 0),
        DeviceInfo.LINKER_AVAILABLE: Property(BOOL, lambda d: d.module.spirv_version != 0),
        DeviceInfo.IL_VERSION: Property(STRING, _known("a SPIR-V version", _il_version)),
        DeviceInfo.SINGLE_FP_CONFIG: Property(FLAGS, lambda device: _float(device.module.single)),
        DeviceInfo.HALF_FP_CONFIG: Property(FLAGS, lambda device: _float(device.module.half)),
        DeviceInfo.DOUBLE_FP_CONFIG: Property(FLAGS, lambda device: _float(device.module.double)),
        DeviceInfo.ATOMIC_64: Property(
            BOOL, lambda device: bool(device.module.flags & ModuleFlag.INT64_ATOMICS)
        ),
        # Kernels in SPIR-V have OpenCL's model of memory, of which Level Zero leaves nothing out.
        **{
            DeviceInfo[f"ATOMIC_{what}_ORDER_CAPABILITIES"]: Property(FLAGS, _always(_ORDERS))
            for what in ("MEMORY", "FENCE")
        },
        **{
            DeviceInfo[f"ATOMIC_{what}_SCOPE_CAPABILITIES"]: Property(FLAGS, _always(_SCOPES))
            for what in ("MEMORY", "FENCE")
        },
        DeviceInfo.BFLOAT16_CONVERSIONS_NATIVE: Property(BOOL, _has_bfloat16),
        **_vector_widths(),
        # Execution units.
        DeviceInfo.GPU_EU_COUNT: Property(UINT32, lambda device: device.compute_units),
        DeviceInfo.GPU_EU_SIMD_WIDTH: Property(UINT32, _number("physical_eu_simd_width")),
        DeviceInfo.GPU_EU_SLICES: Property(UINT32, _number("num_slices")),
        DeviceInfo.GPU_EU_COUNT_PER_SUBSLICE: Property(UINT32, _number("num_eus_per_subslice")),
        DeviceInfo.GPU_SUBSLICES_PER_SLICE: Property(UINT32, _number("num_subslices_per_slice")),
        DeviceInfo.GPU_HW_THREADS_PER_EU: Property(UINT32, _number("num_threads_per_eu")),
        **NOT_OFFERED,
    }
)
