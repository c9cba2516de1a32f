# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Intel's driver without a device: its settings, and what stands in for what it then refuses."""

import subprocess
from pathlib import Path

import ze_build

PRODUCTS = ("pvc", "bmg", "dg2")

RESIDENCY = Path(__file__).with_name("client") / "residency" / "residency.c"


def driver_settings(product: str, devices: int = 1) -> dict[str, str]:
    """The settings with which the driver starts as a product, and executes nothing."""
    return {
        "NEOReadDebugKeys": "1",
        "UseAubStream": "0",
        "SetCommandStreamReceiver": "5",
        "ProductFamilyOverride": product,
        "HardwareInfoOverride": "1x4x8",
        "UseBindlessMode": "0",
        "UseExternalAllocatorForSshAndDsh": "0",
        "CreateMultipleRootDevices": str(devices),
    }


def compile_residency(target: Path) -> None:
    """Compile the library to be preloaded that lets changes of residency succeed."""
    flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    command = [*ze_build.compiler(), *flags, str(RESIDENCY), "-ldl", "-o", str(target)]
    subprocess.run(command, check=True)
