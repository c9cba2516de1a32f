# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the pool core's segments come from: USM allocations, and mapped pages.

Implements the core's `DriverMemory` and `VirtualMemory` over Level Zero, and finds out by a probe
whether a device's memory may be mapped page by page.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import Literal, cast, get_args

from urasync_l0 import loggers
from urasync_l0.device import Device, memory_position
from urasync_l0.device_loss import DeviceLoss
from urasync_l0.enums import UsmType
from urasync_l0.pool import STEP, HeapKey, HeapSource, PhysicalPages
from urasync_l0.residency import Residency
from urasync_l0.result import DeviceLostError, InvalidValueError, UrError
from urasync_l0.ze import memory as ze_memory
from urasync_l0.ze import virtual_memory as ze_virtual
from urasync_l0.ze.handles import ContextHandle, PhysicalMemHandle

HOST_INDEX = -1
"""Stands for the device in the heap key of host memory."""

ExpandingSegments = Literal["auto", "on", "off"]

EXPANDING_SEGMENTS_VARIABLE = "URASYNC_L0_EXPANDING_SEGMENTS"

ALIGNMENT = 64 << 10
"""What every driver allocation is aligned to, in bytes: the largest alignment that anyone gets."""

_RANGE_FACTOR = 4
"""A reserved range is so many times the device's memory: addresses cost nothing, and room spares
the core a second range when pages move about."""


class UsmMemory:
    """Memory of one kind in whole driver allocations; sizes are bytes.

    Parameters
    ----------
    kind
        HOST, DEVICE or SHARED.
    device
        The device that the memory belongs to; None for host memory.
    maximum_allocation
        The largest allocation that the device or devices can give.
    loss
        Learns from the calls whether a device is lost.
    residency
        Where device memory is resident beside its device; None for other kinds.
    """

    def __init__(
        self,
        context: ContextHandle,
        kind: UsmType,
        device: Device | None,
        maximum_allocation: int,
        loss: DeviceLoss,
        residency: Residency | None = None,
    ) -> None:
        self.residency = residency
        self._context = context
        self._loss = loss
        self._kind = kind
        self._device = device
        self._maximum_allocation = maximum_allocation

    @property
    def maximum_allocation(self) -> int:
        """The largest size in bytes that the driver can give in one allocation."""
        return self._maximum_allocation

    def allocate(self, size: int) -> int:
        """Return the address of ``size`` new bytes."""
        loggers.MEMORY.debug("Allocate %d bytes of %s memory", size, self._kind.name)
        with self._loss:
            if self._device is None:
                return ze_memory.alloc_host(self._context, size, ALIGNMENT)
            if self._kind is UsmType.SHARED:
                return ze_memory.alloc_shared(self._context, self._device.handle, size, ALIGNMENT)
            address = ze_memory.alloc_device(self._context, self._device.handle, size, ALIGNMENT)
        if self.residency is not None:
            try:
                self.residency.enter(address, size)
            except BaseException:
                with suppress(UrError):  # what failed first matters more
                    self._free(address)
                raise
        return address

    def free(self, address: int) -> None:
        """Give an allocation back.

        The plain free, not the blocking one: the core has proved that nothing uses the memory, and
        a driver that waits for more than that would stall a trim behind an unrelated queue.
        """
        residency = self.residency
        if residency is None:
            self._free(address)
            return
        size = residency.leave(address, evict=False)
        try:
            self._free(address)
        except BaseException:
            residency.stay(address, size)
            raise

    def _free(self, address: int) -> None:
        loggers.MEMORY.debug("Free %s memory at %#x", self._kind.name, address)
        with self._loss:
            ze_memory.free(self._context, address)


class MappedMemory:
    """A device's memory, mapped in pieces of one or more pages; sizes are bytes."""

    def __init__(
        self, context: ContextHandle, device: Device, residency: Residency, loss: DeviceLoss
    ) -> None:
        self._context = context
        self._residency = residency
        self._device = device.handle
        self._loss = loss
        self._page_size = max(ze_virtual.query_page_size(context, device.handle, STEP), STEP)

    @property
    def page_size(self) -> int:
        """What every piece is a multiple of."""
        return self._page_size

    def reserve(self, size: int) -> int:
        """Reserve ``size`` bytes of addresses; no memory yet."""
        with self._loss:
            return ze_virtual.reserve(self._context, size)

    def release(self, address: int, size: int) -> None:
        """Give a reserved range back."""
        with self._loss:
            ze_virtual.free(self._context, address, size)

    def create(self, sizes: Sequence[int], created: list[PhysicalPages]) -> None:
        """Create physical memory, a piece of each size; each goes into ``created``."""
        loggers.MEMORY.debug("Create %d bytes in %d pieces of pages", sum(sizes), len(sizes))
        with self._loss:
            ze_virtual.create_physical(self._context, self._device, sizes, created)

    def destroy(self, pages: PhysicalPages) -> None:
        """Give physical memory back."""
        loggers.MEMORY.debug("Destroy pages")
        with self._loss:
            ze_virtual.destroy_physical(self._context, cast(PhysicalMemHandle, pages))

    def map(
        self,
        address: int,
        sizes: Sequence[int],
        pages: Sequence[PhysicalPages],
        mapped: list[PhysicalPages],
    ) -> None:
        """Map pieces of these sizes, one behind the other; each goes into ``mapped``."""
        context, enter = self._context, self._residency.enter
        with self._loss:
            for size, physical in zip(sizes, pages, strict=True):
                try:
                    handle = cast(PhysicalMemHandle, physical)
                    ze_virtual.map_memory(context, address, size, handle)
                    enter(address, size)
                except BaseException:
                    # Intel's driver keeps a mapping that it then could not make resident: it must
                    # go before the memory does. What failed first matters more.
                    with suppress(UrError):
                        ze_virtual.unmap(context, address, size)
                    raise
                mapped.append(physical)
                address += size

    def unmap(self, address: int, size: int) -> None:
        """Unmap what was mapped in one call."""
        self._residency.leave(address, evict=True)
        try:
            with self._loss:
                ze_virtual.unmap(self._context, address, size)
        except BaseException:
            self._residency.stay(address, size)
            raise


def choose_expanding_segments(setting: str | None) -> ExpandingSegments:
    """The setting to use: the argument, else URASYNC_L0_EXPANDING_SEGMENTS, else "auto".

    Raises
    ------
    InvalidValueError
        If it is none of "auto", "on" and "off".
    """
    origin = "expanding_segments"
    if setting is None:
        setting = os.environ.get(EXPANDING_SEGMENTS_VARIABLE, "auto")
        origin = EXPANDING_SEGMENTS_VARIABLE
    for known in get_args(ExpandingSegments):
        if setting == known:
            return cast(ExpandingSegments, known)
    raise InvalidValueError(f"{origin} is {setting!r}; it must be 'auto', 'on' or 'off'.")


def heap_sources(
    context: ContextHandle,
    devices: Sequence[Device],
    expanding: ExpandingSegments,
    loss: DeviceLoss,
) -> dict[HeapKey, HeapSource]:
    """Where the memory of each kind and each of the context's devices comes from."""
    sources: dict[HeapKey, HeapSource] = {}
    for position, device in enumerate(devices):
        if memory_position(devices, device) != position:
            continue  # the same memory again
        largest = device.max_allocation
        residency = Residency(context, loss)
        virtual = probe(context, device, expanding, residency, loss)
        sources[UsmType.DEVICE, position] = HeapSource(
            UsmMemory(context, UsmType.DEVICE, device, largest, loss, residency),
            virtual,
            0 if virtual is None else _range_size(device, virtual.page_size),
        )
        sources[UsmType.SHARED, position] = HeapSource(
            UsmMemory(context, UsmType.SHARED, device, largest, loss)
        )
    smallest = min(device.max_allocation for device in devices)
    host = UsmMemory(context, UsmType.HOST, None, smallest, loss)
    sources[UsmType.HOST, HOST_INDEX] = HeapSource(host)
    return sources


def residency_of(source: HeapSource) -> Residency:
    """Where the memory of a device's source, which `heap_sources` made, is resident."""
    residency = cast(UsmMemory, source.memory).residency
    assert residency is not None
    return residency


def probe(
    context: ContextHandle,
    device: Device,
    expanding: ExpandingSegments,
    residency: Residency,
    loss: DeviceLoss,
) -> MappedMemory | None:
    """The device's mapped memory, or None when the setting or the driver rules it out.

    Maps one page and takes it away again. "on" is content when that works; "auto" also wants the
    driver to know the page as device memory, because other libraries refuse it otherwise.
    """
    if expanding == "off":
        return None
    try:
        with ExitStack() as undo:
            memory = MappedMemory(context, device, residency, loss)
            page = memory.page_size
            address = memory.reserve(page)
            undo.callback(memory.release, address, page)
            created: list[PhysicalPages] = []
            memory.create([page], created)
            undo.callback(memory.destroy, created[0])
            memory.map(address, [page], created, [])
            undo.callback(memory.unmap, address, page)
            kind = ze_memory.get_alloc_properties(context, address).type
    except DeviceLostError:
        raise
    except UrError:
        return None
    if expanding == "auto" and kind is not ze_memory.MemoryType.DEVICE:
        return None
    return memory


def _range_size(device: Device, page: int) -> int:
    return -(-device.total_memory * _RANGE_FACTOR // page) * page
