# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Refuses sub-interpreters, when the package is imported.

Two interpreters would share the loader, the driver and the table of what lives there, and know
nothing of each other's locks and memory.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def _interpreters() -> Any:
    """Python's own module for it, which has had several names and may be absent."""
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            return import_module(name)
        except ImportError:
            continue
    return None


def _number(interpreter: Any) -> int:
    """From Python 3.13 on a pair that begins with the number."""
    return int(interpreter[0] if isinstance(interpreter, tuple) else interpreter)


def _require_main_interpreter() -> None:
    interpreters = _interpreters()
    if interpreters is None:
        return
    current, main = (
        _number(each) for each in (interpreters.get_current(), interpreters.get_main())
    )
    if current != main:
        raise ImportError(
            "urasync_l0 works in the main interpreter of a process only, and this is interpreter "
            f"{current}; import it there, or use a process of its own."
        )


_require_main_interpreter()
