# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The only module that imports the compiled bindings."""

from typing import TYPE_CHECKING

try:
    from urasync_l0.ze._level_zero import ffi, lib
except ImportError as error:
    raise ImportError(
        "The bindings urasync_l0.ze._level_zero are not built for this Python. Install the package "
        "(pip install .), or build it in place (pip install -e .); on Debian this needs gcc, "
        "python3-dev and libze-dev."
    ) from error

if TYPE_CHECKING:
    from urasync_l0.ze._level_zero import CData
else:
    CData = ffi.CData

__all__ = ["CData", "ffi", "lib"]
