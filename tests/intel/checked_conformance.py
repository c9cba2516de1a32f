# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The conformance suite on the software driver, under the checkers of the loader's layer.

No checker takes everything (`tests/intel/checkers.py`), so there are three runs. The events checker
knows no counter-based events, which the v2 adapter uses.
"""

from collections.abc import Iterator

from tests.intel.pytest_run import Outcome, run_pytest

PARAMETERS = {
    "ZE_ENABLE_VALIDATION_LAYER": "1",
    "ZE_ENABLE_PARAMETER_VALIDATION": "1",
    "ZEL_ENABLE_BASIC_LEAK_CHECKER": "1",
}
LIFETIME = {"ZE_ENABLE_HANDLE_LIFETIME": "1", "URASYNC_L0_EXPANDING_SEGMENTS": "off"}
EVENTS = {"ZEL_ENABLE_EVENTS_CHECKER": "1"}

RUNS: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("parameters, leaks, handles, events", "legacy", LIFETIME | EVENTS),
    ("parameters, leaks, handles", "v2", LIFETIME),
    ("parameters, leaks", "all", {}),
)


def run(workers: int) -> Iterator[Outcome]:
    """Each run's outcome."""
    for checkers, adapter, settings in RUNS:
        yield run_pytest(
            f"conformance, software driver, adapter {adapter}, checked: {checkers}",
            ["-s", "-p", "tests.intel.checkers", "--adapter", adapter, "tests/conformance"],
            PARAMETERS | settings,
            workers=workers,
            balanced=True,
        )
