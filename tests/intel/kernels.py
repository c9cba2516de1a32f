# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels on memory that is allocated and freed in queue order, through Intel's adapters and ours.

What Unified Runtime's own tests do with kernels, with the data looked at, on the software driver,
which needs an OpenCL runtime for that: packaging/intel-stack.sh lends the folder that of
``make test-kernels``, or the one that ``URASYNC_L0_OPENCL`` names.
"""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.ur_client import STACK_LIBRARIES, software_settings, ur_adapters
from tests.helpers.spirv import whole_program
from tests.intel.pytest_run import Outcome
from tests.ur_library.client_process import compile_client

SECONDS = 300
OPENCL = "URASYNC_L0_OPENCL"


def run(workers: int) -> Iterator[Outcome]:
    """One outcome, of a run for each adapter."""
    outcome = Outcome("kernels in queue order, Intel's adapters and ours, software driver")
    adapters = ur_adapters(STACK_LIBRARIES)
    if OPENCL not in os.environ:
        missing = f"there is no OpenCL runtime ({OPENCL}, or make test-kernels)"
        outcome.skipped[missing] = len(adapters)
        yield outcome
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        client = compile_client(folder)
        program = folder / "whole.spv"
        program.write_bytes(whole_program())
        settings = software_settings() | {
            "PROGRAM": str(program),
            OPENCL: os.environ[OPENCL],
        }
        for adapter in adapters:
            done = subprocess.run(
                [str(client), "kernels", "loader", str(adapter.loader)],
                env=adapter.environment(settings),
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
            if done.returncode or not done.stdout.endswith("passed\n"):
                outcome.failed += 1
                outcome.text += f"\n{adapter.name}: {done.returncode}\n{done.stdout}{done.stderr}"
            elif "no compiler" in done.stdout:
                outcome.skipped[f"{os.environ[OPENCL]} is no OpenCL runtime"] += 1
            else:
                outcome.passed += 1
    yield outcome
