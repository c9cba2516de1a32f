# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A platform: one Level Zero driver with its version, extensions and devices."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from urasync_l0.device import Device
from urasync_l0.not_copied import not_copied
from urasync_l0.result import DeviceNotFoundError
from urasync_l0.wording import counted
from urasync_l0.ze import device as ze_device
from urasync_l0.ze import driver as ze_driver
from urasync_l0.ze.handles import DeviceHandle, DriverHandle, handle_value


class Platform:
    """A Level Zero driver. Immutable; any thread may use it.

    Attributes
    ----------
    api_version
        Major and minor number of the specification that the driver follows.
    driver_version
        The driver's own version number, whose layout is the vendor's.
    extensions
        The driver's extensions by name, each with its version.
    devices
        Its root devices.
    composites
        With Level Zero's combined hierarchy: the devices that root devices are components of.
    """

    def __init__(self, handle: DriverHandle) -> None:
        self.handle = handle
        version = ze_driver.get_api_version(handle)
        self.api_version = (version >> 16, version & 0xFFFF)
        self.driver_version = ze_driver.get_driver_version(handle)
        self.extensions = ze_driver.get_extension_properties(handle)
        self.devices = tuple(
            Device(device, index, self)
            for index, device in enumerate(ze_device.get_devices(handle))
        )
        self.composites = tuple(self._composites())

    __reduce_ex__ = not_copied("Every process finds its own.")

    def __repr__(self) -> str:
        major, minor = self.api_version
        return f"Platform(Level Zero {major}.{minor}, {counted(len(self.devices), 'device')})"

    @property
    def version_text(self) -> str:
        """The driver's major, minor and build numbers, with dots between."""
        number = self.driver_version
        return f"{number >> 24}.{number >> 16 & 0xFF}.{number & 0xFFFF}"

    def all_devices(self) -> Iterator[Device]:
        """Every device with a native handle of its own: compute slices have their parent's."""
        for device in (*self.devices, *self.composites):
            yield device
            yield from device.sub_devices

    def _composites(self) -> Iterator[Device]:
        components: dict[int, list[Device]] = {}
        handles: dict[int, DeviceHandle] = {}
        for device in self.devices:
            handle = ze_device.get_root_device(device.handle)
            if handle is not None:
                handles[handle_value(handle)] = handle
                components.setdefault(handle_value(handle), []).append(device)
        for index, (value, handle) in enumerate(handles.items()):
            yield Device(handle, index, self, components=tuple(components[value]))

    def find_device(self, native_handle: int) -> Device | None:
        """The device with a native handle; None if no device of the platform has it."""
        for device in self.all_devices():
            if handle_value(device.handle) == native_handle:
                return device
        return None


_lock = threading.Lock()
_found: list[Platform] = []


def platforms() -> tuple[Platform, ...]:
    """Every driver that has a device, at least one; initialises Level Zero on first use.

    Raises
    ------
    DriverNotFoundError, LoaderNotFoundError, LoaderTooOldError
        If Level Zero cannot be used at all.
    DeviceNotFoundError
        If no driver has a device.
    """
    with _lock:
        if not _found:
            _found.extend(_find())
        return tuple(_found)


def default_platform() -> Platform:
    """The first driver that has a device; raises what `platforms` raises."""
    return platforms()[0]


def _find() -> list[Platform]:
    found: list[Platform] = []
    nothing: DeviceNotFoundError | None = None
    for handle in ze_driver.get_drivers():
        try:
            found.append(Platform(handle))
        except DeviceNotFoundError as error:
            nothing = error
    if not found:
        assert nothing is not None  # get_drivers gives at least one
        raise nothing
    return found
