# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The software driver: a Level Zero driver in C that the real loader loads.

`library_path` says where it is; `controls` steers it in tests.
"""

from urasync_l0.software_driver.library import library_path

__all__ = ["library_path"]
