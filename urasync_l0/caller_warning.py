# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Warnings that point to the program's line, however deep in this package they come up."""

from __future__ import annotations

import os
import sys
import warnings

_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep


def warn_caller(message: str, category: type[Warning] = RuntimeWarning) -> None:
    """Warn, at the innermost line that is not of this package."""
    level = 1  # is this function, for `warnings.warn`
    frame = sys._getframe(0)
    while frame.f_back is not None and _is_passed(frame.f_code.co_filename):
        frame = frame.f_back
        level += not _is_of_imports(frame.f_code.co_filename)
    warnings.warn(message, category, stacklevel=level)


def _is_passed(file: str) -> bool:
    return file.startswith(_OURS) or _is_of_imports(file)


def _is_of_imports(file: str) -> bool:
    """Whether a frame is of the import system, which `warnings.warn` does not count."""
    return "importlib" in file and "_bootstrap" in file
