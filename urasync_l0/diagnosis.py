# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What this machine has for the package, what is missing, and what to install.

`diagnose` looks; `Diagnosis.findings` says what it means. ``python -m urasync_l0 doctor`` shows it.
"""

from __future__ import annotations

import grp
import os
import platform
import pwd
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Literal, NamedTuple

from urasync_l0.adapter import adapter_names
from urasync_l0.driver_report import DeviceReport, DriverReport, examine_driver
from urasync_l0.pool.structure import IS_COMPILED
from urasync_l0.result import UrError
from urasync_l0.ur_library import library_path
from urasync_l0.version import __version__
from urasync_l0.ze.loader import DRIVER_VARIABLE, DriverName

PREFIXES = ("URASYNC_L0_", "ZE_", "ZET_", "ZES_", "UR_", "NEO_", "ONEAPI_DEVICE_SELECTOR")
"""Of the environment variables that say how Level Zero, its drivers and this package behave."""

DRIVERS: tuple[DriverName, ...] = ("system", "software")

_NODES = Path("/dev/dri")


class Verdict(IntEnum):
    """What can be done here; the exit status of the command."""

    GPU = 0
    """A device of the system's driver works."""
    SOFTWARE_ONLY = 1
    """Only the software driver works."""
    NOTHING = 3
    """No driver works."""


class Node(NamedTuple):
    """A device node of a GPU, and whether this user may open it. ``group`` may be just a number."""

    path: str
    group: str
    is_open: bool


class Finding(NamedTuple):
    """Something to know: ``remedy`` says what to do, if there is anything to do."""

    level: Literal["ok", "note", "problem"]
    text: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was found.

    Attributes
    ----------
    version
        The package's version.
    python
        The interpreter's version, and where it is.
    system
        The operating system, with its processor.
    pool_core
        "compiled" or "python": which form of the pool core is in use.
    user
        Who looked.
    groups
        The groups of that user.
    nodes
        The device nodes of GPUs.
    drivers
        The system's driver and the software driver, as far as they were looked at.
    ur_libraries
        The UR adapter library of each adapter; None where it is not there.
    environment
        The variables that matter, as they are set.
    """

    version: str
    python: str
    system: str
    pool_core: str
    user: str
    groups: tuple[str, ...]
    nodes: tuple[Node, ...]
    drivers: tuple[DriverReport, ...]
    ur_libraries: Mapping[str, str | None]
    environment: Mapping[str, str]

    @property
    def verdict(self) -> Verdict:
        """What can be done here, with the drivers that were looked at."""
        working = {driver.name for driver in self.drivers if driver.adapters}
        if "system" in working:
            return Verdict.GPU
        return Verdict.SOFTWARE_ONLY if working else Verdict.NOTHING

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What it means, the worst first."""
        order = ("problem", "note", "ok")
        return tuple(sorted(self._findings(), key=lambda finding: order.index(finding.level)))

    def _findings(self) -> Iterator[Finding]:
        chosen = self.environment.get(DRIVER_VARIABLE)
        if chosen is not None and chosen not in DRIVERS:
            yield Finding(
                "problem",
                f"{DRIVER_VARIABLE} is {chosen!r}, and there is none such: contexts fail.",
                f"Set it to {' or '.join(DRIVERS)}, or unset it.",
            )
        for driver in self.drivers:
            yield from self._about(driver)
            for place in driver.platforms:
                for device in place.devices:
                    yield from _about_device(device)
        for name in (name for name, path in self.ur_libraries.items() if path is None):
            yield Finding(
                "problem",
                f"The UR adapter library of {name} is missing.",
                "Install the package again.",
            )
        if self.pool_core == "python":
            yield Finding(
                "note",
                "The pool core runs in Python, which is slower than its form in C.",
                "Unset URASYNC_L0_POOL, or install the package again with a C compiler "
                "(on Debian: apt-get install gcc python3-dev).",
            )

    def _about(self, driver: DriverReport) -> Iterator[Finding]:
        is_software = driver.name == "software"
        what = "The software driver" if is_software else "The system's driver"
        closed = [] if is_software else [node for node in self.nodes if not node.is_open]
        for node in closed:
            yield Finding(
                "note" if driver.adapters else "problem",
                f"{self.user} may not open {node.path}, which belongs to the group {node.group}.",
                f"usermod -aG {node.group} {self.user}, and log in again.",
            )
        if driver.adapters:
            yield Finding("ok", f"{what} works, with {_listed(driver.adapters)}.")
        elif driver.error is None:
            yield Finding("problem", f"{what} is there, and no adapter works on its devices.")
        elif is_software or driver.error != "DriverNotFoundError":
            yield Finding("problem", f"{what} cannot be used. {driver.problem}", _remedy(driver))
        elif not self.nodes:
            yield Finding(
                "problem",
                f"No GPU is visible: there is no {_NODES}/renderD*.",
                "With a GPU in the machine, load its kernel driver (i915 or xe); in a container, "
                "pass the device in (docker run --device /dev/dri).",
            )
        elif not closed:
            yield Finding(
                "problem",
                "A GPU is visible, but the Level Zero loader found no driver that works with it.",
                "Install the driver; on Debian 13 or newer: apt-get install libze-intel-gpu1. "
                "Debian 12 has none: Intel's repositories have that, or intel-level-zero-gpu.",
            )


def _about_device(device: DeviceReport) -> Iterator[Finding]:
    for trial in device.trials:
        if trial.problem is not None:
            yield Finding(
                "note" if any(each.problem is None for each in device.trials) else "problem",
                f"The {trial.adapter} adapter does not work on {device.name}: {trial.problem}",
            )


def _listed(names: Sequence[str]) -> str:
    return f"the adapters {' and '.join(names)}" if len(names) > 1 else f"the adapter {names[0]}"


def _remedy(driver: DriverReport) -> str:
    if driver.error in ("LoaderNotFoundError", "LoaderTooOldError"):
        return "On Debian: apt-get install libze1"
    if driver.error == "Crash":
        return "ZE_ENABLE_LOADER_DEBUG_TRACE=1 shows what the loader does before that."
    return ""


# -- looking ---------------------------------------------------------------------------------------


def diagnose(drivers: Iterable[DriverName] = DRIVERS) -> Diagnosis:
    """Look at this machine. Each driver is tried in a process of its own; takes some seconds."""
    return Diagnosis(
        version=__version__,
        python=f"{sys.version.split()[0]} at {sys.executable}",
        system=f"{platform.freedesktop_os_release().get('PRETTY_NAME', sys.platform)}, "
        f"{platform.machine()}",
        pool_core="compiled" if IS_COMPILED else "python",
        user=_name_of_user(),
        groups=tuple(sorted(map(_name_of_group, {os.getegid(), *os.getgroups()}))),
        nodes=tuple(_nodes()),
        drivers=tuple(examine_driver(name) for name in drivers),
        ur_libraries={name: _ur_library(name) for name in adapter_names()},
        environment={
            name: value for name, value in sorted(os.environ.items()) if name.startswith(PREFIXES)
        },
    )


def _nodes() -> Iterator[Node]:
    for path in sorted(_NODES.glob("renderD*")):
        group = _name_of_group(path.stat().st_gid)
        yield Node(str(path), group, os.access(path, os.R_OK | os.W_OK))


def _name_of_group(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


def _name_of_user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def _ur_library(adapter: str) -> str | None:
    try:
        return str(library_path(adapter))
    except UrError:
        return None
