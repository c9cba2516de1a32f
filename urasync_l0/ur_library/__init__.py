# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The adapters as UR adapter libraries, which ``libur_loader`` and any UR client can load."""

from urasync_l0.ur_library.library import library_path

__all__ = ["library_path"]
