# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A device: what it is, its parts, how much memory it has, and which of its queues serve us."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from urasync_l0.device_clock import DeviceClock
from urasync_l0.enums import DevicePartition
from urasync_l0.not_copied import not_copied
from urasync_l0.result import UnsupportedFeatureError
from urasync_l0.ze import device as ze_device
from urasync_l0.ze import device_properties as ze_properties
from urasync_l0.ze.device import (
    CommandQueueGroup,
    CommandQueueGroupFlag,
    ComputeProperties,
    DeviceProperties,
    MemoryAccessCapFlag,
    MemoryAccessProperties,
    MemoryProperties,
)
from urasync_l0.ze.device_properties import ModuleProperties, PciAddress, PeerFlag
from urasync_l0.ze.handles import DeviceHandle, handle_value

if TYPE_CHECKING:
    from urasync_l0.platform import Platform

_VENDORS = {0x8086: "Intel(R) Corporation"}

_NEEDED = CommandQueueGroupFlag.COMPUTE | CommandQueueGroupFlag.COPY


class Device:
    """A Level Zero device, or one compute queue of it. Any thread may use it. Sizes are bytes.

    There is one object for each device, and one for each compute slice, for the whole process.

    Attributes
    ----------
    handle
        The native handle. A compute slice has that of its parent.
    index
        The device's place among the root devices of its platform, or among the parts of its parent.
    platform
        The driver that it belongs to.
    parent
        The device that it is a part of; None for a root device.
    sub_devices
        Its parts with memory of their own, as the driver divides it; often none.
    compute_slices
        One for each compute queue, if there are several and the device has no sub-devices: as
        devices whose queues all use that one. They share the device's memory.
    slice
        Which compute queue a compute slice has; None for anything else.
    components
        With Level Zero's combined hierarchy: the root devices that this one is composed of.
    composite
        With the combined hierarchy: the device that this root device is a component of, or None.
    """

    def __init__(
        self,
        handle: DeviceHandle,
        index: int,
        platform: Platform,
        parent: Device | None = None,
        compute_slice: int | None = None,
        components: tuple[Device, ...] = (),
    ) -> None:
        self.handle = handle
        self.index = index
        self.platform = platform
        self.parent = parent
        self.slice = compute_slice
        self.properties: DeviceProperties = ze_device.get_properties(handle)
        self.memories: tuple[MemoryProperties, ...] = tuple(ze_device.get_memory_properties(handle))
        self.queue_groups: tuple[CommandQueueGroup, ...] = tuple(
            ze_device.get_command_queue_group_properties(handle)
        )
        self._queue_indices = itertools.count()
        self.sub_devices: tuple[Device, ...] = ()
        self.compute_slices: tuple[Device, ...] = ()
        self.components = components
        self.composite: Device | None = None
        for component in components:
            component.composite = self
        if compute_slice is not None or components:
            return
        self.sub_devices = tuple(
            Device(part, place, platform, self)
            for place, part in enumerate(ze_device.get_sub_devices(handle))
        )
        queues = self._queues_that_serve()
        if not self.sub_devices and queues > 1:
            self.compute_slices = tuple(
                Device(handle, place, platform, self, place) for place in range(queues)
            )

    __reduce_ex__ = not_copied("Send its path or uuid, and look it up there.")

    def __repr__(self) -> str:
        return f"Device({self.path}, {self.name!r}, {self.total_memory} bytes)"

    @property
    def path(self) -> str:
        """The indexes from the root device down, such as "0.1", or "0.s1" for a compute slice."""
        own = f"s{self.slice}" if self.slice is not None else str(self.index)
        return own if self.parent is None else f"{self.parent.path}.{own}"

    @property
    def root(self) -> Device:
        """The root device that it belongs to, maybe itself."""
        return self if self.parent is None else self.parent.root

    @property
    def native_value(self) -> int:
        """The native handle as a number, equal for devices that share their memory."""
        return handle_value(self.handle)

    @property
    def partition(self) -> DevicePartition | None:
        """How the parent was divided into this and others; None for a root device."""
        if self.parent is None:
            return None
        if self.slice is not None:
            return DevicePartition.BY_CSLICE
        return DevicePartition.BY_AFFINITY_DOMAIN

    # -- what it is --------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The driver's name for the device."""
        return self.properties.name

    @property
    def vendor(self) -> str:
        """Who made it. Level Zero has only the vendor's number on the PCI bus."""
        number = self.properties.vendor_id
        return _VENDORS.get(number, f"vendor {number:#06x}")

    @property
    def uuid(self) -> bytes:
        """The 16 bytes that identify the device; a compute slice has those of its parent."""
        return self.properties.uuid

    @cached_property
    def pci_address(self) -> PciAddress | None:
        """Where it is on its bus; None if the driver cannot tell."""
        return ze_properties.get_pci_address(self.handle)

    @cached_property
    def ip_version(self) -> int | None:
        """The version of its design, as the vendor counts; None if the driver cannot tell."""
        if ze_properties.IP_VERSION_EXTENSION not in self.platform.extensions:
            return None
        return ze_properties.get_ip_version(self.handle)

    @cached_property
    def compute(self) -> ComputeProperties:
        """Limits of kernels."""
        return ze_device.get_compute_properties(self.handle)

    @cached_property
    def module(self) -> ModuleProperties:
        """What kernels may contain."""
        return ze_properties.get_module_properties(self.handle)

    @cached_property
    def cache_sizes(self) -> tuple[int, ...]:
        """The sizes of its caches."""
        return tuple(ze_properties.get_cache_sizes(self.handle))

    @property
    def compute_units(self) -> int:
        """How many execution units it has; a compute slice has its share."""
        units = self.properties
        count = units.num_eus_per_subslice * units.num_subslices_per_slice * units.num_slices
        if self.slice is None or self.parent is None:
            return count
        return count // len(self.parent.compute_slices)

    # -- memory ------------------------------------------------------------------------------------

    @property
    def total_memory(self) -> int:
        """Bytes of all the device's memories together."""
        return sum(memory.total_size for memory in self.memories)

    @property
    def free_memory(self) -> int | None:
        """Bytes that can be allocated at this moment; None if the driver cannot tell."""
        if ze_properties.USABLE_MEMORY_EXTENSION not in self.platform.extensions:
            return None
        return min(ze_properties.get_usable_memory(self.handle), self.total_memory)

    @property
    def max_allocation(self) -> int:
        """The largest single allocation, in bytes."""
        return self.properties.max_mem_alloc_size

    @cached_property
    def memory_access(self) -> MemoryAccessProperties:
        """What the device may do with each kind of memory."""
        return ze_device.get_memory_access_properties(self.handle)

    def can_access_peer(self, peer: Device) -> bool:
        """Whether commands of this device can use device memory of another one."""
        if peer.native_value == self.native_value:
            return True
        return peer.platform is self.platform and ze_device.can_access_peer(
            self.handle, peer.handle
        )

    def has_peer_atomics(self, peer: Device) -> bool:
        """Whether atomic operations work on device memory of another one."""
        return self.can_access_peer(peer) and bool(
            ze_properties.get_peer_flags(self.handle, peer.handle) & PeerFlag.ATOMICS
        )

    # -- time --------------------------------------------------------------------------------------

    @cached_property
    def clock(self) -> DeviceClock:
        """The timer that time stamps come from."""
        return DeviceClock(
            self.handle,
            frequency=ze_properties.get_timer_frequency(self.handle),
            valid_bits=self.properties.timestamp_valid_bits,
            kernel_valid_bits=self.properties.kernel_timestamp_valid_bits,
        )

    # -- queues ------------------------------------------------------------------------------------

    @cached_property
    def queue_ordinal(self) -> int:
        """The number of the first queue group that computes and copies, which our queues use.

        Raises
        ------
        UnsupportedFeatureError
            If the device has no such group.
        """
        for ordinal, group in enumerate(self.queue_groups):
            if group.flags & _NEEDED == _NEEDED and group.num_queues:
                return ordinal
        raise UnsupportedFeatureError(
            f"The device {self.name!r} has no queue group that both computes and copies, among "
            f"{len(self.queue_groups)} groups; enqueue allocations need one."
        )

    @property
    def compute_queues(self) -> int:
        """How many native queues our queues can choose among; one for a compute slice."""
        return 1 if self.slice is not None else self._queues_that_serve()

    @property
    def max_fill_pattern(self) -> int:
        """The longest pattern, in bytes, that the device fills memory with by itself."""
        return self.queue_groups[self.queue_ordinal].max_memory_fill_pattern_size

    @property
    def supports_async_alloc(self) -> bool:
        """Whether enqueued allocations and frees, and the pools they use, work on the device."""
        return bool(self.memory_access.device & MemoryAccessCapFlag.RW) and (
            self._queues_that_serve() > 0
        )

    def next_queue_index(self) -> int:
        """The number, in its group, of the queue that the next list should use: they take turns."""
        if self.slice is not None:
            return self.slice
        return next(self._queue_indices) % self.queue_groups[self.queue_ordinal].num_queues

    def _queues_that_serve(self) -> int:
        for group in self.queue_groups:
            if group.flags & _NEEDED == _NEEDED and group.num_queues:
                return group.num_queues
        return 0


def with_parts(devices: Iterable[Device]) -> tuple[Device, ...]:
    """Devices, and behind them their sub-devices that are not among them; no compute slices."""
    found = list(devices)
    for device in found:
        found += [part for part in device.sub_devices if part not in found]
    return tuple(found)


def memory_position(devices: Sequence[Device], device: Device) -> int:
    """The place of the first device with the same memory, and so the same native handle."""
    wanted = device.native_value
    return next(place for place, each in enumerate(devices) if each.native_value == wanted)


def distinct_handles(devices: Iterable[Device]) -> list[DeviceHandle]:
    """The native handles of devices, each once, in order."""
    return list({each.native_value: each.handle for each in devices}.values())
