# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machines that the doctor has looked at, the same every time."""

from __future__ import annotations

from dataclasses import replace

from urasync_l0.diagnosis import Diagnosis, Node
from urasync_l0.driver_report import DeviceReport, DriverReport, Feature, PlatformReport, Trial

GIB = 1 << 30

ARC = DeviceReport(
    "Intel(R) Arc(TM) B580 Graphics",
    "GPU",
    12 * GIB,
    11 * GIB,
    (
        Feature("in-order lists", True),
        Feature("counter-based events", True),
        Feature("virtual memory", True, "off by default: the driver does not know it when asked"),
        Feature("parts", False),
    ),
    (Trial("legacy", None), Trial("v2", None)),
)
INTEL = DriverReport(
    "system",
    loader="/usr/lib/x86_64-linux-gnu/libze_loader.so.1.32.0",
    loader_version="1.32.0",
    libraries=("/usr/lib/x86_64-linux-gnu/libze_intel_gpu.so.1.15.0",),
    platforms=(PlatformReport("1.15", "1.15.39000", (ARC,)),),
)
SOFTWARE = DriverReport(
    "software",
    loader="/usr/lib/x86_64-linux-gnu/libze_loader.so.1.32.0",
    loader_version="1.32.0",
    libraries=("/opt/venv/urasync_l0/software_driver/libze_urasync_software.so",),
    platforms=(
        PlatformReport(
            "1.15",
            "1.15.1",
            (
                DeviceReport(
                    "urasync software device 0",
                    "GPU",
                    16 * GIB,
                    None,
                    (Feature("in-order lists", True), Feature("kernels", False)),
                    (Trial("legacy", None), Trial("v2", None)),
                ),
            ),
        ),
    ),
)
NO_DRIVER = DriverReport(
    "system",
    "DriverNotFoundError",
    "The Level Zero loader found no GPU driver that works.",
    "/usr/lib/x86_64-linux-gnu/libze_loader.so.1.32.0",
)
NO_LOADER = DriverReport(
    "system", "LoaderNotFoundError", "The Level Zero loader could not be opened: no such file."
)

GPU = Diagnosis(
    version="0.1.0",
    python="3.13.1 at /opt/venv/bin/python",
    system="Debian GNU/Linux 12 (bookworm), x86_64",
    pool_core="compiled",
    user="ada",
    groups=("ada", "render"),
    nodes=(Node("/dev/dri/renderD128", "render", True),),
    drivers=(INTEL, SOFTWARE),
    ur_libraries={
        "legacy": "/opt/venv/urasync_l0/ur_library/libur_adapter_urasync_legacy.so",
        "v2": "/opt/venv/urasync_l0/ur_library/libur_adapter_urasync_v2.so",
    },
    environment={"URASYNC_L0_DRIVER": "system", "ZE_AFFINITY_MASK": "0"},
)
NOT_IN_THE_GROUP = replace(
    GPU,
    groups=("ada",),
    nodes=(Node("/dev/dri/renderD128", "render", False),),
    drivers=(NO_DRIVER, SOFTWARE),
    environment={},
)
NOTHING = replace(
    GPU,
    pool_core="python",
    nodes=(),
    drivers=(NO_LOADER, replace(NO_LOADER, name="software")),
    ur_libraries={"legacy": None, "v2": None},
    environment={},
)
MACHINES = {"gpu": GPU, "not-in-the-group": NOT_IN_THE_GROUP, "nothing": NOTHING}
