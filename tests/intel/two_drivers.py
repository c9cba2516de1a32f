# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The conformance suite with two drivers at once, under the loader's tracing and validation layers.

With two drivers the loader wraps every handle, and with layers every call takes another way. The
software driver goes by another name here, as a system's driver that executes; Intel's, started
without hardware, is the other.
"""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.intel.no_hardware import driver_settings
from tests.intel.pytest_run import Outcome, run_pytest
from urasync_l0.software_driver.library import library_path

INTEL = "libze_intel_gpu.so.1"

LAYERS = {
    "ZE_ENABLE_TRACING_LAYER": "1",
    "ZE_ENABLE_VALIDATION_LAYER": "1",
    "ZE_ENABLE_PARAMETER_VALIDATION": "1",
}


def run(workers: int) -> Iterator[Outcome]:
    """The suite's outcome."""
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder, "libze_another_driver.so")
        shutil.copy(library_path(), other)
        drivers = {"ZE_ENABLE_ALT_DRIVERS": f"{other},{INTEL}"}
        yield run_pytest(
            "conformance, two drivers, tracing and validation layers",
            ["--driver", "system", "tests/conformance"],
            drivers | LAYERS | driver_settings("pvc"),
            workers=workers,
        )
