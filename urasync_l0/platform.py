# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A platform: one Level Zero driver with its version, extensions and devices."""

from __future__ import annotations

import threading

from urasync_l0.device import Device
from urasync_l0.result import DeviceNotFoundError
from urasync_l0.ze import device as ze_device
from urasync_l0.ze import driver as ze_driver
from urasync_l0.ze.handles import DriverHandle


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
    """

    def __init__(self, handle: DriverHandle) -> None:
        self.handle = handle
        version = ze_driver.get_api_version(handle)
        self.api_version = (version >> 16, version & 0xFFFF)
        self.driver_version = ze_driver.get_driver_version(handle)
        self.extensions = ze_driver.get_extension_properties(handle)
        self.devices = tuple(
            Device(device, index) for index, device in enumerate(ze_device.get_devices(handle))
        )

    def __repr__(self) -> str:
        major, minor = self.api_version
        return f"Platform(Level Zero {major}.{minor}, {len(self.devices)} devices)"


_lock = threading.Lock()
_default: list[Platform] = []


def default_platform() -> Platform:
    """The first driver that has a device; initialises Level Zero on first use.

    Raises
    ------
    DriverNotFoundError, LoaderNotFoundError, LoaderTooOldError
        If Level Zero cannot be used at all.
    DeviceNotFoundError
        If no driver has a device.
    """
    with _lock:
        if not _default:
            _default.append(_find())
        return _default[0]


def _find() -> Platform:
    nothing: DeviceNotFoundError | None = None
    for handle in ze_driver.get_drivers():
        try:
            return Platform(handle)
        except DeviceNotFoundError as error:
            nothing = error
    assert nothing is not None  # get_drivers gives at least one
    raise nothing
