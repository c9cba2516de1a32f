# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The software driver: a Level Zero driver in C that the real loader loads.

`library_path` says where it is; `controls` steers it in tests. Programs in SPIR-V need an OpenCL
runtime, to which `offer_opencl_runtime` leads it.
"""

from urasync_l0.software_driver.library import library_path
from urasync_l0.software_driver.opencl_runtime import offer_opencl_runtime

__all__ = ["library_path", "offer_opencl_runtime"]
