# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What one Level Zero driver offers here: its devices, their features, and whether they work.

A process has one driver, and a driver may crash: `examine_driver` looks from another process.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from array import array
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from urasync_l0.adapter import adapter_names
from urasync_l0.context import Context
from urasync_l0.device import Device
from urasync_l0.enums import NO_QUEUE_FLAGS, QueueFlag
from urasync_l0.platform import platforms
from urasync_l0.result import UrError
from urasync_l0.usm_memory import ExpandingSegments
from urasync_l0.watch_settings import WATCHING
from urasync_l0.ze import loader
from urasync_l0.ze.loader import DriverName

TRIAL_BYTES = 1 << 16
TRIAL_NS = 10_000_000_000
"""How long a trial may take, in nanoseconds."""

SMALLEST_PROGRAM = array(
    "I",
    [
        *(0x07230203, 0x10000, 0, 5, 0),  # version 1.0, numbers below 5
        *(2 << 16 | 17, 4, 2 << 16 | 17, 6),  # capabilities: addresses, kernels
        *(3 << 16 | 14, 2, 2),  # memory as OpenCL has it, with 64 bits
        *(4 << 16 | 15, 6, 3, ord("k")),  # an entry point: the kernel "k"
        *(2 << 16 | 19, 1, 3 << 16 | 33, 2, 1),  # void, and a function without arguments
        *(5 << 16 | 54, 1, 3, 0, 2, 2 << 16 | 248, 4, 1 << 16 | 253, 1 << 16 | 56),
    ],
).tobytes()
"""A kernel in SPIR-V that does nothing."""

_CHILD_SECONDS = 120
_ANSWER = "report: "
_MOST_LINES = 5  # of what the driver says


@dataclass(frozen=True, slots=True)
class Feature:
    """Something that a device may have. ``detail`` says which, or why not."""

    name: str
    is_there: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    """An adapter tried on a device: allocate, fill, copy to the host, compare, free.

    ``problem`` is None if all went well.
    """

    adapter: str
    problem: str | None


@dataclass(frozen=True, slots=True)
class DeviceReport:
    """A root device. Memory in bytes; ``free_memory`` is None if the driver cannot tell."""

    name: str
    kind: str
    total_memory: int
    free_memory: int | None
    features: tuple[Feature, ...]
    trials: tuple[Trial, ...]


@dataclass(frozen=True, slots=True)
class PlatformReport:
    """A driver as it describes itself: the Level Zero that it follows, and its own version."""

    api_version: str
    driver_version: str
    devices: tuple[DeviceReport, ...]


@dataclass(frozen=True, slots=True)
class DriverReport:
    """What the process sees that chooses a driver by this name.

    Attributes
    ----------
    name
        "system" or "software".
    error
        The class of what stopped the look; None if nothing did.
    problem
        Its text.
    loader
        The loader's file; None if it was not opened.
    loader_version
        Its version; None if it cannot tell.
    libraries
        The files of the drivers that it loaded.
    platforms
        Those that have a device.
    """

    name: str
    error: str | None = None
    problem: str | None = None
    loader: str | None = None
    loader_version: str | None = None
    libraries: tuple[str, ...] = ()
    platforms: tuple[PlatformReport, ...] = ()

    @property
    def adapters(self) -> tuple[str, ...]:
        """The adapters that work on some device."""
        works = {
            trial.adapter
            for platform in self.platforms
            for device in platform.devices
            for trial in device.trials
            if trial.problem is None
        }
        return tuple(sorted(works))


def examine_driver(name: DriverName) -> DriverReport:
    """Look at a driver from another process, for two minutes at most."""
    command = [sys.executable, "-m", __spec__.name, name]
    try:
        run = subprocess.run(
            command,
            env={key: value for key, value in os.environ.items() if key not in WATCHING},
            capture_output=True,
            text=True,
            check=False,
            timeout=_CHILD_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return DriverReport(name, "TimeoutExpired", f"No answer within {_CHILD_SECONDS} seconds.")
    for line in run.stdout.splitlines():
        if line.startswith(_ANSWER):
            report = _from_data(json.loads(line.removeprefix(_ANSWER)))
            return report if report.problem is None else _with_what_was_said(report, run.stderr)
    ended = f"The process that looked ended with status {run.returncode}"
    if run.returncode < 0:
        ended = f"The process that looked was ended by {signal.Signals(-run.returncode).name}"
    said = run.stderr.strip().splitlines()
    return DriverReport(name, "Crash", f"{ended}{': ' + said[-1] if said else ''}.")


def _with_what_was_said(report: DriverReport, errors: str) -> DriverReport:
    """Why a driver does not load, it says itself, if it does, on the error output."""
    lines = errors.strip().splitlines()[-_MOST_LINES:]
    return replace(report, problem=" ".join([f"{report.problem}", *lines]))


def _from_data(data: dict[str, Any]) -> DriverReport:
    """A report from the plain data that the other process printed."""

    def device(each: dict[str, Any]) -> DeviceReport:
        features = tuple(Feature(**feature) for feature in each["features"])
        trials = tuple(Trial(**trial) for trial in each["trials"])
        return DeviceReport(**each | {"features": features, "trials": trials})

    found = tuple(
        PlatformReport(**each | {"devices": tuple(map(device, each["devices"]))})
        for each in data["platforms"]
    )
    return DriverReport(**data | {"libraries": tuple(data["libraries"]), "platforms": found})


# -- in the process that looks ---------------------------------------------------------------------


def report_driver(name: DriverName) -> DriverReport:
    """Look at a driver; this process uses it from now on."""
    error = problem = None
    found: tuple[PlatformReport, ...] = ()
    try:
        loader.choose_driver(name)
        found = tuple(
            PlatformReport(
                ".".join(map(str, platform.api_version)),
                platform.version_text,
                tuple(_report_device(device) for device in platform.devices),
            )
            for platform in platforms()
        )
    except UrError as caught:
        error, problem = type(caught).__name__, caught.message
    files = _loaded_files()
    return DriverReport(
        name,
        error,
        problem,
        next((file for file in files if "loader" in os.path.basename(file)), None),
        loader.loader_version(),
        tuple(file for file in files if not _is_of_the_loader(file)),
        found,
    )


def _report_device(device: Device) -> DeviceReport:
    return DeviceReport(
        device.name,
        device.properties.type.name,
        device.total_memory,
        device.free_memory,
        tuple(_features(device)),
        tuple(Trial(name, problem_of_trial(name, device)) for name in adapter_names()),
    )


def _features(device: Device) -> list[Feature]:
    profiling = QueueFlag.PROFILING_ENABLE
    can_wait = loader.has("zeCommandListHostSynchronize")
    parts = device.sub_devices or device.compute_slices
    kind = "sub-devices" if device.sub_devices else "compute slices"
    return [
        _feature("in-order lists", lambda: _make_queue("legacy", device)),
        _feature("counter-based events", lambda: _make_queue("v2", device)),
        _feature("time stamps", lambda: _make_queue("legacy", device, profiling)),
        _virtual_memory(device),
        Feature("waits for lists", can_wait, "" if can_wait else "an older loader; events do it"),
        _kernels(device),
        Feature("parts", len(parts) > 0, f"{len(parts)} {kind}" if parts else ""),
    ]


def _virtual_memory(device: Device) -> Feature:
    def is_expanding(setting: ExpandingSegments) -> bool:
        with Context("legacy", devices=[device], expanding_segments=setting) as context:
            return context.has_expanding_segments()

    name = "virtual memory"
    try:
        if is_expanding("auto"):
            return Feature(name, True)
        if is_expanding("on"):
            return Feature(name, True, "off by default: the driver does not know it when asked")
    except UrError as error:
        return Feature(name, False, error.message)
    return Feature(name, False, "pools use separate allocations")


def _kernels(device: Device) -> Feature:
    """By trying, for a driver names the SPIR-V that it takes where it lacks the compiler for it."""
    spirv = device.module.spirv_version
    if not spirv:
        return Feature("kernels", False)

    def compile_one() -> None:
        with Context("legacy", devices=[device], expanding_segments="off") as context:
            context.create_program(SMALLEST_PROGRAM).kernel("k")

    problem = _problem_of(compile_one)
    version = f"SPIR-V {spirv >> 16}.{spirv & 0xFFFF}"
    return Feature("kernels", problem is None, version if problem is None else problem)


def _feature(name: str, attempt: Callable[[], None]) -> Feature:
    problem = _problem_of(attempt)
    return Feature(name, problem is None, problem or "")


def _problem_of(attempt: Callable[[], None]) -> str | None:
    try:
        attempt()
    except UrError as error:
        return error.message
    return None


def _make_queue(adapter: str, device: Device, flags: QueueFlag = NO_QUEUE_FLAGS) -> None:
    with Context(adapter, devices=[device], expanding_segments="off") as context:
        context.create_queue(flags=flags)


def problem_of_trial(adapter: str, device: Device) -> str | None:
    """What goes wrong where an adapter is tried on a device; None if nothing does."""
    return _problem_of(partial(_try, adapter, device))


def _try(adapter: str, device: Device) -> None:
    context = Context(adapter, devices=[device])
    queue = context.create_queue()
    source, target = queue.alloc_device(TRIAL_BYTES), bytearray(TRIAL_BYTES)
    queue.fill(source, b"\x5a\xa5")
    queue.memcpy(target, source)
    queue.free(source)
    if not context.close(TRIAL_NS):
        raise UrError(f"A copy was not complete within {TRIAL_NS // 10**9} seconds.")
    if target != b"\x5a\xa5" * (TRIAL_BYTES // 2):
        raise UrError("A copy was complete, but the bytes are wrong.")


def _loaded_files() -> list[str]:
    """The files of Level Zero that this process has loaded."""
    try:
        lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    paths = dict.fromkeys(line.split(maxsplit=5)[-1] for line in lines if "/" in line)
    named = os.path.basename(os.environ.get(loader.LOADER_VARIABLE) or loader.DEFAULT_LOADER)
    return [
        path
        for path in paths
        if os.path.basename(path).startswith(("libze_", named.split(".so")[0]))
    ]


def _is_of_the_loader(file: str) -> bool:
    name = os.path.basename(file)
    return any(word in name for word in ("loader", "layer"))


if __name__ == "__main__":
    answer = report_driver(sys.argv[1])  # type: ignore[arg-type]
    print(_ANSWER + json.dumps(asdict(answer)), flush=True)  # noqa: T201
    os._exit(0)  # what a trial left running is not waited for
