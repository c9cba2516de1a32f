# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference counts of the UR-named entry points.

They stand beside the objects: who uses the Python objects alone pays nothing for them. An object
that no entry has retained or released has one reference. The table holds no object alive, so what a
Python program drops is collected as ever.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from weakref import WeakKeyDictionary

from urasync_l0.result import InvalidValueError

_counts: WeakKeyDictionary[object, int] = WeakKeyDictionary()
_lock = threading.Lock()


def count(handle: object) -> int:
    """How many references there are; 0 after the last release."""
    return _counts.get(handle, 1)


def hand_out(handle: object) -> None:
    """Add a reference to a handle that lives as long as the process; the first makes it 1."""
    with _lock:
        _counts[handle] = _counts.get(handle, 0) + 1


def retain(handle: object) -> None:
    """Add a reference.

    Raises
    ------
    InvalidValueError
        If the last reference is gone.
    """
    with _lock:
        number = count(handle)
        if not number:
            raise InvalidValueError(f"{handle!r} has no reference left; it cannot be retained.")
        _counts[handle] = number + 1


def release(handle: object, end: Callable[[], object] | None = None) -> None:
    """Give a reference back. With the last one ``end`` is called, without a lock.

    If ``end`` fails, the reference is there as before.

    Raises
    ------
    InvalidValueError
        If the last reference is gone already.
    """
    with _lock:
        left = count(handle) - 1
        if left < 0:
            raise InvalidValueError(f"{handle!r} was released more often than retained.")
        _counts[handle] = left
    if end is None or left:
        return
    try:
        end()
    except BaseException:
        with _lock:
            _counts[handle] = 1
        raise
