# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SYCL programs on the libraries: dpctl and dpnp, in an environment without this package."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.helpers.spirv import whole_program
from tests.ur_library.client_process import ADAPTERS, FOREIGN
from urasync_l0.ur_library import library_path

PROGRAM = """
import dpctl
import dpctl.memory

device, = dpctl.get_devices()
assert device.name == "urasync software device 0", device.name
assert device.backend == dpctl.backend_type.level_zero
assert device.sycl_platform.name == "Level Zero through urasync-l0"
queue = dpctl.SyclQueue(device)
memory = dpctl.memory
content = bytearray(range(256)) * 4
on_device = memory.MemoryUSMDevice(1024, queue=queue)
others = [memory.MemoryUSMShared(1024, queue=queue), memory.MemoryUSMHost(1024, queue=queue)]
kinds = [each.get_usm_type() for each in (on_device, *others)]
assert kinds == ["device", "shared", "host"], kinds
on_device.copy_from_host(content)
for each in others:
    each.copy_from_device(on_device)
    assert bytes(each.copy_to_host()) == content
queue.wait()
print("passed")
"""


KERNELS = """
import ctypes
import sys

import dpctl
import dpctl.memory
import dpctl.program

device, = dpctl.get_devices()
queue = dpctl.SyclQueue(device)
program = dpctl.program.create_program_from_spirv(queue, bytes.fromhex(sys.argv[1]), "")
assert program.has_sycl_kernel("fill")
fill, add = program.get_sycl_kernel("fill"), program.get_sycl_kernel("add")
memory = dpctl.memory
kinds = [memory.MemoryUSMDevice, memory.MemoryUSMShared, memory.MemoryUSMHost]
for kind in kinds:
    source, target = kind(1024, queue=queue), kind(1024, queue=queue)
    filled = queue.submit(fill, [source, ctypes.c_uint(40)], [256])
    queue.submit(add, [target, source, ctypes.c_uint(2)], [256], None, [filled]).wait()
    assert bytes(target.copy_to_host()) == (42).to_bytes(4, "little") * 256, kind
queue.wait()
print("passed")
"""

ARRAYS = """
import dpnp
import numpy

one = dpnp.arange(1000, dtype=dpnp.float32)
two = dpnp.full(1000, 2, dtype=dpnp.float32)
assert one.usm_type == "device"
assert one.sycl_device.name == "urasync software device 0"
expected = numpy.arange(1000, dtype=numpy.float32)
total = one * two + one
assert (dpnp.asnumpy(total) == expected * 3).all()
assert float(total.sum()) == float((expected * 3).sum())
print("passed", flush=True)
"""

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
    assert run_in(python, flavour, PROGRAM) == "passed\n"


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
