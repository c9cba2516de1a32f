# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SYCL programs on the libraries: dpctl and dpnp, in an environment without this package."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.helpers.spirv import whole_program
from tests.helpers.sycl import ARRAYS, KERNELS, USM
from tests.ur_library.client_process import ADAPTERS, FOREIGN
from urasync_l0.ur_library import library_path

DEADLOCK = (
    "dpnp calls SYCL with Python's lock held. A thread of SYCL that calls this library, which "
    "needs that lock, may hold SYCL's own lock at that moment, and then both wait for ever."
)


@pytest.fixture
def python() -> Path:
    path = os.environ.get("URASYNC_L0_SYCL_PYTHON")
    if path is None:
        pytest.skip("URASYNC_L0_SYCL_PYTHON does not name a Python that has dpctl (make test-sycl)")
    return Path(path)


def run_in(python: Path, flavour: str, program: str, *arguments: str) -> str:
    """What a program prints that runs over an adapter's library, on the software driver."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)}
    settings = {
        "URASYNC_L0_DRIVER": "software",
        "UR_ADAPTERS_FORCE_LOAD": str(library_path(flavour)),
        "LD_LIBRARY_PATH": str(python.parents[1] / "lib"),
    }
    run = subprocess.run(
        [str(python), "-c", program, *arguments],
        env=inherited | settings,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


@pytest.mark.parametrize("flavour", ADAPTERS)
def test_usm_through_sycl(python: Path, flavour: str) -> None:
    assert run_in(python, flavour, USM) == "Level Zero through urasync-l0\npassed\n"


@pytest.mark.parametrize("flavour", ADAPTERS)
def test_kernels_from_spirv_through_sycl(python: Path, flavour: str) -> None:
    assert run_in(python, flavour, KERNELS, whole_program().hex()) == "passed\n"


@pytest.mark.parametrize("flavour", ADAPTERS)
def test_arrays_of_dpnp(python: Path, flavour: str) -> None:
    try:
        printed = run_in(python, flavour, ARRAYS)
    except subprocess.TimeoutExpired:
        pytest.xfail(DEADLOCK)
    assert printed == "passed\n"
