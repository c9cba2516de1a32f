# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the UR adapter libraries are."""

from __future__ import annotations

from pathlib import Path

from urasync_l0.adapter import find_adapter
from urasync_l0.result import UninitializedError


def library_path(adapter: str) -> Path:
    """The library of an adapter, for ``UR_ADAPTERS_FORCE_LOAD`` or ``dlopen``.

    Raises
    ------
    InvalidValueError
        If there is no adapter of that name.
    UninitializedError
        If the library is not there.
    """
    name = find_adapter(adapter).name
    path = Path(__file__).resolve().with_name(f"libur_adapter_urasync_{name}.so")
    if not path.is_file():
        raise UninitializedError(
            f"The UR library of the adapter {name!r} is not at {path}; install the package again."
        )
    return path
