# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SYCL programs through Intel's own adapters, on the software driver: dpctl and dpnp from PyPI.

`tests/ur_library/test_sycl.py` has the same for ours. packaging/intel-stack.sh lends the folder an
OpenCL runtime, and, once it has been asked for this part by its name, dpctl and dpnp for the
folder's Python (``URASYNC_L0_SYCL``).
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.ur_client import INTEL, UrAdapter, software_settings, ur_adapters
from tests.helpers.spirv import whole_program
from tests.helpers.sycl import ARRAYS, IMPOSSIBLE, KERNELS, OPERATIONS, USM, judge
from tests.intel.pytest_run import Outcome

SECONDS = 600
OPENCL = "URASYNC_L0_OPENCL"
SYCL = "URASYNC_L0_SYCL"

PROGRAMS = {"USM": (USM,), "kernels": (KERNELS, whole_program().hex()), "arrays": (ARRAYS,)}
"""What must pass as it is, by name: a program and its arguments."""


def _missing() -> str | None:
    if SYCL not in os.environ:
        return f"there are no dpctl and dpnp ({SYCL}; INTEL_FLAGS=sycl fetches them)"
    if OPENCL not in os.environ:
        return f"there is no OpenCL runtime ({OPENCL}, or make test-kernels)"
    return None


def _run(
    adapter: UrAdapter, packages: Path, program: str, *arguments: str
) -> subprocess.CompletedProcess[str]:
    (site,) = packages.glob("lib/python*/site-packages")
    settings = {"PYTHONPATH": str(site), OPENCL: os.environ[OPENCL]}
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=adapter.environment(software_settings() | settings),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def run(workers: int) -> Iterator[Outcome]:
    """An outcome for each of Intel's adapters."""
    if reason := _missing():
        outcome = Outcome("dpctl and dpnp through Intel's adapters, software driver")
        outcome.skipped[reason] = len(INTEL)
        yield outcome
        return
    packages = Path(os.environ[SYCL])
    for adapter in ur_adapters(packages / "lib"):
        if adapter.name in INTEL:
            yield _through(adapter, packages)


def _through(adapter: UrAdapter, packages: Path) -> Outcome:
    outcome = Outcome(f"dpctl and dpnp through {adapter.name}, software driver")
    for name, (program, *arguments) in PROGRAMS.items():
        done = _run(adapter, packages, program, *arguments)
        if done.returncode == 0 and done.stdout.endswith("passed\n"):
            outcome.passed += 1
        else:
            outcome.failed += 1
            outcome.text += f"\n{name}: {done.returncode}\n{done.stdout}{done.stderr}"
    done = _run(adapter, packages, OPERATIONS)
    judged = judge(done.stdout)
    outcome.passed += len(judged.right)
    for name in judged.impossible:
        outcome.unfinished[f"{name}: {IMPOSSIBLE[name]}"] += 1
    if judged.wrong or done.returncode:
        outcome.failed += max(len(judged.wrong), 1)
        wrong = "\n".join(judged.wrong)
        outcome.text += f"\n{wrong}\n{done.returncode}\n{done.stdout}{done.stderr}"
    return outcome
