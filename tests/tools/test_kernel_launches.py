# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The benchmark of launches: that it measures, and says why it cannot."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import kernel_launches

ROOT = Path(__file__).parents[2]

FEW = """
import sys
from benchmarks import kernel_launches
kernel_launches.LAUNCHES, kernel_launches.ROUNDS = 3, 2
sys.exit(kernel_launches.main(["--json"]))
"""


def run(**settings: str) -> subprocess.CompletedProcess[str]:
    inherited = {k: v for k, v in os.environ.items() if k != "URASYNC_L0_OPENCL"}
    return subprocess.run(
        [sys.executable, "-c", FEW],
        cwd=ROOT,
        env=inherited | settings,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_without_a_runtime_it_says_so() -> None:
    done = run(URASYNC_L0_OPENCL="/nowhere", OCL_ICD_FILENAMES="", OCL_ICD_VENDORS="/nowhere")
    assert (done.returncode, done.stdout) == (3, "")
    assert "pip install 'urasync-l0[kernels]'" in done.stderr


@pytest.mark.parametrize("variable", ["URASYNC_L0_OPENCL", "OCL_ICD_FILENAMES"])
def test_it_measures_with_a_runtime_that_either_variable_names(variable: str) -> None:
    file = kernel_launches.runtime()
    if file is None:
        pytest.skip("no variable names an OpenCL runtime (make test-kernels)")
    done = run(**{variable: file})
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert list(figures) == [
        "OpenCL alone",
        "queue.fill of 4 bytes, and finish",
        "queue.launch, and finish",
    ]
    assert all(figure > 0 for figure in figures.values())
