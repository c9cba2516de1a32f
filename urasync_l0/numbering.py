# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers by which snapshots name pools and contexts: given on first sight, and never again."""

from __future__ import annotations

import itertools
from weakref import WeakKeyDictionary

_numbers: WeakKeyDictionary[object, int] = WeakKeyDictionary()
_next = itertools.count(1)


def number_of(thing: object) -> int:
    """The number of a pool or context. Any thread may call; takes no lock."""
    number = _numbers.get(thing)
    if number is None:
        # Of two threads the first sets it; the other's number stays unused.
        number = _numbers.setdefault(thing, next(_next))
    return number
