# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the tests that take Intel's stack: ``python -m tests.intel [PART...]``.

Meant for the folder that ``packaging/intel-stack.sh`` makes. Exit status: 0 when all went well.
"""

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version

from tests.intel import (
    c_client,
    checked_conformance,
    differential,
    intel_driver,
    kernels,
    replay,
    sycl,
    two_drivers,
)
from tests.intel.pytest_run import Outcome

PARTS: dict[str, Callable[[int], Iterator[Outcome]]] = {
    "checked": checked_conformance.run,
    "two-drivers": two_drivers.run,
    "driver": intel_driver.run,
    "differential": differential.run,
    "c-client": c_client.run,
    "kernels": kernels.run,
    "sycl": sycl.run,
    "replay": replay.run,
}

ON_REQUEST: dict[str, Callable[[int], Iterator[Outcome]]] = {"bench": replay.bench}
"""Not run unless named."""

DEBIAN_PACKAGES = ("libze1", "libze-intel-gpu1", "libigc2")


def versions() -> str:
    """What is compared with what."""
    query = ["dpkg-query", "--show", "--showformat", "${Package} ${Version}, ", *DEBIAN_PACKAGES]
    packages = subprocess.run(query, capture_output=True, text=True, check=True).stdout
    ours = f"urasync-l0 {version('urasync-l0')}"
    return f"{packages}Python {platform.python_version()}, {ours}"


def main() -> int:
    """Run the parts; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.intel")
    known = PARTS | ON_REQUEST
    help_text = f"of {', '.join(PARTS)}, which are run if none is named, {', '.join(ON_REQUEST)}"
    parser.add_argument("parts", nargs="*", metavar="PART", help=help_text)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - set(known):
        parser.error(f"there is no part {', '.join(sorted(unknown))}, only {', '.join(known)}")
    print(versions(), flush=True)
    outcomes: list[Outcome] = []
    for part in arguments.parts or PARTS:
        start = time.monotonic()
        for outcome in known[part](arguments.workers):
            print(f"{outcome.report()}\n    {time.monotonic() - start:.0f} s", flush=True)
            outcomes.append(outcome)
            start = time.monotonic()
    passed = sum(outcome.passed for outcome in outcomes)
    failed = sum(outcome.failed for outcome in outcomes)
    not_run = sum(outcome.skipped.total() for outcome in outcomes)
    unfinished = sum(outcome.unfinished.total() for outcome in outcomes)
    for outcome in outcomes:
        for line in outcome.failures():
            print(line)
    print(
        f"Intel's stack: {passed} passed, {failed} failed, {unfinished} as far as the driver goes, "
        f"{not_run} not run"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
