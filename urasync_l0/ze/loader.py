# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Level Zero loader: which driver it is to load, opening it, and the first initialisation.

The choice of driver is made once in a process, before the first initialisation, because the loader
reads its environment then and never again. All functions may be called from any thread.
"""

import os
import threading
from dataclasses import dataclass
from typing import Literal

from urasync_l0 import loggers
from urasync_l0.result import (
    DriverNotFoundError,
    InvalidOperationError,
    InvalidValueError,
    LoaderNotFoundError,
    LoaderTooOldError,
    UninitializedError,
)
from urasync_l0.ze._extension import ffi, lib
from urasync_l0.ze.entry_table import (
    call_counts,
    has,
    loader_version,
    required_entries,
    total_calls,
)
from urasync_l0.ze.handles import DriverHandle
from urasync_l0.ze.result import FORKED, ZeResult, check

__all__ = [
    "DriverChoice",
    "DriverName",
    "call_counts",
    "choose_driver",
    "drivers",
    "has",
    "initialise",
    "loader_version",
    "total_calls",
]

DriverName = Literal["system", "software"]

DRIVER_VARIABLE = "URASYNC_L0_DRIVER"
LOADER_VARIABLE = "URASYNC_L0_LOADER"
ALTERNATIVE_DRIVERS_VARIABLE = "ZE_ENABLE_ALT_DRIVERS"
DEFAULT_LOADER = "libze_loader.so.1"
SOFTWARE_DRIVER_FILE = "libze_urasync_software.so"


@dataclass(frozen=True, slots=True)
class DriverChoice:
    """Which driver this process uses.

    Parameters
    ----------
    name
        "system": whatever the loader finds; "software": the driver inside this package.
    loader
        The loader's file name, as given to dlopen.
    """

    name: DriverName
    loader: str


_lock = threading.Lock()
_chosen: DriverName | None = None
_initialised: DriverChoice | None = None
_drivers: tuple[DriverHandle, ...] = ()


def _renew_lock() -> None:
    global _lock
    _lock = threading.Lock()


# A fork may happen while another thread holds the lock, and nobody would release it in the child.
os.register_at_fork(after_in_child=_renew_lock)


def choose_driver(name: DriverName | None = None) -> DriverName:
    """Choose the driver of this process; must come before the first `initialise`.

    Parameters
    ----------
    name
        None keeps an earlier choice, or takes URASYNC_L0_DRIVER, or else "system"; "software" when
        a parent process has left its choice in ZE_ENABLE_ALT_DRIVERS.

    Raises
    ------
    InvalidValueError
        If the name, or the variable's value, is neither "system" nor "software".
    InvalidOperationError
        If the process has chosen another driver before, or if "system" is chosen while
        ZE_ENABLE_ALT_DRIVERS names the software driver or is the empty string, which crashes the
        loader.
    """
    with _lock:
        return _choose(name)


def _choose(name: str | None) -> DriverName:
    global _chosen
    if name is None:
        if _chosen is not None:
            return _chosen
        inherited = "software" if _names_software_driver() else "system"
        name = os.environ.get(DRIVER_VARIABLE, inherited)
        origin = f"the variable {DRIVER_VARIABLE}"
    else:
        origin = "the driver argument"
    choice: DriverName
    if name == "system":
        choice = "system"
    elif name == "software":
        choice = "software"
    else:
        raise InvalidValueError(f"There is no driver {name!r}; {origin} is 'system' or 'software'.")
    if _chosen is not None and choice != _chosen:
        raise InvalidOperationError(
            f"This process uses the {_chosen} driver and cannot change to the {choice} driver: the "
            "loader reads its settings only once. Use another process."
        )
    if choice == "system" and os.environ.get(ALTERNATIVE_DRIVERS_VARIABLE) == "":
        raise InvalidOperationError(
            f"{ALTERNATIVE_DRIVERS_VARIABLE} is set to the empty string, which crashes the Level "
            "Zero loader. Unset it, or set it to the absolute path of a driver."
        )
    if choice == "system" and _names_software_driver():
        raise InvalidOperationError(
            f"{ALTERNATIVE_DRIVERS_VARIABLE} names the software driver, but the system driver was "
            "chosen. Unset the variable, or choose 'software'."
        )
    _chosen = choice
    return choice


def _names_software_driver() -> bool:
    names = os.environ.get(ALTERNATIVE_DRIVERS_VARIABLE, "").split(",")
    return any(os.path.basename(name) == SOFTWARE_DRIVER_FILE for name in names)


def initialise() -> DriverChoice:
    """Open the loader and initialise the chosen driver; later calls return the same answer.

    Raises
    ------
    LoaderNotFoundError
        If the loader library cannot be opened.
    LoaderTooOldError
        If it lacks an entry that this package needs.
    DriverNotFoundError
        If it finds no driver that works.
    UninitializedError
        In a process forked from one that had initialised Level Zero.
    """
    global _drivers, _initialised
    if lib.urasync_in_forked_child():
        raise UninitializedError(FORKED)
    with _lock:
        if _initialised is not None:
            return _initialised
        choice = _choose(None)
        loader = os.environ.get(LOADER_VARIABLE) or DEFAULT_LOADER
        _open(loader)
        if choice == "software":
            # Imported here, so that a program on a real device never needs the software driver.
            from urasync_l0.software_driver import library_path, offer_opencl_runtime

            os.environ[ALTERNATIVE_DRIVERS_VARIABLE] = library_path()
            offer_opencl_runtime()
        _drivers = _initialise_drivers(choice)
        made = _initialised = DriverChoice(choice, loader)
    loggers.LOADER.info("%s gave %d drivers; %s was chosen", loader, len(_drivers), choice)
    return made


def drivers() -> tuple[DriverHandle, ...]:
    """The driver handles that the loader found; initialises on first use, with its errors."""
    initialise()
    return _drivers


def _open(loader: str) -> None:
    problem = lib.urasync_open_loader(os.fsencode(loader))
    if problem == ffi.NULL:
        return
    text = bytes(ffi.string(problem)).decode(errors="replace")
    missing = [entry for entry in required_entries() if not has(entry)]
    if missing and len(missing) < len(required_entries()):
        raise LoaderTooOldError(
            f"The Level Zero loader {loader} is too old: it lacks {', '.join(missing)}. Install "
            "loader 1.8 or newer (on Debian: apt-get install libze1), or name one in "
            f"{LOADER_VARIABLE}."
        )
    raise LoaderNotFoundError(
        f"The Level Zero loader could not be opened: {text}. Install it (on Debian: apt-get "
        f"install libze1), or name it in {LOADER_VARIABLE}."
    )


def _initialise_drivers(choice: DriverName) -> tuple[DriverHandle, ...]:
    count = ffi.new("uint32_t *")
    code = int(ZeResult.ERROR_UNSUPPORTED_FEATURE)
    if has("zeInitDrivers"):
        kinds = ffi.new("ze_init_driver_type_desc_t *")
        kinds.stype = lib.ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC
        kinds.flags = lib.ZE_INIT_DRIVER_TYPE_FLAG_GPU
        entry = "zeInitDrivers"
        code = lib.zeInitDrivers(count, ffi.NULL, kinds)
        if code == ZeResult.SUCCESS and count[0]:
            handles = ffi.new("ze_driver_handle_t[]", count[0])
            check(lib.zeInitDrivers(count, handles, kinds), entry)
            return tuple(handles[0 : count[0]])
    if code == ZeResult.ERROR_UNSUPPORTED_FEATURE:  # an older loader, or an older driver behind it
        entry = "zeInit"
        code = lib.zeInit(lib.ZE_INIT_FLAG_GPU_ONLY)
        if code == ZeResult.SUCCESS:
            entry = "zeDriverGet"
            code = lib.zeDriverGet(count, ffi.NULL)
        if code == ZeResult.SUCCESS and count[0]:
            handles = ffi.new("ze_driver_handle_t[]", count[0])
            check(lib.zeDriverGet(count, handles), entry)
            return tuple(handles[0 : count[0]])
    if code in (ZeResult.SUCCESS, ZeResult.ERROR_UNINITIALIZED):
        raise DriverNotFoundError(_no_driver(choice), function=entry)
    check(code, entry, f"The {choice} driver could not be initialised")
    raise AssertionError("unreachable: check raises for every code but success")


def _no_driver(choice: DriverName) -> str:
    alternative = os.environ.get(ALTERNATIVE_DRIVERS_VARIABLE)
    if choice == "software":
        return (
            f"The Level Zero loader did not accept the software driver {alternative}. If that "
            "named a URASYNC_L0_SOFTWARE_ setting on stderr, correct it; otherwise rebuild the "
            "package (pip install .). ZE_ENABLE_LOADER_DEBUG_TRACE=1 shows what the loader does."
        )
    where = f" ({ALTERNATIVE_DRIVERS_VARIABLE} names {alternative})" if alternative else ""
    return (
        f"The Level Zero loader found no GPU driver that works{where}. Install the driver of your "
        "GPU (on Debian 13 or newer: libze-intel-gpu1) and check that this user may open "
        f"/dev/dri/renderD*; or use the software driver: {DRIVER_VARIABLE}=software, or "
        "driver='software'."
    )
