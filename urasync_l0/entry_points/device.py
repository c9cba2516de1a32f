# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entry points of devices and their parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from urasync_l0 import reference_count
from urasync_l0.device_info import DEVICE_INFO, device_type
from urasync_l0.entry_points._handles import flags, handle, pointer
from urasync_l0.enums import DeviceAffinityDomainFlag, DevicePartition, DeviceType
from urasync_l0.out import check_list, write_list
from urasync_l0.platform import platforms
from urasync_l0.result import (
    InvalidBinaryError,
    InvalidEnumerationError,
    InvalidSizeError,
    InvalidValueError,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from urasync_l0.descriptors import (
        DevicePartitionProperties,
        DevicePartitionProperty,
        NativeHandleProperties,
    )
    from urasync_l0.device import Device
    from urasync_l0.entry_points.base import Adapter
    from urasync_l0.out import Out
    from urasync_l0.platform import Platform

_ALL_DOMAINS = sum(DeviceAffinityDomainFlag)

_DOMAINS = (DeviceAffinityDomainFlag.NUMA, DeviceAffinityDomainFlag.NEXT_PARTITIONABLE)
"""What sub-devices have in common: their memory. Level Zero knows no other division."""

_SPIRV = "spir64"
"""The target of programs in SPIR-V with 64-bit addresses."""


class DeviceEntryPoints:
    """``urDevice…``."""

    def urDeviceGet(
        self,
        platform: Platform | None,
        device_type: int,
        num_entries: int,
        devices: Out[tuple[Device, ...]] | None,
        num_devices: Out[int] | None,
    ) -> None:
        """The root devices of a `DeviceType`."""
        platform = handle(platform, "platform")
        check_list(num_entries, devices, num_devices)
        found = _of_type(platform.devices, device_type)
        write_list(num_entries, devices, num_devices, found)

    def urDeviceGetInfo(
        self,
        device: Device | None,
        prop_name: int,
        prop_size: int,
        prop_value: Out[Any] | None,
        prop_size_ret: Out[int] | None,
    ) -> None:
        """A `DeviceInfo`."""
        device = handle(device, "device")
        DEVICE_INFO.answer(device, prop_name, prop_size, prop_value, prop_size_ret)

    def urDeviceRetain(self, device: Device | None) -> None:
        """Add a reference to a part of a device; a root device always has one."""
        device = handle(device, "device")
        if device.parent is not None:
            reference_count.retain(device)

    def urDeviceRelease(self, device: Device | None) -> None:
        """Give a reference to a part of a device back; the device itself stays."""
        device = handle(device, "device")
        if device.parent is not None:
            reference_count.release(device)

    def urDevicePartition(
        self,
        device: Device | None,
        properties: DevicePartitionProperties | None,
        num_devices: int,
        sub_devices: Out[tuple[Device, ...]] | None,
        num_devices_ret: Out[int] | None,
    ) -> None:
        """The sub-devices that a device is divided into."""
        device = handle(device, "device")
        wanted = pointer(pointer(properties, "properties").properties, "properties.properties")
        check_list(num_devices, sub_devices, num_devices_ret)
        parts = _parts(device, wanted)
        for each in write_list(num_devices, sub_devices, num_devices_ret, parts):
            reference_count.hand_out(each)

    def urDeviceSelectBinary(
        self,
        device: Device | None,
        binaries: Sequence[str] | None,
        num_binaries: int,
        selected_binary: Out[int] | None,
    ) -> None:
        """Which of several programs suits the device, by the names of their targets: SPIR-V."""
        device = handle(device, "device")
        targets = pointer(binaries, "binaries")
        selected_binary = pointer(selected_binary, "selected_binary")
        if not num_binaries or num_binaries != len(targets):
            raise InvalidSizeError(
                f"{len(targets)} binaries are given, but {num_binaries} are counted; there must be "
                "one."
            )
        if _SPIRV not in targets:
            raise InvalidBinaryError(
                f"{device!r} takes programs for {_SPIRV!r}; these are for {', '.join(targets)}."
            )
        selected_binary.value = targets.index(_SPIRV)

    def urDeviceGetNativeHandle(
        self, device: Device | None, native_device: Out[int] | None
    ) -> None:
        """The ``ze_device_handle_t``."""
        device = handle(device, "device")
        pointer(native_device, "native_device").value = device.native_value

    def urDeviceCreateWithNativeHandle(
        self,
        native_device: int,
        adapter: Adapter | None,
        properties: NativeHandleProperties | None,
        device: Out[Device] | None,
    ) -> None:
        """The device of a ``ze_device_handle_t``, which may be a sub-device."""
        handle(adapter, "adapter")
        device = pointer(device, "device")
        for platform in platforms():
            found = platform.find_device(native_device)
            if found is not None:
                if found.parent is not None:
                    reference_count.hand_out(found)
                device.value = found
                return
        raise InvalidValueError(f"{native_device:#x} is the handle of no Level Zero device.")

    def urDeviceGetGlobalTimestamps(
        self,
        device: Device | None,
        device_timestamp: Out[int] | None,
        host_timestamp: Out[int] | None,
    ) -> None:
        """The device's and the host's time at one moment, in nanoseconds."""
        device = handle(device, "device")
        host, ticks = device.clock.read()
        if device_timestamp is not None:
            device_timestamp.value = device.clock.nanoseconds(ticks)
        if host_timestamp is not None:
            host_timestamp.value = host


def _of_type(devices: Sequence[Device], wanted: int) -> Sequence[Device]:
    if wanted not in DeviceType.__members__.values():
        raise InvalidEnumerationError(f"There is no device type {wanted:#x}.")
    if wanted == DeviceType.ALL:
        return devices
    if wanted == DeviceType.DEFAULT:
        return devices[:1]
    return [each for each in devices if device_type(each) == wanted]


def _parts(device: Device, wanted: Sequence[DevicePartitionProperty]) -> Sequence[Device]:
    """The parts that a device is divided into, none if it cannot be divided in that way."""
    if len(wanted) != 1:
        raise InvalidValueError(
            f"{device!r} is to be divided in {len(wanted)} ways at once; it must be one."
        )
    way, value = wanted[0].type, wanted[0].value
    if way not in DevicePartition.__members__.values():
        raise InvalidEnumerationError(f"There is no way {way:#x} to divide a device.")
    if way == DevicePartition.BY_AFFINITY_DOMAIN:
        flags(value, _ALL_DOMAINS, "The affinity domain")
        if value not in _DOMAINS:
            raise InvalidValueError(
                f"{device!r} cannot be divided by the affinity domain {value:#x}; its sub-devices "
                f"are those of {_DOMAINS[0].value:#x}, also called {_DOMAINS[1].value:#x}."
            )
        return device.sub_devices
    if way == DevicePartition.BY_CSLICE:
        if value:
            raise InvalidValueError(f"Dividing by compute slice takes no value, but got {value}.")
        return device.compute_slices
    raise InvalidValueError(
        f"{device!r} cannot be divided {DevicePartition(way).name}; Level Zero divides devices by "
        "affinity domain or compute slice."
    )
