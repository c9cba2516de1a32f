# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the built software driver is."""

from pathlib import Path

from urasync_l0.result import DriverNotFoundError

_LIBRARY = Path(__file__).resolve().parent / "libze_urasync_software.so"


def library_path() -> str:
    """Absolute path of the software driver's shared object.

    Raises
    ------
    DriverNotFoundError
        If the driver was not built.
    """
    if not _LIBRARY.is_file():
        raise DriverNotFoundError(
            f"The software driver was not built: there is no {_LIBRARY}. Install the package from "
            "its source tree (pip install .) with a C compiler and the Level Zero headers present "
            "(on Debian: apt-get install gcc libze-dev)."
        )
    return str(_LIBRARY)
