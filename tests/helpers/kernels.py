# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that a driver may or may not build, and kernels that say what they touch."""

from typing import TYPE_CHECKING

import pytest

from tests.helpers.spirv import whole_program
from urasync_l0 import Context, Kernel, Program, UrError, UrResult
from urasync_l0.ze.handles import handle_value

if TYPE_CHECKING:
    from urasync_l0.software_driver.controls import Controls


def build(context: Context) -> Program:
    """The kernels of `tests.helpers.spirv`; skips the test where there is no compiler."""
    try:
        return context.create_program(whole_program())
    except UrError as error:
        if error.code is not UrResult.COMPILER_NOT_AVAILABLE:
            raise
        pytest.skip(error.message)


def kernel_touching(
    program: Program, name: str, sizes: tuple[int, ...], controls: "Controls | None"
) -> Kernel:
    """A kernel that uses so many bytes from each of its pointers on (0: no pointer), and no more.

    Without this the checker takes a pointer into a pool's memory for all of the pool's memory.
    """
    kernel = program.kernel(name)
    for device in program.context.devices:
        if controls is not None:
            controls.declare_accesses(handle_value(kernel.native(device).handle), sizes)
    return kernel
