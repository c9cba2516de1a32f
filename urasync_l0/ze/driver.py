# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Drivers: their versions and extensions."""

from urasync_l0.ze import loader
from urasync_l0.ze._extension import ffi, lib
from urasync_l0.ze.handles import DriverHandle
from urasync_l0.ze.result import ZeResult, check


def get_drivers() -> list[DriverHandle]:
    """The drivers that the loader found, at least one; initialises on first use."""
    return list(loader.drivers())


def get_api_version(driver: DriverHandle) -> int:
    """The specification that the driver follows: major number << 16 | minor number."""
    version = ffi.new("ze_api_version_t *")
    check(lib.zeDriverGetApiVersion(driver, version), "zeDriverGetApiVersion")
    return int(version[0])


def get_driver_version(driver: DriverHandle) -> int:
    """The driver's own version number, whose layout is the vendor's."""
    properties = ffi.new("ze_driver_properties_t *")
    properties.stype = lib.ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES
    check(lib.zeDriverGetProperties(driver, properties), "zeDriverGetProperties")
    return int(properties.driverVersion)


def get_extension_properties(driver: DriverHandle) -> dict[str, int]:
    """The driver's extensions by name, each with its version."""
    count = ffi.new("uint32_t *")
    entry = "zeDriverGetExtensionProperties"
    check(lib.zeDriverGetExtensionProperties(driver, count, ffi.NULL), entry)
    if not count[0]:
        return {}
    rows = ffi.new("ze_driver_extension_properties_t[]", count[0])
    check(lib.zeDriverGetExtensionProperties(driver, count, rows), entry)
    return {
        bytes(ffi.string(row.name)).decode(errors="replace"): int(row.version)
        for row in rows[0 : count[0]]
    }


def find_function(driver: DriverHandle, name: str) -> int | None:
    """The address of an extension function, or None when the driver has none of that name."""
    address = ffi.new("void **")
    code = lib.zeDriverGetExtensionFunctionAddress(driver, name.encode(), address)
    if code in (ZeResult.ERROR_INVALID_ARGUMENT, ZeResult.ERROR_UNSUPPORTED_FEATURE):
        return None
    check(code, "zeDriverGetExtensionFunctionAddress", f"Asked for {name}")
    return int(ffi.cast("uintptr_t", address[0])) or None
