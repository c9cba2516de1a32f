# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The OpenCL runtime that the extra ``kernels`` of this package installs.

The software driver compiles programs in SPIR-V with an OpenCL runtime for the CPU. It looks for one
when the first program is built: in the files that these variables name, and by the system's ICD
loader.
"""

import os
import sys
from pathlib import Path

VARIABLE = "URASYNC_L0_OPENCL"
ICD_VARIABLES = ("OCL_ICD_FILENAMES", "OCL_ICD_VENDORS")

_FILE = "libintelocl.so"


def offer_opencl_runtime() -> None:
    """Name the environment's own runtime in URASYNC_L0_OPENCL, if no variable names one.

    Nothing is loaded. Processes that this one starts inherit the variable.
    """
    if any(os.environ.get(variable) for variable in (VARIABLE, *ICD_VARIABLES)):
        return
    runtime = Path(sys.prefix, "lib", _FILE)
    if runtime.is_file():
        os.environ[VARIABLE] = str(runtime)
