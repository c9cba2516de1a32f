# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A SYCL program on the libraries: dpctl, in an environment without this package."""

import os
import subprocess
from pathlib import Path

import pytest

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


@pytest.fixture
def python() -> Path:
    path = os.environ.get("URASYNC_L0_SYCL_PYTHON")
    if path is None:
        pytest.skip("URASYNC_L0_SYCL_PYTHON does not name a Python that has dpctl (make test-sycl)")
    return Path(path)


@pytest.mark.parametrize("flavour", ADAPTERS)
def test_usm_through_sycl(python: Path, flavour: str) -> None:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)}
    settings = {
        "URASYNC_L0_DRIVER": "software",
        "UR_ADAPTERS_FORCE_LOAD": str(library_path(flavour)),
        "LD_LIBRARY_PATH": str(python.parents[1] / "lib"),
    }
    run = subprocess.run(
        [str(python), "-c", PROGRAM],
        env=inherited | settings,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout == "passed\n"
