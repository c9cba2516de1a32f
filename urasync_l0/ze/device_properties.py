# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What clients of Unified Runtime ask about a device beyond what this package itself needs.

Sizes are bytes. Each function asks the driver anew.
"""

from dataclasses import dataclass
from enum import IntFlag

from urasync_l0.ze._extension import CData, ffi, lib
from urasync_l0.ze.handles import DeviceHandle
from urasync_l0.ze.result import ZeResult, check

IP_VERSION_EXTENSION = "ZE_extension_device_ip_version"
PCI_EXTENSION = "ZE_extension_pci_properties"
USABLE_MEMORY_EXTENSION = "ZE_extension_device_usablemem_size_properties"


class ModuleFlag(IntFlag):
    """``ze_device_module_flags_t``, as far as this package uses them."""

    FP16 = lib.ZE_DEVICE_MODULE_FLAG_FP16
    FP64 = lib.ZE_DEVICE_MODULE_FLAG_FP64
    INT64_ATOMICS = lib.ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS


class FloatFlag(IntFlag):
    """``ze_device_fp_flags_t``: what operations on a kind of floating-point number can do."""

    DENORM = lib.ZE_DEVICE_FP_FLAG_DENORM
    INF_NAN = lib.ZE_DEVICE_FP_FLAG_INF_NAN
    ROUND_TO_NEAREST = lib.ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST
    ROUND_TO_ZERO = lib.ZE_DEVICE_FP_FLAG_ROUND_TO_ZERO
    ROUND_TO_INF = lib.ZE_DEVICE_FP_FLAG_ROUND_TO_INF
    FMA = lib.ZE_DEVICE_FP_FLAG_FMA
    ROUNDED_DIVIDE_SQRT = lib.ZE_DEVICE_FP_FLAG_ROUNDED_DIVIDE_SQRT
    SOFT_FLOAT = lib.ZE_DEVICE_FP_FLAG_SOFT_FLOAT


class PeerFlag(IntFlag):
    """``ze_device_p2p_property_flags_t``: what a device may do with a peer's memory."""

    ACCESS = lib.ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS
    ATOMICS = lib.ZE_DEVICE_P2P_PROPERTY_FLAG_ATOMICS


@dataclass(frozen=True, slots=True)
class ModuleProperties:
    """What kernels may contain. ``spirv_version`` is major << 16 | minor, 0 for none."""

    spirv_version: int
    flags: ModuleFlag
    half: FloatFlag
    single: FloatFlag
    double: FloatFlag
    max_arguments_size: int
    printf_buffer_size: int


@dataclass(frozen=True, slots=True)
class PciAddress:
    """Where a device is on its PCI bus."""

    domain: int
    bus: int
    device: int
    function: int

    def __str__(self) -> str:
        return f"{self.domain:04x}:{self.bus:02x}:{self.device:02x}.{self.function:x}"


def get_module_properties(device: DeviceHandle) -> ModuleProperties:
    """What kernels for the device may contain."""
    properties = ffi.new("ze_device_module_properties_t *")
    properties.stype = lib.ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES
    check(lib.zeDeviceGetModuleProperties(device, properties), "zeDeviceGetModuleProperties")
    return ModuleProperties(
        spirv_version=int(properties.spirvVersionSupported),
        flags=ModuleFlag(properties.flags),
        half=FloatFlag(properties.fp16flags),
        single=FloatFlag(properties.fp32flags),
        double=FloatFlag(properties.fp64flags),
        max_arguments_size=int(properties.maxArgumentsSize),
        printf_buffer_size=int(properties.printfBufferSize),
    )


def get_cache_sizes(device: DeviceHandle) -> list[int]:
    """The sizes of the device's caches."""
    entry = "zeDeviceGetCacheProperties"
    count = ffi.new("uint32_t *")
    check(lib.zeDeviceGetCacheProperties(device, count, ffi.NULL), entry)
    if not count[0]:
        return []
    rows = ffi.new("ze_device_cache_properties_t[]", count[0])
    for row in rows:
        row.stype = lib.ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES
    check(lib.zeDeviceGetCacheProperties(device, count, rows), entry)
    return [int(row.cacheSize) for row in rows[0 : count[0]]]


def get_peer_flags(device: DeviceHandle, peer: DeviceHandle) -> PeerFlag:
    """What the device may do with the memory of another one."""
    properties = ffi.new("ze_device_p2p_properties_t *")
    properties.stype = lib.ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES
    check(lib.zeDeviceGetP2PProperties(device, peer, properties), "zeDeviceGetP2PProperties")
    return PeerFlag(properties.flags)


def get_pci_address(device: DeviceHandle) -> PciAddress | None:
    """Where the device is on its bus; None when the driver cannot tell."""
    properties = ffi.new("ze_pci_ext_properties_t *")
    properties.stype = lib.ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES
    code = lib.zeDevicePciGetPropertiesExt(device, properties)
    # Intel's driver has no bus to look at in a process without hardware, and calls that so.
    if code in (ZeResult.ERROR_UNSUPPORTED_FEATURE, ZeResult.ERROR_UNINITIALIZED):
        return None
    check(code, "zeDevicePciGetPropertiesExt")
    address = properties.address
    return PciAddress(
        int(address.domain), int(address.bus), int(address.device), int(address.function)
    )


def get_ip_version(device: DeviceHandle) -> int:
    """The version of the device's design, as the vendor counts; for drivers with the extension."""
    version = ffi.new("ze_device_ip_version_ext_t *")
    version.stype = lib.ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT
    _ask(device, lib.ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES, version)
    return int(version.ipVersion)


def get_usable_memory(device: DeviceHandle) -> int:
    """What can be allocated at this moment; for drivers with the extension."""
    memory = ffi.new("ze_device_usablemem_size_ext_properties_t *")
    memory.stype = lib.ZE_STRUCTURE_TYPE_DEVICE_USABLEMEM_SIZE_EXT_PROPERTIES
    _ask(device, lib.ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES, memory)
    return int(memory.currUsableMemSize)


def get_timer_frequency(device: DeviceHandle) -> int:
    """Ticks a second of the device's timer; exact, where nanoseconds a tick are rounded."""
    stype = lib.ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2
    return int(_ask(device, stype, None).timerResolution)


def _ask(device: DeviceHandle, stype: int, chained: CData | None) -> CData:
    properties: CData = ffi.new("ze_device_properties_t *")
    properties.stype = stype
    if chained is not None:
        properties.pNext = chained
    check(lib.zeDeviceGetProperties(device, properties), "zeDeviceGetProperties")
    return properties
