# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The conformance suite on Intel's own driver, started without hardware as several products.

The driver checks every call as it does on a GPU, and executes nothing: host waits return success at
once, no event is ever seen complete, and data stays where it is. Mapping memory fails, since the
driver cannot make it resident, and what the driver does after such a failure damages its own heap;
so segments do not expand.
"""

from collections.abc import Iterator

from tests.intel.no_hardware import PRODUCTS, driver_settings
from tests.intel.pytest_run import Outcome, run_pytest

DEVICES = {PRODUCTS[0]: (1, 2)}
"""How many devices a product is started with: 2 by default, since no test needs just one."""


def run(workers: int) -> Iterator[Outcome]:
    """The outcome with each product and number of devices."""
    for product in PRODUCTS:
        for devices in DEVICES.get(product, (2,)):
            yield run_pytest(
                f"conformance, Intel's driver as {product}, {devices} device(s)",
                ["--driver", "system", "--executes-nothing", "tests/conformance"],
                {"URASYNC_L0_EXPANDING_SEGMENTS": "off"} | driver_settings(product, devices),
                workers=workers,
            )
